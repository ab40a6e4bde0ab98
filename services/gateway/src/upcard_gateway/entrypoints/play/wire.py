"""The wire of one connection: frames that are ready go straight to the transport, within bounds.

uvicorn's own protocol serves the handshake, what the client sends, pings and closing; for what we send it has
a queue, a task's turn and an encoding for each message and connection. A table tells the same bytes to
thousands: `PlayProtocol` gives the app a `Wire` (the scope's extension `upcard.wire`), which writes them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

__all__ = ["EXTENSION", "PlayProtocol", "Wire"]

EXTENSION: Final = "upcard.wire"
CUT_S: Final = 5.0
"""Within so many seconds the last message is taken, or it is lost."""
_log: Final = logging.getLogger("upcard.gateway.websocket")
_log.setLevel(logging.WARNING)  # uvicorn would write down each connection with its whole address


class Wire:
    """What is sent over one connection. Nothing here waits."""

    __slots__ = ("_most", "_protocol", "over", "stopping", "too_slow")

    def __init__(self, protocol: PlayProtocol) -> None:
        self._protocol = protocol
        self._most = 0
        self.over = False
        """Whether the last message was sent, or the connection is gone."""
        self.too_slow: Callable[[], None] | None = None
        """Called when more waits than may: it has to end the wire."""
        self.stopping: Callable[[], None] | None = None
        """Called when the server stops: it has to end the wire."""

    def bound(self, most_bytes: int) -> None:
        """How many bytes may wait to be taken."""
        self._most = most_bytes
        self._protocol.transport.set_write_buffer_limits(high=most_bytes)

    @property
    def waiting(self) -> int:
        """Bytes that wait to be taken."""
        return self._protocol.transport.get_write_buffer_size()

    def write(self, frames: bytes) -> None:
        """Send whole frames. On a connection that has ended, or where too much waits, nothing is sent."""
        if self.over:
            return
        transport = self._protocol.transport
        if transport.is_closing():
            self.over = True
            return
        transport.write(frames)
        if self._most and transport.get_write_buffer_size() > self._most and self.too_slow is not None:
            self.too_slow()

    def end(self, last: bytes, code: int) -> None:
        """Send the last message and close. What is not taken within CUT_S is lost."""
        if self.over:
            return
        self.over = True
        self._protocol.end(last, code)

    def drop(self) -> None:
        """Cut the connection."""
        self.over = True
        self._protocol.transport.abort()


class PlayProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol, with a `Wire` for the app."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - whatever uvicorn gives
        super().__init__(*given, **named)
        self.logger = _log
        self.wire = Wire(self)

    def handle_connect(self, event: Request) -> None:
        """Begin to serve a connection, with its wire in the scope."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            # The task that serves it has been made, and has not run yet.
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[EXTENSION] = self.wire

    def end(self, last: bytes, code: int) -> None:
        """See `Wire.end`."""
        if self.close_sent or self.transport.is_closing() or not self.handshake_complete:
            return
        self.stop_keepalive()
        self.conn.send_close(code)
        self.transport.write(last + b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": ""})
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = asyncio.get_running_loop().call_later(CUT_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing can be sent any more."""
        self.wire.over = True
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops: the app says so, where it serves the connection."""
        if self.wire.stopping is not None and not self.wire.over:
            self.wire.stopping()
        else:
            super().shutdown()
