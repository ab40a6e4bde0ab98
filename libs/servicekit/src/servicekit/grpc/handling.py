"""Around every handler: admission, deadline, what is seen of it, and what its exceptions become."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError

from servicekit import context as work_context
from servicekit.grpc import observing
from servicekit.grpc.admission import Admission, Incoming, Route
from servicekit.grpc.calls import serving
from servicekit.grpc.errors import CallError, ErrorMap, call_error, unexpected
from servicekit.grpc.exposure import Access
from servicekit.grpc.gate import Gate, stopping
from servicekit.grpc.observing import CORRELATION_KEY, Seen, serving_span

# Generic for the type checker only.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Work = Callable[[], Awaitable[bytes | None]]

_log = structlog.get_logger("servicekit.grpc")


class Handling:
    """Wraps the handlers of one server."""

    def __init__(
        self,
        admission: Admission,
        gate: Gate,
        known_errors: ErrorMap,
        max_response_bytes: int,
    ) -> None:
        self._admission = admission
        self._gate = gate
        self._known = known_errors
        self._max_response_bytes = max_response_bytes

    def wrap(self, method: str, handler: Handler, access: Access | None) -> Handler:
        """The handler that gRPC gets for a call. `access` is None for health and reflection.

        Raises TypeError for a handler that would block the event loop.
        """
        route = Route(method, access, handler.request_streaming, handler.response_streaming)
        behaviour = _behaviour(handler)
        serialize = handler.response_serializer or _as_they_are
        deserialize = _reader(handler.request_deserializer or _as_they_are)

        def checked(message: Any) -> bytes:  # noqa: ANN401 - a message of any type, or its bytes
            return self._fit(message if isinstance(message, bytes) else serialize(message))

        async def with_one_answer(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see `request`
            async def work() -> bytes:
                message = request if route.streams_requests else deserialize(request)
                return checked(await behaviour(message, context))

            return await self._serve(route, None if route.streams_requests else request, context, work)

        async def with_a_stream(request: Any, context: Context) -> None:  # noqa: ANN401 - see `request`
            async def work() -> None:
                message = request if route.streams_requests else deserialize(request)
                await _write_all(behaviour(message, context), context)

            await self._serve(route, None if route.streams_requests else request, context, work)

        # A single request comes as its bytes, since a signature is over them; answers are checked for size.
        match (route.streams_requests, route.streams_responses):
            case (False, False):
                return grpc.unary_unary_rpc_method_handler(with_one_answer)
            case (False, True):
                return grpc.unary_stream_rpc_method_handler(with_a_stream, None, checked)
            case (True, False):
                return grpc.stream_unary_rpc_method_handler(with_one_answer, deserialize)
            case _:
                return grpc.stream_stream_rpc_method_handler(with_a_stream, deserialize, checked)

    async def _serve(self, route: Route, request: bytes | None, context: Context, work: Work) -> bytes | None:
        headers: dict[str, str | bytes] = dict(context.invocation_metadata() or ())
        texts = {key: value for key, value in headers.items() if isinstance(value, str)}
        correlation_id = work_context.accepted_correlation_id(texts.get(CORRELATION_KEY))
        with (
            work_context.bind(correlation_id=correlation_id),
            serving_span(route.method, texts, correlation_id) as seen,
        ):
            answer, error = await self._outcome(Incoming(route, request, headers, context), work, seen)
        # Only now does the caller hear of it: the span has ended, the call is counted.
        if error is not None:
            await context.abort(error.code, error.message, error.trailing_metadata())
        return answer

    async def _outcome(
        self, incoming: Incoming, work: Work, seen: Seen
    ) -> tuple[bytes | None, CallError | None]:
        """The answer, or what the caller is told instead; also noted.

        Raises what gRPC raises to end a call that has no caller any more, or that the handler has aborted.
        """
        answer: bytes | None = None
        error: CallError | None = None
        context = incoming.context
        try:
            answer = await self._run(incoming, work)
        except grpc.aio.AbortError:
            seen.served(_code_of(context, grpc.StatusCode.UNKNOWN))
            raise
        except grpc.aio.InternalError:
            # An answer could not be sent: there is nobody to send it to.
            seen.served(grpc.StatusCode.CANCELLED)
            raise
        except asyncio.CancelledError:
            if not (incoming.route.streams and self._gate.stopping):
                seen.served(_why_cancelled(context))
                raise
            error = stopping()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the caller is told nothing of it
            error = self._meaning(problem, incoming.route)
        if error is None:
            seen.served(_code_of(context, grpc.StatusCode.OK))
        else:
            seen.served(error.code, error.reason)
        return answer, error

    async def _run(self, incoming: Incoming, work: Work) -> bytes | None:
        route = incoming.route
        with self._gate.passed(stream=route.streams, always=route.access is None):
            call = self._admission.admit(incoming)
            actor = None if call.context is None else str(call.context.actor)
            limit = asyncio.timeout_at(call.deadline)
            with serving(call), work_context.bind(actor=actor):
                try:
                    async with limit:
                        return await work()
                except TimeoutError:
                    if not limit.expired():
                        raise
                    raise _out_of_time(route, incoming.context) from None

    def _meaning(self, problem: Exception, route: Route) -> CallError:
        """What the caller is told of an exception."""
        known = call_error(problem, self._known)
        if known is not None:
            return known
        told = unexpected()
        _log.error(
            "call failed unexpectedly",
            method=route.method,
            error_id=told.details["error_id"],
            exc_info=problem,
        )
        return told

    def _fit(self, answer: bytes) -> bytes:
        if len(answer) > self._max_response_bytes:
            raise CallError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "response_too_large",
                f"the answer has {len(answer)} bytes, {self._max_response_bytes} may be sent: ask for less",
            )
        return answer


def _behaviour(handler: Handler) -> Callable[..., Any]:
    """The function of a handler. Raises TypeError for one that would block the event loop."""
    found = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    if not (inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)):
        raise TypeError(f"{found} is no coroutine function and no asynchronous generator")
    return found


async def _write_all(answers: Any, context: Context) -> None:  # noqa: ANN401 - a coroutine or a generator
    """Send what a handler yields; one that writes by itself is only waited for."""
    if inspect.isawaitable(answers):
        await answers
        return
    stream: AsyncIterator[Any]
    async with contextlib.aclosing(answers) as stream:
        async for message in stream:
            await context.write(message)


def _reader(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Reads a request; bytes that are none are the caller's mistake."""

    def read(raw: bytes) -> Any:  # noqa: ANN401 - a message of any type
        try:
            return deserialize(raw)
        except DecodeError:
            raise CallError(
                grpc.StatusCode.INVALID_ARGUMENT, "request_unreadable", "the request is no such message"
            ) from None

    return read


