"""A wire between client and server that can be cut at a chosen moment."""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit


class Cut(enum.Enum):
    """When the wire breaks."""

    BEFORE_REQUEST = "the next request of an append does not reach the server"
    BEFORE_ANSWER = "it does, and its answer does not come back"


@dataclass
class Wire:
    """Passes bytes on until it is told to break."""

    host: str
    port: int
    cut: Cut | None = None
    marker: bytes = b"cut-me"
    """What is in the request that is meant; an append binds the names of its streams."""
    cuts: int = 0
    address: tuple[str, int] = ("", 0)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection through the wire."""
        server_reader, server_writer = await asyncio.open_connection(self.host, self.port)
        self._writers |= {writer, server_writer}
        asked = asyncio.Event()

        async def requests() -> None:
            while data := await reader.read(65536):
                if self.cut is not None and self.marker in data:
                    if self.cut is Cut.BEFORE_REQUEST:
                        self._break()
                        return
                    asked.set()
                server_writer.write(data)
                await server_writer.drain()

        async def answers() -> None:
            while data := await server_reader.read(65536):
                if self.cut is Cut.BEFORE_ANSWER and asked.is_set():
                    self._break()
                    return
                writer.write(data)
                await writer.drain()

        with contextlib.suppress(ConnectionError):
            await asyncio.wait(
                [asyncio.ensure_future(requests()), asyncio.ensure_future(answers())],
                return_when=asyncio.FIRST_COMPLETED,
            )
        for one in (writer, server_writer):
            one.transport.abort()
            self._writers.discard(one)

    def _break(self) -> None:
        self.cut = None
        self.cuts += 1


@contextlib.asynccontextmanager
async def wire_to(dsn: str) -> AsyncIterator[tuple[str, Wire]]:
    """An address that leads to the database through a wire, and the wire."""
    parts = urlsplit(dsn)
    wire = Wire(parts.hostname or "127.0.0.1", parts.port or 5432)
    server = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    credentials = parts.netloc.rpartition("@")[0]
    try:
        yield urlunsplit(parts._replace(netloc=f"{credentials}@127.0.0.1:{port}")), wire
    finally:
        server.close()
        for writer in list(wire._writers):
            writer.transport.abort()
