from __future__ import annotations

from collections.abc import Callable
from typing import Any

import asyncpg
import grpc
import pytest

from eventstore import EventFilter, Expect
from eventstore.coordination.epoch import begin_epoch
from eventstore.errors import HistoryDetached, LogBroken
from eventstore.memory import MemoryEventStore
from eventstore.port import Reader
from messaging.feed import (
    FEED,
    FeedBroken,
    FeedError,
    FeedHistoryDetached,
    FeedRefused,
    FeedUnavailable,
    GrpcFeed,
    LogFeed,
    ReaderEnds,
)
from messaging.feed.codec import event_from_proto, event_to_proto, heads_from_proto, page_from_proto
from servicekit.grpc import open_channel
from tests.eventstore.samples import events, stream_of_shard
from tests.messaging.feed.conftest import ONE_TRY, SERVICE, Served, over_grpc
from upcard.feed.v1 import event_feed_pb2 as feed_pb2
from upcard.feed.v1 import event_feed_pb2_grpc as feed_grpc
from upcard.log.v1 import event_pb2


class Failing(LogFeed):
    """A feed whose log fails."""

    def __init__(self, error: Exception) -> None:
        log: Reader = MemoryEventStore()
        super().__init__(SERVICE, log, ReaderEnds(log))
        self._error = error

    async def read_shard(self, *_: Any, **__: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "raised", "slug"),
    [
        (HistoryDetached("gone"), FeedHistoryDetached, "history_detached"),
        (LogBroken("gap"), FeedRefused, "feed_refused"),
        (ValueError("no such shard"), FeedRefused, "feed_refused"),
        (asyncpg.CannotConnectNowError("starting"), FeedUnavailable, "feed_unavailable"),
    ],
    ids=["detached", "broken", "wrong", "database"],
)
async def test_a_failure_of_the_log_is_told_by_its_kind(
    error: Exception, raised: type[FeedError], slug: str
) -> None:
    async with over_grpc(Failing(error)) as feed:
        with pytest.raises(raised) as caught:
            await feed.read_shard(1, after=0)
    assert caught.value.slug == slug


async def test_what_cannot_be_asked_is_refused(grpc_feed: Served) -> None:
    for ask in (
        lambda: grpc_feed.feed.read_shard(64, after=0),
        lambda: grpc_feed.feed.read_shard(1, after=-1),
        lambda: grpc_feed.feed.read_shard(1, after=0, limit=1_001),
        lambda: grpc_feed.feed.read_shard(
            1, after=0, wanted=EventFilter(types=frozenset(map(str, range(257))))
        ),
        lambda: grpc_feed.feed.hash_at(1, 0),
    ):
        with pytest.raises(FeedRefused, match="INVALID_ARGUMENT"):
            await ask()
    with pytest.raises(ValueError, match="wants some category"):
        await grpc_feed.feed.read_shard(1, after=0, wanted=EventFilter(categories=frozenset()))


async def test_nobody_there_is_unavailable() -> None:
    async with open_channel("127.0.0.1:1", audience=SERVICE, services=[FEED], settings=ONE_TRY) as channel:
        with pytest.raises(FeedUnavailable):
            await GrpcFeed(channel, SERVICE, timeout_s=5).heads()


async def test_the_log_of_another_service_is_not_taken_for_this_one(memory_feed: Served) -> None:
    assert isinstance(memory_feed.feed, LogFeed)
    async with over_grpc(memory_feed.feed, "wallet") as feed:
        with pytest.raises(FeedBroken, match="this is the log of 'table', and not of 'wallet'"):
            await feed.heads()


async def test_a_new_epoch_is_told_by_every_answer(grpc_feed: Served, database: str) -> None:
    await grpc_feed.log.append(stream_of_shard(5), events(1), expected=Expect.NONE)
    connection = await asyncpg.connect(database)
    try:
        epoch = await begin_epoch(connection, "restored")
    finally:
        await connection.close()
    assert (await grpc_feed.feed.read_shard(5, after=0)).epoch == epoch > 1
    assert {head.epoch for head in (await grpc_feed.feed.heads()).values()} == {epoch}


async def test_a_stream_is_read_in_pages(memory_feed: Served) -> None:
    assert isinstance(memory_feed.feed, LogFeed)
    stream = stream_of_shard(5)
    await memory_feed.log.append(stream, events(120), expected=Expect.NONE)
    async with over_grpc(memory_feed.feed) as feed:
        page = await feed._stub.ReadStream(
            feed_pb2.ReadStreamRequest(stream=stream, after=10, limit=100), timeout=20
        )
        assert [one.stream_position for one in page.events] == list(range(11, 111))
        assert (page.head, page.epoch) == (120, 1)
        at = await feed._stub.EventAt(
            feed_pb2.EventAtRequest(shard=5, shard_position=7, with_content=True), timeout=20
        )
        assert event_from_proto(at.event) == (await memory_feed.log.read_stream(stream, after=6, limit=1))[0]


