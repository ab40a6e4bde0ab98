"""The service's side of the event feed, over gRPC."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import grpc
import grpc.aio

from eventstore.errors import HistoryDetached, LogBroken
from messaging.feed.codec import event_to_proto, filter_from_proto, heads_to_proto, page_to_proto
from messaging.feed.log_feed import LogFeed
from messaging.feed.port import PAGE_EVENTS
from servicekit.grpc import Access, CallError, Exposed
from upcard.feed.v1 import event_feed_pb2 as feed_pb2
from upcard.feed.v1 import event_feed_pb2_grpc as feed_grpc

MAX_CATEGORIES: Final = 64
MAX_TYPES: Final = 256

_FEED: Final = feed_pb2.DESCRIPTOR.services_by_name["EventFeedService"]

_Answer = TypeVar("_Answer")
_Method = Callable[..., Awaitable[_Answer]]


def _explained(method: _Method[_Answer]) -> _Method[_Answer]:
    """What the log raises, as a status with a reason."""

    @functools.wraps(method)
    async def explained(*arguments: Any) -> _Answer:  # noqa: ANN401 - whatever the method takes
        try:
            return await method(*arguments)
        except HistoryDetached as error:
            raise CallError(grpc.StatusCode.OUT_OF_RANGE, error.slug, str(error), repeat=False) from error
        except LogBroken as error:
            raise CallError(grpc.StatusCode.DATA_LOSS, error.slug, str(error), repeat=False) from error
        except ValueError as error:
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument", str(error)) from error

    return explained


class EventFeedServer(feed_grpc.EventFeedServiceServicer):
    """Serves a log. Every call is bounded in events and bytes, and only reads."""

    def __init__(self, feed: LogFeed) -> None:
        self._feed = feed

    @_explained
    async def ReadShard(  # noqa: N802 - the name of the call
        self,
        request: feed_pb2.ReadShardRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> feed_pb2.ReadShardResponse:
        """The wanted ones among the next events of a shard after a position."""
        if len(request.wanted.categories) > MAX_CATEGORIES or len(request.wanted.types) > MAX_TYPES:
            raise ValueError(f"at most {MAX_CATEGORIES} categories and {MAX_TYPES} types can be named")
        page = await self._feed.read_shard(
            request.shard,
            after=request.after,
            limit=request.limit or PAGE_EVENTS,
            wanted=filter_from_proto(request.wanted),
        )
        return page_to_proto(page)

    @_explained
    async def ReadStream(  # noqa: N802 - the name of the call
        self,
        request: feed_pb2.ReadStreamRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> feed_pb2.ReadStreamResponse:
        """The next events of a stream after a position."""
        events, head, epoch = await self._feed.read_stream(
            request.stream, after=request.after, limit=request.limit or PAGE_EVENTS
        )
        return feed_pb2.ReadStreamResponse(
            events=[event_to_proto(event) for event in events], head=head, epoch=epoch
        )

    @_explained
    async def Heads(  # noqa: N802 - the name of the call
        self,
        request: feed_pb2.HeadsRequest,  # noqa: ARG002 - it has nothing in it
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> feed_pb2.HeadsResponse:
        """Where each of the 64 shards ends."""
        epoch = await self._feed.epoch()
        return heads_to_proto(self._feed.service, await self._feed.heads(), epoch)

    @_explained
    async def EventAt(  # noqa: N802 - the name of the call
        self,
        request: feed_pb2.EventAtRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG002 - every call is given it
    ) -> feed_pb2.EventAtResponse:
        """The event at a position of a shard."""
        event, head, epoch = await self._feed.event_at(request.shard, request.shard_position)
        return feed_pb2.EventAtResponse(
            event=None if event is None else event_to_proto(event, with_content=request.with_content),
            head=head,
            epoch=epoch,
        )


def exposed_feed(feed: LogFeed, *, access: Access) -> Exposed:
    """The feed for a `GrpcServer`. `access` says which services may read this log: all of it."""
    register = functools.partial(feed_grpc.add_EventFeedServiceServicer_to_server, EventFeedServer(feed))
    return Exposed(_FEED, register, everything=access)
