"""A channel to another service: every call has a deadline, says what it belongs to, and is seen.

It is an ordinary channel to the generated stubs: `EventFeedServiceStub(channel)`.
"""

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2

from servicekit.grpc.callables import (
    StreamStreamCallable,
    StreamUnaryCallable,
    UnaryCallable,
    UnaryStreamCallable,
)
from servicekit.grpc.outgoing import Outgoing
from servicekit.grpc.service_config import service_config
from servicekit.grpc.settings import ClientSettings
from servicekit.grpc.signing import ContextSigner
from servicekit.grpc.tls import channel_credentials

MAX_METADATA_BYTES: Final = 16_384
_FIRST_PAUSE_S: Final = 0.02
_MAX_PAUSE_S: Final = 0.5

Request = TypeVar("Request")
Response = TypeVar("Response")


class NotServing(Exception):
    """A service did not say in time that it serves; the message has the last thing that it did say."""


class ClientChannel(grpc.aio.Channel):
    """Wraps gRPC's channel; made by `open_channel`."""

    def __init__(self, inner: grpc.aio.Channel, outgoing: Outgoing) -> None:
        self._inner = inner
        self._outgoing = outgoing

    async def wait_serving(self, timeout_s: float, *, service: str = "") -> None:
        """Wait until the server's health says that it serves; `service` by its full name, or all of it.

        Raises NotServing when that has not happened within `timeout_s`.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout_s
        check = self.unary_unary(
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        pause_s, last = _FIRST_PAUSE_S, "nothing was answered"
        while (left_s := until - loop.time()) > 0:
            try:
                answer = await check(
                    health_pb2.HealthCheckRequest(service=service), timeout=left_s, wait_for_ready=True
                )
            except grpc.aio.AioRpcError as problem:
                last = f"{problem.code().name}: {problem.details()}"
            else:
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    return
                last = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
            await asyncio.sleep(min(pause_s, max(0.0, until - loop.time())))
            pause_s = min(pause_s * 2, _MAX_PAUSE_S)
        raise NotServing(f"{service or 'the server'} did not serve within {timeout_s:g} s: {last}")

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Request], bytes] | None = None,
        response_deserializer: Callable[[bytes], Response] | None = None,
        _registered_method: bool = False,  # noqa: FBT001, FBT002 - as the generated code calls it
    ) -> UnaryCallable[Request, Response]:
        """A call with one request and one answer."""
        inner: Any = self._inner.unary_unary(method, None, response_deserializer)
        serialize = _required(method, request_serializer)
        return UnaryCallable(method, serialize, inner, self._outgoing, streams=False)

    def unary_stream(
        self,
        method: str,
        request_serializer: Callable[[Request], bytes] | None = None,
        response_deserializer: Callable[[bytes], Response] | None = None,
        _registered_method: bool = False,  # noqa: FBT001, FBT002 - as the generated code calls it
    ) -> UnaryStreamCallable[Request, Response]:
        """A call with one request and a stream of answers."""
        inner: Any = self._inner.unary_stream(method, None, response_deserializer)
        serialize = _required(method, request_serializer)
        return UnaryStreamCallable(method, serialize, inner, self._outgoing, streams=True)

    def stream_unary(
        self,
        method: str,
        request_serializer: Callable[[Request], bytes] | None = None,
        response_deserializer: Callable[[bytes], Response] | None = None,
        _registered_method: bool = False,  # noqa: FBT001, FBT002 - as the generated code calls it
    ) -> StreamUnaryCallable[Request, Response]:
        """A call with a stream of requests and one answer."""
        inner = self._inner.stream_unary(method, request_serializer, response_deserializer)
        return StreamUnaryCallable(method, None, inner, self._outgoing, streams=True)

    def stream_stream(
        self,
        method: str,
        request_serializer: Callable[[Request], bytes] | None = None,
        response_deserializer: Callable[[bytes], Response] | None = None,
        _registered_method: bool = False,  # noqa: FBT001, FBT002 - as the generated code calls it
    ) -> StreamStreamCallable[Request, Response]:
        """A call with streams of both."""
        inner = self._inner.stream_stream(method, request_serializer, response_deserializer)
        return StreamStreamCallable(method, None, inner, self._outgoing, streams=True)

    async def close(self, grace: float | None = None) -> None:
        """Close it; calls under way may end within `grace` seconds, None: are cancelled."""
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - gRPC's own
        """Whether it is connected."""
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until `get_state` is another."""
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until it is connected; `wait_serving` has a deadline and asks for more."""
        await self._inner.channel_ready()

    async def __aenter__(self) -> Self:
        """The channel itself."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Close it; calls under way are cancelled."""
        await self.close()


def open_channel(
    target: str,
    *,
    audience: str,
    services: Iterable[ServiceDescriptor],
    settings: ClientSettings | None = None,
    signer: ContextSigner | None = None,
) -> ClientChannel:
    """A channel to `target`, such as `wallet:7000` or `dns:///wallet:7000`. It connects when it is used.

    `audience` is the service's name, such as `wallet`, which signed contexts name. `services` are those that
    will be called: their descriptors say which calls may be repeated. Raises OSError where a file for TLS is
    missing.
    """
    chosen = settings or ClientSettings()
    options = _options(chosen, service_config(services, chosen))
    inner = (
        grpc.aio.insecure_channel(target, options=options)
        if chosen.tls is None
        else grpc.aio.secure_channel(target, channel_credentials(chosen.tls), options=options)
    )
    return ClientChannel(inner, Outgoing(chosen, audience, signer))


def _options(settings: ClientSettings, config: str) -> list[tuple[str, int | str]]:
    """The settings as gRPC names them."""
    return [
        ("grpc.service_config", config),
        # Never from a name server: what may be repeated is decided here.
        ("grpc.service_config_disable_resolution", 1),
        ("grpc.enable_retries", 1),
        # A call whose request is larger than this buffer would not be repeated.
        ("grpc.per_rpc_retry_buffer_size", settings.max_request_bytes + MAX_METADATA_BYTES),
        ("grpc.max_send_message_length", settings.max_request_bytes),
        ("grpc.max_receive_message_length", settings.max_response_bytes),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.keepalive_time_ms", _ms(settings.keepalive_time_s)),
        ("grpc.keepalive_timeout_ms", _ms(settings.keepalive_timeout_s)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        # Without it, a ping that is not answered counts only after a minute.
        ("grpc.http2.ping_timeout_ms", _ms(settings.keepalive_timeout_s)),
        ("grpc.initial_reconnect_backoff_ms", _ms(settings.first_reconnect_s)),
        ("grpc.max_reconnect_backoff_ms", _ms(settings.max_reconnect_s)),
        ("grpc.min_reconnect_backoff_ms", _ms(settings.connect_timeout_s)),
        # Channels of one process with other settings do not share connections.
        ("grpc.use_local_subchannel_pool", 1),
    ]


def _required(method: str, serialize: Callable[[Request], bytes] | None) -> Callable[[Request], bytes]:
    if serialize is None:
        raise TypeError(f"{method}: how is a request turned into bytes?")
    return serialize


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)
