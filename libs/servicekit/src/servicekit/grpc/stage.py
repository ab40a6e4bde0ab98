"""A gRPC server as a stage of a service: healthy while the service is ready, and no longer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from servicekit.grpc.errors import ErrorMap
from servicekit.grpc.exposure import Exposed
from servicekit.grpc.server import GrpcServer, ServerDidNotStart
from servicekit.grpc.settings import ServerSettings
from servicekit.grpc.verifying import ContextVerifier
from servicekit.lifecycle import Service, StartRefused, WorkEnded

ASK_EVERY_S: Final = 1.0
"""How often the service's readiness becomes the server's health, in seconds."""
_CUT_OFF_S: Final = 2.0
"""What a stop may take beyond its own time, in seconds, until what did not end is cut off."""


async def start_grpc(
    service: Service[Any],
    settings: ServerSettings,
    exposed: Sequence[Exposed],
    *,
    verifier: ContextVerifier | None = None,
    known_errors: ErrorMap | None = None,
) -> GrpcServer:
    """Start a server as the next stages, and the server.

    Start it last: it is stopped first. Its health follows the service's readiness, and is no as soon as a
    stop is wanted. Should it end by itself, the service stops. Raises StartRefused when it cannot listen.
    """
    server = GrpcServer(settings, exposed, verifier=verifier, known_errors=known_errors)
    await service.start(
        "grpc", _serving(server), stop_within_s=settings.drain_s + settings.grace_s + _CUT_OFF_S
    )

    async def not_serving() -> None:
        await server.set_serving(False)

    async def follow(ending: asyncio.Event) -> None:
        while not ending.is_set():
            if await server.ended():
                raise WorkEnded("the gRPC server has ended by itself")
            report = await service.readiness.report()
            await server.set_serving(report.ready and not service.stopping)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ASK_EVERY_S):
                    await ending.wait()

    service.when_stopping(not_serving)
    await service.run("grpc health", follow, stop_within_s=5.0)
    return server


@contextlib.asynccontextmanager
async def _serving(server: GrpcServer) -> AsyncIterator[GrpcServer]:
    try:
        await server.start(serving=False)
    except ServerDidNotStart as problem:
        raise StartRefused(f"gRPC: {problem}") from problem
    try:
        yield server
    finally:
        try:
            await server.stop()
        except asyncio.CancelledError:
            await server.stop_now()
            raise
