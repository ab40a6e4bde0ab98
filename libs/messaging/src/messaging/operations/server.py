"""A service's machinery over gRPC: its own side."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import grpc
import grpc.aio

from messaging.operations.codec import (
    lag_to_proto,
    letters_to_proto,
    parked_to_proto,
    skipped_to_proto,
    stop_to_proto,
)
from messaging.operations.model import MOST, USUAL, Operations, OperationsAway, OperationsRefused
from servicekit.grpc import ActorKind, CallError, Exposed, by, call_context
from upcard.call.v1 import refusal_pb2
from upcard.operations.v1 import operations_pb2 as pb
from upcard.operations.v1 import operations_pb2_grpc as pb_grpc

MAY_ACT: Final = frozenset({"operations", "admin"})
"""Staff with one of these roles have things tried again or left out."""
MAY_SEE: Final = MAY_ACT | {"support", "auditor", "floor"}
"""Staff with one of these roles see how things stand."""
LONGEST_NAME: Final = 500
"""Most characters of a follower, source or stream."""

_OPERATIONS: Final = pb.DESCRIPTOR.services_by_name["OperationsService"]

_Answer = TypeVar("_Answer")
_Method = Callable[..., Awaitable[_Answer]]


def _for(roles: frozenset[str]) -> Callable[[_Method[_Answer]], _Method[_Answer]]:
    """Check who asks, and say by a status what is wrong with the call or with the database."""

    def checked(method: _Method[_Answer]) -> _Method[_Answer]:
        @functools.wraps(method)
        async def answered(*arguments: Any) -> _Answer:  # noqa: ANN401 - whatever the method takes
            if not roles & call_context().actor.roles:
                raise CallError(
                    grpc.StatusCode.PERMISSION_DENIED,
                    "role_missing",
                    f"one of these is needed: {', '.join(sorted(roles))}",
                )
            try:
                return await method(*arguments)
            except OperationsAway as error:
                raise CallError(grpc.StatusCode.UNAVAILABLE, error.slug, str(error)) from error
            except ValueError as error:
                raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument", str(error)) from error

        return answered

    return checked


class OperationsServer(pb_grpc.OperationsServiceServicer):
    """Serves one service's machinery. Every answer is bounded."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    @_for(MAY_SEE)
    async def GetLag(  # noqa: N802 - the name of the call
        self,
        request: pb.GetLagRequest,  # noqa: ARG002 - it has nothing in it
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.GetLagResponse:
        """How far relay, followers and consumers are."""
        return lag_to_proto(await self._operations.lag())

    @_for(MAY_SEE)
    async def ListParked(  # noqa: N802 - the name of the call
        self,
        request: pb.ListParkedRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.ListParkedResponse:
        """Parked streams."""
        _check_names(request.follower, request.source, empty=True)
        found = await self._operations.parked(request.follower, request.source, limit=_limit(request.limit))
        return pb.ListParkedResponse(streams=map(parked_to_proto, found.streams), more=found.more)

    @_for(MAY_ACT)
    async def RetryParked(  # noqa: N802 - the name of the call
        self,
        request: pb.RetryParkedRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.RetryParkedResponse:
        """Another try of what is parked."""
        _check_names(request.follower, request.source)
        _check_names(request.stream, empty=True)
        try:
            asked = await self._operations.retry(request.follower, request.source, request.stream)
        except OperationsRefused as refused:
            return pb.RetryParkedResponse(refusal=_refusal(refused))
        return pb.RetryParkedResponse(asked=asked)

    @_for(MAY_ACT)
    async def SkipParked(  # noqa: N802 - the name of the call
        self,
        request: pb.SkipParkedRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.SkipParkedResponse:
        """Leave out the event that a stream is parked at."""
        _check_names(request.follower, request.source, request.stream)
        if request.position < 1:
            raise ValueError(f"a position in a stream is 1 or more, not {request.position}")
        try:
            skipped = await self._operations.skip(
                request.follower,
                request.source,
                request.stream,
                request.position,
                by=str(call_context().actor),
                why=request.why,
            )
        except OperationsRefused as refused:
            return pb.SkipParkedResponse(refusal=_refusal(refused))
        return pb.SkipParkedResponse(skipped=skipped_to_proto(skipped))

    @_for(MAY_SEE)
    async def ListStopped(  # noqa: N802 - the name of the call
        self,
        request: pb.ListStoppedRequest,  # noqa: ARG002 - it has nothing in it
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.ListStoppedResponse:
        """What stands still."""
        return pb.ListStoppedResponse(stopped=map(stop_to_proto, await self._operations.stopped()))

    @_for(MAY_ACT)
    async def ResumeStopped(  # noqa: N802 - the name of the call
        self,
        request: pb.ResumeStoppedRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.ResumeStoppedResponse:
        """Let a follower go on."""
        _check_names(request.follower, request.source)
        shard = request.shard if request.HasField("shard") else None
        try:
            resumed = await self._operations.resume(request.follower, request.source, shard)
        except OperationsRefused as refused:
            return pb.ResumeStoppedResponse(refusal=_refusal(refused))
        return pb.ResumeStoppedResponse(resumed=resumed)

    @_for(MAY_SEE)
    async def ListSkipped(  # noqa: N802 - the name of the call
        self,
        request: pb.ListSkippedRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.ListSkippedResponse:
        """What was left out."""
        found = await self._operations.skipped(limit=_limit(request.limit))
        return pb.ListSkippedResponse(skipped=map(skipped_to_proto, found.events), more=found.more)

    @_for(MAY_SEE)
    async def ListDeadLetters(  # noqa: N802 - the name of the call
        self,
        request: pb.ListDeadLettersRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> pb.ListDeadLettersResponse:
        """Copies of events that could not be applied."""
        try:
            found = await self._operations.dead_letters(limit=_limit(request.limit))
        except OperationsRefused as refused:
            return pb.ListDeadLettersResponse(refusal=_refusal(refused))
        return pb.ListDeadLettersResponse(found=letters_to_proto(found))


def exposed_operations(operations: Operations) -> Exposed:
    """A service's machinery for a `GrpcServer`: for members of staff, by the gateway alone."""
    register = functools.partial(
        pb_grpc.add_OperationsServiceServicer_to_server, OperationsServer(operations)
    )
    return Exposed(_OPERATIONS, register, everything=by(ActorKind.STAFF, callers=frozenset({"gateway"})))


def _limit(asked: int) -> int:
    if not 0 <= asked <= MOST:
        raise ValueError(f"a limit is 1 to {MOST}, or 0 for {USUAL}, not {asked}")
    return asked or USUAL


def _check_names(*names: str, empty: bool = False) -> None:
    for name in names:
        if not (empty or name) or len(name) > LONGEST_NAME or not name.isprintable():
            raise ValueError(f"a follower, source or stream is 1 to {LONGEST_NAME} printable characters")


def _refusal(refused: OperationsRefused) -> refusal_pb2.Refusal:
    return refusal_pb2.Refusal(reason=refused.reason, message=str(refused))
