"""Another service's log, over gRPC."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import grpc
import grpc.aio

from eventstore import EventFilter
from eventstore.events import EVERYTHING
from eventstore.following import Page, SourceHead
from messaging.envelope import check_service
from messaging.feed.codec import filter_to_proto, heads_from_proto, page_from_proto
from messaging.feed.port import (
    PAGE_EVENTS,
    FeedBroken,
    FeedError,
    FeedHistoryDetached,
    FeedRefused,
    FeedUnavailable,
)
from servicekit.grpc.failures import failure_of
from upcard.feed.v1 import event_feed_pb2 as feed_pb2
from upcard.feed.v1 import event_feed_pb2_grpc as feed_grpc

# Something between us and the log, or the service itself, is not well now.
_PASSING: Final = frozenset(
    {
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
    }
)

FEED: Final = feed_pb2.DESCRIPTOR.services_by_name["EventFeedService"]
"""The service, for whoever opens the channel: its calls only read, so each may be tried again."""

_Answer = TypeVar("_Answer")


class GrpcFeed:
    """A `Feed` over a channel (`servicekit.grpc.open_channel`, with `FEED`), which stays the caller's.

    Everything that comes is checked: hashes, shards, order, and that it is this service's log at all.
    """

    def __init__(self, channel: grpc.aio.Channel, service: str, *, timeout_s: float = 5.0) -> None:
        self.service = check_service(service)
        self._stub = feed_grpc.EventFeedServiceStub(channel)
        self._timeout_s = timeout_s

    async def read_shard(
        self, shard: int, *, after: int, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> Page:
        """See `Feed`."""
        request = feed_pb2.ReadShardRequest(
            shard=shard, after=after, limit=limit, wanted=filter_to_proto(wanted)
        )
        answer = await _ask(lambda: self._stub.ReadShard(request, timeout=self._timeout_s))
        return page_from_proto(shard, after, answer, whole=wanted == EVERYTHING)

    async def heads(self) -> dict[int, SourceHead]:
        """See `Feed`."""
        request = feed_pb2.HeadsRequest()
        answer = await _ask(lambda: self._stub.Heads(request, timeout=self._timeout_s))
        return heads_from_proto(self.service, answer)

    async def hash_at(self, shard: int, position: int) -> bytes | None:
        """See `Feed`."""
        request = feed_pb2.EventAtRequest(shard=shard, shard_position=position)
        answer = await _ask(lambda: self._stub.EventAt(request, timeout=self._timeout_s))
        if not answer.HasField("event"):
            return None
        if (answer.event.shard, answer.event.shard_position) != (shard, position):
            raise FeedBroken(f"shard {shard}: another event than the one at {position} came")
        return answer.event.hash


async def _ask(call: Callable[[], Awaitable[_Answer]]) -> _Answer:
    try:
        return await call()
    except grpc.aio.AioRpcError as error:
        raise _meaning(error) from error


def _meaning(error: grpc.aio.AioRpcError) -> FeedError:
    failure = failure_of(error)
    sentence = f"{failure.code.name} {failure.reason}: {failure.message}"
    if failure.code in _PASSING:
        return FeedUnavailable(sentence)
    if failure.reason == FeedHistoryDetached.slug:
        return FeedHistoryDetached(sentence)
    return FeedRefused(sentence)
