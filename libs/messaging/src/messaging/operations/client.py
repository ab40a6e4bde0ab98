"""Another service's machinery, over gRPC."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

import grpc
import grpc.aio

from eventstore.following import SkippedEvent, Stop
from messaging.operations.codec import (
    lag_from_proto,
    letters_from_proto,
    parked_from_proto,
    skipped_from_proto,
    stop_from_proto,
)
from messaging.operations.model import (
    USUAL,
    Lag,
    Letters,
    OperationsAway,
    OperationsRefused,
    Parked,
    Skipped,
)
from servicekit.grpc.failures import failure_of
from upcard.call.v1 import refusal_pb2
from upcard.operations.v1 import operations_pb2 as pb
from upcard.operations.v1 import operations_pb2_grpc as pb_grpc

OPERATIONS: Final = pb.DESCRIPTOR.services_by_name["OperationsService"]
"""The service, for whoever opens the channel: each of its calls may be tried again."""
_LETTERS_S: Final = 18.0
"""Longest wait for dead letters, which are read from the broker."""

_REFUSED: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""What is no better the next time."""

_Answer = TypeVar("_Answer")


class GrpcOperations:
    """`Operations` over a channel (`open_channel`, with `OPERATIONS`), which stays the caller's.

    Calls are made in the name of who acts (`servicekit.grpc.acting_as`), a member of staff.
    """

    def __init__(self, channel: grpc.aio.Channel, service: str, *, timeout_s: float = 5.0) -> None:
        self.service = service
        self._stub = pb_grpc.OperationsServiceStub(channel)
        self._timeout_s = timeout_s

    async def lag(self) -> Lag:
        """See `Operations`."""
        return lag_from_proto(await self._ask(self._stub.GetLag, pb.GetLagRequest()))

    async def parked(self, follower: str = "", source: str = "", *, limit: int = USUAL) -> Parked:
        """See `Operations`."""
        request = pb.ListParkedRequest(follower=follower, source=source, limit=limit)
        answer = await self._ask(self._stub.ListParked, request)
        return Parked(tuple(map(parked_from_proto, answer.streams)), answer.more)

    async def retry(self, follower: str, source: str, stream: str = "") -> int:
        """See `Operations`."""
        request = pb.RetryParkedRequest(follower=follower, source=source, stream=stream)
        answer = await self._ask(self._stub.RetryParked, request)
        if answer.HasField("refusal"):
            raise _refused(answer.refusal)
        return answer.asked

    async def skip(
        self,
        follower: str,
        source: str,
        stream: str,
        position: int,
        *,
        by: str,  # noqa: ARG002 - the call says who acts
        why: str,
    ) -> SkippedEvent:
        """See `Operations`."""
        request = pb.SkipParkedRequest(
            follower=follower, source=source, stream=stream, position=position, why=why
        )
        answer = await self._ask(self._stub.SkipParked, request)
        if answer.HasField("refusal"):
            raise _refused(answer.refusal)
        return skipped_from_proto(answer.skipped)

    async def stopped(self) -> Sequence[Stop]:
        """See `Operations`."""
        answer = await self._ask(self._stub.ListStopped, pb.ListStoppedRequest())
        return tuple(map(stop_from_proto, answer.stopped))

    async def resume(self, follower: str, source: str, shard: int | None = None) -> int:
        """See `Operations`."""
        request = pb.ResumeStoppedRequest(follower=follower, source=source, shard=shard)
        answer = await self._ask(self._stub.ResumeStopped, request)
        if answer.HasField("refusal"):
            raise _refused(answer.refusal)
        return answer.resumed

    async def skipped(self, *, limit: int = USUAL) -> Skipped:
        """See `Operations`."""
        answer = await self._ask(self._stub.ListSkipped, pb.ListSkippedRequest(limit=limit))
        return Skipped(tuple(map(skipped_from_proto, answer.skipped)), answer.more)

    async def dead_letters(self, *, limit: int = USUAL) -> Letters:
        """See `Operations`."""
        answer = await self._ask(
            self._stub.ListDeadLetters, pb.ListDeadLettersRequest(limit=limit), timeout_s=_LETTERS_S
        )
        if answer.HasField("refusal"):
            raise _refused(answer.refusal)
        return letters_from_proto(self.service, answer.found)

    async def _ask(
        self, call: Callable[..., Awaitable[_Answer]], request: object, *, timeout_s: float | None = None
    ) -> _Answer:
        try:
            return await call(request, timeout=timeout_s or self._timeout_s)
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            if failure.code in _REFUSED:
                raise OperationsRefused(failure.reason, f"{self.service}: {failure.message}") from error
            raise OperationsAway(f"{self.service} does not answer: {failure.reason}") from error


def _refused(refusal: refusal_pb2.Refusal) -> OperationsRefused:
    return OperationsRefused(refusal.reason, refusal.message)
