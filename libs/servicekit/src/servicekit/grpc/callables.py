"""The calls of a channel, as the generated stubs make them."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import grpc
import grpc.aio

from servicekit.grpc.outgoing import Outgoing

Request = TypeVar("Request")
Response = TypeVar("Response")
Serializer = Callable[[Request], bytes]


class _Sent(Generic[Request]):
    """What all kinds share. The request is turned into bytes here, since a signature is over them."""

    def __init__(
        self,
        method: str,
        serialize: Serializer[Request] | None,
        inner: Any,  # noqa: ANN401 - gRPC's own callable, of one of four kinds
        outgoing: Outgoing,
        *,
        streams: bool,
    ) -> None:
        self._method = method
        self._serialize = serialize
        self._inner = inner
        self._outgoing = outgoing
        self._streams = streams

    def _send(self, request: Any, timeout: float | None, metadata: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - as for `inner`
        data = request if self._serialize is None else self._serialize(request)
        prepared = self._outgoing.prepare(
            self._method,
            None if self._serialize is None else data,
            streams=self._streams,
            timeout_s=timeout,
            metadata=metadata,
        )
        call = self._inner(data, timeout=prepared.timeout_s, metadata=prepared.metadata, **options)
        prepared.watch(call)
        return call


class UnaryCallable(_Sent[Request], grpc.aio.UnaryUnaryMultiCallable[Request, Response]):
    """One request, one answer."""

    def __call__(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        metadata: Any = None,  # noqa: ANN401 - gRPC takes several forms
        **options: Any,  # noqa: ANN401 - what else gRPC takes
    ) -> grpc.aio.UnaryUnaryCall[Request, Response]:
        """Send it; the answer is awaited."""
        sent = self._send(request, timeout, metadata, options)
        return cast("grpc.aio.UnaryUnaryCall[Request, Response]", sent)


class UnaryStreamCallable(_Sent[Request], grpc.aio.UnaryStreamMultiCallable[Request, Response]):
    """One request, a stream of answers."""

    def __call__(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        metadata: Any = None,  # noqa: ANN401 - gRPC takes several forms
        **options: Any,  # noqa: ANN401 - what else gRPC takes
    ) -> grpc.aio.UnaryStreamCall[Request, Response]:
        """Send it; the answers are iterated."""
        sent = self._send(request, timeout, metadata, options)
        return cast("grpc.aio.UnaryStreamCall[Request, Response]", sent)


class StreamUnaryCallable(_Sent[Request], grpc.aio.StreamUnaryMultiCallable[Request, Response]):
    """A stream of requests, one answer; never in an actor's name."""

    def __call__(
        self,
        request_iterator: Any = None,  # noqa: ANN401 - gRPC takes several forms
        timeout: float | None = None,
        metadata: Any = None,  # noqa: ANN401 - gRPC takes several forms
        *options: Any,  # noqa: ANN401 - what else gRPC takes
        **more: Any,  # noqa: ANN401 - likewise
    ) -> grpc.aio.StreamUnaryCall[Request, Response]:
        """Send them."""
        sent = self._send(request_iterator, timeout, metadata, _named(options, more))
        return cast("grpc.aio.StreamUnaryCall[Request, Response]", sent)


class StreamStreamCallable(_Sent[Request], grpc.aio.StreamStreamMultiCallable[Request, Response]):
    """Streams of both; never in an actor's name."""

    def __call__(
        self,
        request_iterator: Any = None,  # noqa: ANN401 - gRPC takes several forms
        timeout: float | None = None,
        metadata: Any = None,  # noqa: ANN401 - gRPC takes several forms
        *options: Any,  # noqa: ANN401 - what else gRPC takes
        **more: Any,  # noqa: ANN401 - likewise
    ) -> grpc.aio.StreamStreamCall[Request, Response]:
        """Send them."""
        sent = self._send(request_iterator, timeout, metadata, _named(options, more))
        return cast("grpc.aio.StreamStreamCall[Request, Response]", sent)


def _named(options: tuple[Any, ...], more: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(("credentials", "wait_for_ready", "compression"), options, strict=False)) | more
