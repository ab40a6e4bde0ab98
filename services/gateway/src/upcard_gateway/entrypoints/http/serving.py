"""An HTTP server as a stage of the service: listening while the service runs, and no longer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from servicekit.lifecycle import Service, StartRefused, WorkEnded
from upcard_gateway.entrypoints.http.limits import MOST_HEADER_BYTES, MOST_TARGET_BYTES
from upcard_gateway.entrypoints.play.wire import PlayProtocol
from upcard_gateway.settings import GatewaySettings
from upcard_platform.play import MESSAGE_BYTES_MAX

__all__ = ["start_http"]

_GRACE_S: Final = 8
"""How long calls may take to end by themselves when the service stops, in seconds."""
_CUT_OFF_S: Final = 3.0
_KEEP_ALIVE_S: Final = 65
"""How long an idle connection is kept, in seconds: longer than balancers keep theirs."""
_BACKLOG: Final = 2_048

_log = structlog.get_logger("upcard.gateway.http")


async def start_http(service: Service[Any], settings: GatewaySettings, app: ASGIApp) -> str:
    """Serve an app as the next stage; the address it listens on, host:port.

    Start it last: it is stopped first. Should it end by itself, the service stops. Raises StartRefused when
    it cannot listen.
    """
    listening = _listen(settings.http_host, settings.http_port)
    host, port = listening.getsockname()[:2]
    await service.start(
        "http", _serving(service, settings, app, listening), stop_within_s=_GRACE_S + _CUT_OFF_S
    )
    _log.info("listening for HTTP", host=host, port=port)
    return f"{host}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
        listening.setblocking(False)  # noqa: FBT003 - the socket's own word
    except OSError as problem:
        listening.close()
        raise StartRefused(f"HTTP: cannot listen on {host}:{port}: {problem.strerror}") from problem
    return listening


@contextlib.asynccontextmanager
async def _serving(
    service: Service[Any], settings: GatewaySettings, app: ASGIApp, listening: socket.socket
) -> AsyncIterator[None]:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES + MOST_TARGET_BYTES + 8_192,
        ws=PlayProtocol,
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_ping_interval=settings.play_ping_s,
        ws_ping_timeout=settings.play_ping_s,
        ws_per_message_deflate=False,  # frames are made once and sent to many as they are
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]), name="http")

    def ended(done: asyncio.Task[None]) -> None:
        error = None if done.cancelled() else done.exception()
        if not server.should_exit or error is not None:
            service.fail(error or WorkEnded("the HTTP server has ended by itself"))

    task.add_done_callback(ended)
    try:
        yield
    finally:
        server.should_exit = True
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            server.force_exit = True
            task.cancel()
            await asyncio.wait([task], timeout=1.0)
            raise
        finally:
            listening.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to the service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Catch none."""
        yield
