"""The other side of `bench_viewers`: many players' programs in a process of its own, as lean as they can be.

    python -m benchmarks.viewers_load PORT VIEWERS MESSAGES OWN SECONDS

Each says hello, joins the table, and then counts what it is told. It writes `ready`, and at the end one line
of JSON: latencies from event to message in milliseconds, what was lost or came twice.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from typing import Final

_NUMBER, _SENT = b'"number":', b'"sent_ns":'
_AT_ONCE: Final = 100
_SHORT, _MEDIUM = 126, 127


class Viewer(asyncio.Protocol):
    """One connection."""

    def __init__(self, number: int, took_ms: list[float]) -> None:
        self._number = number
        self._took_ms = took_ms
        self._buffer = bytearray()
        self._upgraded = False
        self._transport: asyncio.Transport | None = None
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.table: list[int] = []
        self.own: list[int] = []
        self.gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Shake hands."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            "GET /play/ws HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Protocol: upcard.play.1\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Read frames."""
        self._buffer += data
        if not self._upgraded:
            head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self._upgraded = True
            self._buffer = bytearray(rest)
            hello = {"type": "hello", "session_token": f"v{self._number}", "table": "t1"}
            self._say(json.dumps(hello).encode())
        self._frames()

    def connection_lost(self, exc: Exception | None) -> None:
        """It must not happen."""
        del exc
        self.gone = True
        if not self.ready.done():
            self.ready.set_result(None)

    def _frames(self) -> None:
        now_ns = time.monotonic_ns()
        buffer, at = self._buffer, 0
        while len(buffer) - at >= 2:
            size, start = buffer[at + 1], at + 2
            if size == _SHORT:
                size, start = int.from_bytes(buffer[at + 2 : at + 4], "big"), at + 4
            elif size == _MEDIUM:
                size, start = int.from_bytes(buffer[at + 2 : at + 10], "big"), at + 10
            if len(buffer) < start + size:
                break
            self._message(bytes(buffer[start : start + size]), now_ns)
            at = start + size
        if at:
            del buffer[:at]

    def _message(self, text: bytes, now_ns: int) -> None:
        if not self.ready.done() and b'"type":"chat"' in text:
            self.ready.set_result(None)
        place = text.find(_SENT)
        if place < 0:
            return
        sent_ns = int(text[place + len(_SENT) :].split(b"}")[0].split(b",")[0])
        place = text.find(_NUMBER)
        number = int(text[place + len(_NUMBER) :].split(b"}")[0].split(b",")[0])
        self._took_ms.append((now_ns - sent_ns) / 1e6)
        (self.own if b'"type":"own"' in text else self.table).append(number)

    def _say(self, text: bytes) -> None:
        assert self._transport is not None
        mask = b"\0\0\0\0"  # masked by nothing: the same bytes
        size = len(text)
        head = bytes((0x81, 0x80 | size)) if size < _SHORT else bytes((0x81, 0xFE)) + size.to_bytes(2, "big")
        self._transport.write(head + mask + text)


async def watch(port: int, number: int, messages: int, own: int, seconds: float) -> dict[str, object]:
    """So many viewers, until all was told, or long enough."""
    loop = asyncio.get_running_loop()
    took_ms: list[float] = []
    viewers: list[Viewer] = []
    for first in range(0, number, _AT_ONCE):
        some = range(first, min(first + _AT_ONCE, number))
        made = [
            loop.create_connection(lambda one=one: Viewer(one, took_ms), "127.0.0.1", port)  # type: ignore[misc]  # a default binds it
            for one in some
        ]
        opened = [viewer for _, viewer in await asyncio.gather(*made)]
        async with asyncio.timeout(120):
            await asyncio.gather(*(one.ready for one in opened))
        viewers += opened
    print("ready", flush=True)
    until_s = loop.time() + seconds
    while loop.time() < until_s and any(  # noqa: ASYNC110 - it costs next to nothing
        len(one.table) < messages or len(one.own) < own for one in viewers if not one.gone
    ):
        await asyncio.sleep(0.25)
    took_ms.sort()
    wanted, wanted_own = list(range(messages)), list(range(own))
    return {
        "viewers": number,
        "told": len(took_ms),
        "p50_ms": round(took_ms[len(took_ms) // 2], 1),
        "p99_ms": round(took_ms[int(len(took_ms) * 0.99)], 1),
        "max_ms": round(took_ms[-1], 1),
        "gone": sum(one.gone for one in viewers),
        "wrong": sum(one.table != wanted or one.own != wanted_own for one in viewers),
        "cpu_s": round(time.process_time(), 1),
    }


if __name__ == "__main__":
    asked = sys.argv[1:]
    found = asyncio.run(watch(int(asked[0]), int(asked[1]), int(asked[2]), int(asked[3]), float(asked[4])))
    print(json.dumps(found), flush=True)