async def _message() -> event_pb2.RecordedEvent:
    log = MemoryEventStore()
    await log.append(stream_of_shard(5), events(1), expected=Expect.NONE)
    return event_to_proto((await log.read_shard(5)).events[0])


def _changed(**fields: Any) -> Callable[[event_pb2.RecordedEvent], None]:
    def change(message: event_pb2.RecordedEvent) -> None:
        for name, value in fields.items():
            setattr(message, name, value)

    return change


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(_changed(content=b"other"), "the content has another hash", id="content"),
        pytest.param(_changed(content_hash=bytes(32)), "the content has another hash", id="content_hash"),
        pytest.param(_changed(stream_position=2), "hash does not follow", id="position"),
        pytest.param(_changed(prev_hash=bytes(32)), "hash does not follow", id="prev_hash"),
        pytest.param(_changed(hash=bytes(32)), "hash does not follow", id="hash"),
        pytest.param(_changed(shard=6), "the stream belongs in shard 5", id="shard"),
        pytest.param(_changed(event_id=b"short"), "an event id has 16 bytes, not 5", id="id"),
    ],
)
async def test_what_a_log_cannot_hold_is_not_taken(
    spoil: Callable[[event_pb2.RecordedEvent], None], why: str
) -> None:
    message = await _message()
    event_from_proto(message)
    spoil(message)
    with pytest.raises(FeedBroken, match=why):
        event_from_proto(message)


async def test_a_page_that_does_not_fit_the_question_is_not_taken() -> None:
    message = await _message()
    good = feed_pb2.ReadShardResponse(events=[message], through=1, head=1, epoch=1)
    assert page_from_proto(5, 0, good, whole=True).through == 1
    for shard, after, changes, why in (
        (6, 0, {}, "an event of shard 5 came"),
        (5, 1, {"through": 2}, "position 1 came after 1"),
        (5, 0, {"through": 2}, "a page up to 2 ended at 1"),
        (5, 0, {"through": 0}, "a page up to 0 ended at 1"),
        (5, 0, {"epoch": 0}, "an epoch is 1 or more"),
    ):
        wrong = feed_pb2.ReadShardResponse()
        wrong.CopyFrom(good)
        for name, value in changes.items():
            setattr(wrong, name, value)
        with pytest.raises(FeedBroken, match=why):
            page_from_proto(shard, after, wrong, whole=True)
    with pytest.raises(FeedBroken, match="position 1 came after 1"):
        page_from_proto(
            5,
            0,
            feed_pb2.ReadShardResponse(events=[message, message], through=1, head=1, epoch=1),
            whole=False,
        )


def test_heads_that_are_not_of_all_shards_are_not_taken() -> None:
    heads = [event_pb2.ShardHead(shard=shard, position=0) for shard in range(64)]
    heads_from_proto(SERVICE, feed_pb2.HeadsResponse(service=SERVICE, heads=heads, epoch=1))
    for wrong in (heads[:63], [*heads[:63], heads[0]], [*heads, heads[0]]):
        with pytest.raises(FeedBroken, match="and there are 64"):
            heads_from_proto(SERVICE, feed_pb2.HeadsResponse(service=SERVICE, heads=wrong, epoch=1))
    heads[3] = event_pb2.ShardHead(shard=3, position=1, hash=b"short")
    with pytest.raises(FeedBroken, match="of another length"):
        heads_from_proto(SERVICE, feed_pb2.HeadsResponse(service=SERVICE, heads=heads, epoch=1))


async def test_another_event_than_the_one_asked_for_is_not_taken() -> None:
    """A server that answers for the wrong position does not make a fork."""

    class Wrong(feed_grpc.EventFeedServiceServicer):
        async def EventAt(self, request: Any, context: Any) -> feed_pb2.EventAtResponse:  # noqa: ARG002, N802 - as gRPC calls it
            return feed_pb2.EventAtResponse(event=await _message(), head=1, epoch=1)

        ReadShard = ReadStream = Heads = EventAt  # type: ignore[assignment]  # never called

    server = grpc.aio.server()
    feed_grpc.add_EventFeedServiceServicer_to_server(Wrong(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            with pytest.raises(FeedBroken, match="another event than the one at 2 came"):
                await GrpcFeed(channel, SERVICE).hash_at(5, 2)
    finally:
        await server.stop(None)
