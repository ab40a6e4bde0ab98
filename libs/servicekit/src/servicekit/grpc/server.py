"""A gRPC server: what is exposed, on an address, until it is stopped in order."""

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Final, Self, cast

import grpc
import grpc.aio
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from servicekit.context import detached
from servicekit.grpc.admission import Admission
from servicekit.grpc.errors import ErrorMap
from servicekit.grpc.exposure import ANY_SERVICE, Exposed
from servicekit.grpc.gate import Gate
from servicekit.grpc.handling import Handling
from servicekit.grpc.health import Health
from servicekit.grpc.registration import Registration
from servicekit.grpc.settings import ServerSettings
from servicekit.grpc.tls import server_credentials
from servicekit.grpc.verifying import ContextVerifier

MAX_METADATA_BYTES: Final = 16_384
_SPARE_CALLS: Final = 64
"""Calls beyond the limits that are still answered, with a refusal."""

# Both kinds of descriptor have the same attributes; the stubs of these two modules name the other one.
_HEALTH: Final = cast("ServiceDescriptor", health_pb2.DESCRIPTOR.services_by_name["Health"])
_REFLECTION: Final = cast("ServiceDescriptor", reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"])

_log = structlog.get_logger("servicekit.grpc")


class ServerDidNotStart(Exception):
    """The server could not listen; the message says why."""


class GrpcServer:
    """Serves what is exposed. `async with` starts and stops it; `stop` may be called at any time.

    `known_errors` says what exceptions of the layers below mean to callers; any other is logged, and its
    caller told an id. `verifier` checks signed call contexts; without it nobody is ever known to act.
    """

    def __init__(
        self,
        settings: ServerSettings,
        exposed: Sequence[Exposed],
        *,
        verifier: ContextVerifier | None = None,
        known_errors: ErrorMap | None = None,
    ) -> None:
        """Raises ValueError where a call asks for an actor and nothing could tell who acts."""
        self._settings = settings
        self._exposed = tuple(exposed)
        self._gate = Gate(max_calls=settings.max_calls, max_streams=settings.max_streams)
        _check_actors_can_be_known(self._exposed, verifier)
        self._handling = Handling(
            Admission(settings, verifier),
            self._gate,
            known_errors or {},
            settings.max_response_bytes,
        )
        self._names = tuple(item.descriptor.full_name for item in self._exposed)
        self._health = Health(self._names)
        self._server: grpc.aio.Server | None = None
        self._stopped: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._port = 0

    @property
    def port(self) -> int:
        """The port that it listens on; 0 before the start."""
        return self._port

    @property
    def address(self) -> str:
        """Where clients on the same network reach it: `host:port`."""
        host = self._settings.host
        return (
            f"[{host}]:{self._port}" if ":" in host and not host.startswith("[") else f"{host}:{self._port}"
        )

    async def start(self, *, serving: bool = True) -> None:
        """Listen. With `serving=False` health says no until `set_serving`.

        Raises ServerDidNotStart, also for certificates that cannot be read; WrongHandlers (ValueError) or
        TypeError for handlers that do not fit what is exposed.
        """
        if self._server is not None:
            raise ServerDidNotStart("it was started before")
        server = grpc.aio.server(
            options=_options(self._settings),
            maximum_concurrent_rpcs=self._settings.max_calls + self._settings.max_streams + _SPARE_CALLS,
        )
        self._register(Registration(server, self._handling))
        self._port = self._listen(server)
        self._server = server
        await self.set_serving(serving)
        # Calls inherit what the starting task works for; it is nobody's business but the starter's.
        await asyncio.create_task(server.start(), context=detached())
        if self._settings.tls is None:
            _log.warning("gRPC without encryption: callers are not checked", address=self.address)
        _log.info("gRPC server listens", address=self.address, services=list(self._names))

    async def set_serving(self, serving: bool) -> None:  # noqa: FBT001 - the one thing that it says
        """Tell balancers and `wait_serving` whether to send calls here."""
        await self._health.tell(serving=serving)

    async def stop(self) -> None:
        """Stop in order: not healthy, go on for `drain_s`, end streams, let calls end within `grace_s`.

        What has not ended by then is cut off. Once only; whoever calls again waits for the same stop.
        """
        if self._server is None:
            return
        if self._stopped is None:
            self._stopped = asyncio.get_running_loop().create_task(self._stop(self._server))
        await asyncio.shield(self._stopped)

    async def ended(self) -> bool:
        """Whether it was started and serves no more. Raises what ended it, if nobody stopped it."""
        return self._server is not None and not await self._server.wait_for_termination(0)

    async def stop_now(self) -> None:
        """Stop, or go on stopping, without waiting for anything: what is under way is cut off."""
        if self._server is None:
            return
        self._hurry.set()
        await asyncio.gather(self.stop(), self._server.stop(None))

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()

    async def _stop(self, server: grpc.aio.Server) -> None:
        await self._health.stopping()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.drain_s):
                await self._hurry.wait()
        self._gate.end_streams()
        await server.stop(None if self._hurry.is_set() else self._settings.grace_s)
        _log.info("gRPC server stopped", address=self.address)

    def _register(self, registration: Registration) -> None:
        for item in self._exposed:
            registration.expose(item)
        add_health = partial(health_pb2_grpc.add_HealthServicer_to_server, self._health)
        registration.always_serve(Exposed(_HEALTH, add_health, everything=ANY_SERVICE))
        if self._settings.reflection:
            names = (*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            servicer = reflection.aio.ReflectionServicer(names)
            add_reflection = partial(reflection_pb2_grpc.add_ServerReflectionServicer_to_server, servicer)
            registration.always_serve(Exposed(_REFLECTION, add_reflection, everything=ANY_SERVICE))
        registration.close()

    def _listen(self, server: grpc.aio.Server) -> int:
        address = f"{self.address.rpartition(':')[0]}:{self._settings.port}"
        tls = self._settings.tls
        try:
            if tls is None:
                return server.add_insecure_port(address)
            return server.add_secure_port(address, server_credentials(tls, self._settings))
        except OSError as problem:
            raise ServerDidNotStart(f"a file for TLS cannot be read: {problem}") from None
        except (RuntimeError, ValueError) as problem:
            raise ServerDidNotStart(f"cannot listen on {address}: {problem}") from None


def _check_actors_can_be_known(exposed: Sequence[Exposed], verifier: ContextVerifier | None) -> None:
    """Raise ValueError for a call that asks who acts where nothing could tell."""
    for item in exposed:
        streams = {method.name for method in item.descriptor.methods if method.client_streaming}
        for method, access in item.rules().items():
            if access.actors and verifier is None:
                raise ValueError(f"{method} asks who acts: give the server a verifier")
            if access.actors and method.rpartition("/")[2] in streams:
                raise ValueError(f"{method} has a stream of requests, which no call context covers")


def _options(settings: ServerSettings) -> list[tuple[str, int]]:
    """The settings as gRPC names them."""
    options = [
        # Two servers on one port would share its connections by chance.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_send_message_length", settings.max_response_bytes),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.max_concurrent_streams", settings.max_calls + settings.max_streams + _SPARE_CALLS),
        ("grpc.keepalive_time_ms", _ms(settings.keepalive_time_s)),
        ("grpc.keepalive_timeout_ms", _ms(settings.keepalive_timeout_s)),
        ("grpc.http2.ping_timeout_ms", _ms(settings.keepalive_timeout_s)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", _ms(settings.min_ping_interval_s)),
    ]
    if settings.max_connection_age_s is not None:
        options += [
            ("grpc.max_connection_age_ms", _ms(settings.max_connection_age_s)),
            ("grpc.max_connection_age_grace_ms", _ms(settings.max_stream_s)),
        ]
    return options


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)