def _as_they_are(data: bytes) -> bytes:
    return data


def _out_of_time(route: Route, context: Context) -> CallError:
    """The caller's deadline is over, or the server's own limit, which a stream's reader may begin anew."""
    if (context.time_remaining() or 0) > 0 and route.streams:
        return CallError(grpc.StatusCode.UNAVAILABLE, "stream_ended", "streams end after a while: go on anew")
    return CallError(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded", "there was no time left")


def _code_of(context: Context, default: grpc.StatusCode) -> grpc.StatusCode:
    """The status that a handler set by itself."""
    code: grpc.StatusCode | None = context.code()
    return default if code is None else code


def _why_cancelled(context: Context) -> grpc.StatusCode:
    """A handler is cancelled when its caller goes away, and when its caller's deadline is over."""
    over = context.time_remaining() == 0
    return grpc.StatusCode.DEADLINE_EXCEEDED if over else grpc.StatusCode.CANCELLED


async def refuse_unknown(_requests: object, context: Context) -> None:
    """Answer a call that this server does not have."""
    with serving_span(observing.UNKNOWN, {}, work_context.new_correlation_id()) as seen:
        error = CallError(grpc.StatusCode.UNIMPLEMENTED, "method_unknown", "this server has no such call")
        seen.served(error.code, error.reason)
    await context.abort(error.code, error.message, error.trailing_metadata())
