"""Events of the feed as protocol buffers, and back; what comes in is checked."""

import datetime as dt
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from eventstore import SHARDS, EventFilter, RecordedEvent, shard_of
from eventstore.following import Page, SourceHead
from eventstore.streams import content_hash_of, hash_of
from messaging.feed.port import FeedBroken
from upcard.feed.v1 import event_feed_pb2 as feed_pb2
from upcard.log.v1 import event_pb2


def event_to_proto(event: RecordedEvent, *, with_content: bool = True) -> event_pb2.RecordedEvent:
    """An event, whole or without its content."""
    recorded_at = Timestamp()
    recorded_at.FromDatetime(event.recorded_at.astimezone(dt.UTC))
    return event_pb2.RecordedEvent(
        stream=event.stream,
        stream_position=event.stream_position,
        shard=event.shard,
        shard_position=event.shard_position,
        event_id=event.event_id.bytes,
        type=event.type,
        content=event.content if with_content else b"",
        prev_hash=event.prev_hash,
        content_hash=event.content_hash,
        hash=event.hash,
        recorded_at=recorded_at,
    )


def event_from_proto(message: event_pb2.RecordedEvent) -> RecordedEvent:
    """A whole event, its hashes made again and its shard compared. Raises FeedBroken."""
    where = f"shard {message.shard} at {message.shard_position}"
    content_hash = content_hash_of(message.content)
    if content_hash != message.content_hash:
        raise FeedBroken(f"{where}: the content has another hash than content_hash says")
    digest = hash_of(message.prev_hash, message.stream_position, content_hash)
    if digest != message.hash or len(message.prev_hash) != len(digest):
        raise FeedBroken(f"{where}: hash does not follow from prev_hash, stream_position and the content")
    if shard_of(message.stream) != message.shard:
        raise FeedBroken(f"{where}: the stream belongs in shard {shard_of(message.stream)}")
    if len(message.event_id) != 16:
        raise FeedBroken(f"{where}: an event id has 16 bytes, not {len(message.event_id)}")
    return RecordedEvent(
        message.stream,
        message.stream_position,
        message.shard,
        message.shard_position,
        UUID(bytes=message.event_id),
        message.type,
        message.content,
        message.prev_hash,
        content_hash,
        digest,
        message.recorded_at.ToDatetime(dt.UTC),
    )


def filter_to_proto(wanted: EventFilter) -> feed_pb2.EventFilter:
    """Which events are wanted. Raises ValueError for one that wants none: the feed cannot say that."""
    if wanted.categories == frozenset() or wanted.types == frozenset():
        raise ValueError("a filter wants some category and some type, or leaves them out")
    return feed_pb2.EventFilter(categories=sorted(wanted.categories or ()), types=sorted(wanted.types or ()))


def filter_from_proto(message: feed_pb2.EventFilter) -> EventFilter:
    """Which events are wanted: an empty list wants all."""
    return EventFilter(
        frozenset(message.categories) if message.categories else None,
        frozenset(message.types) if message.types else None,
    )


def page_from_proto(shard: int, after: int, message: feed_pb2.ReadShardResponse, *, whole: bool) -> Page:
    """A page that was asked for after a position. `whole`: every event was wanted. Raises FeedBroken."""
    events = tuple([event_from_proto(one) for one in message.events])
    at = after
    for event in events:
        if event.shard != shard:
            raise FeedBroken(f"shard {shard}: an event of shard {event.shard} came")
        if event.shard_position <= at or (whole and event.shard_position != at + 1):
            raise FeedBroken(f"shard {shard}: position {event.shard_position} came after {at}")
        at = event.shard_position
    if message.through < at or (whole and message.through != at):
        raise FeedBroken(f"shard {shard}: a page up to {message.through} ended at {at}")
    return Page(shard, after, message.through, events, _epoch(message.epoch), message.head)


def page_to_proto(page: Page) -> feed_pb2.ReadShardResponse:
    """A page of a log at hand, which knows its head and epoch."""
    assert page.head is not None  # noqa: S101 - a page that was read knows where its shard ends
    assert page.epoch is not None  # noqa: S101 - likewise its epoch
    return feed_pb2.ReadShardResponse(
        events=[event_to_proto(event) for event in page.events],
        through=page.through,
        head=page.head,
        epoch=page.epoch,
    )


def heads_to_proto(service: str, heads: dict[int, SourceHead], epoch: int) -> feed_pb2.HeadsResponse:
    """Where the shards end."""
    return feed_pb2.HeadsResponse(
        service=service,
        heads=[
            event_pb2.ShardHead(shard=shard, position=head.position, hash=head.hash or b"")
            for shard, head in sorted(heads.items())
        ],
        epoch=epoch,
    )


def heads_from_proto(service: str, message: feed_pb2.HeadsResponse) -> dict[int, SourceHead]:
    """Where the shards of this service end. Raises FeedBroken, also for another service's."""
    if message.service != service:
        raise FeedBroken(f"this is the log of {message.service!r}, and not of {service!r}")
    epoch = _epoch(message.epoch)
    heads = {one.shard: SourceHead(one.position, one.hash or None, epoch) for one in message.heads}
    if len(message.heads) != SHARDS or heads.keys() != set(range(SHARDS)):
        raise FeedBroken(f"the heads of {len(message.heads)} shards came, and there are {SHARDS}")
    if any(head.position < 0 or (head.hash is not None and len(head.hash) != 32) for head in heads.values()):
        raise FeedBroken("a head is below 0, or has a hash of another length than 32 bytes")
    return heads


def _epoch(epoch: int) -> int:
    if epoch < 1:
        raise FeedBroken(f"an epoch is 1 or more, not {epoch}")
    return epoch
