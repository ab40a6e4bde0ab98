"""Another service with its log and its topic, and consumers of it whose effects are rows of a table."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka import AIOKafkaProducer

from eventstore import EVERYTHING, EventFilter, Expect, NewEvent, RecordedEvent, StreamAppend
from eventstore.following import Applier, Handler, Page, Policy, SourceHead
from eventstore.ids import new_event_id
from eventstore.memory import MemoryEventStore
from eventstore.port import EventStore
from eventstore.postgres import Connection, Pool
from messaging.broker import BrokerSettings
from messaging.broker_producer import MAX_REQUEST_BYTES
from messaging.consumer import Consumer, ConsumerObserver, ConsumerSettings
from messaging.dead_letters.sender import DeadLetterSender
from messaging.envelope import headers_of, key_of
from messaging.feed import Ends, FeedUnavailable, LogFeed, ReaderEnds
from messaging.topics import TopicSettings, dead_letter_topic_of

SERVICE = "table"
FOLLOWER = "wallet"
MAKE_EFFECTS = """
CREATE TABLE public.effects (
    id bigint GENERATED ALWAYS AS IDENTITY, stream text, stream_position bigint, shard int,
    shard_position bigint, by text
)
"""
SETTINGS = ConsumerSettings(
    poll_s=0.5,
    session_timeout_ms=1_000,
    rebalance_timeout_ms=2_000,
    commit_interval_s=0.3,
    broker_first_pause_s=0.1,
    broker_longest_pause_s=0.5,
    broker_timeout_s=10.0,
    topics_interval_s=0.3,
    fetch_max_wait_ms=50,
    heads_interval_s=0.2,
    hashes_interval_s=1.0,
    leave_timeout_s=20.0,
    fill_first_pause_s=0.05,
    fill_longest_pause_s=0.3,
    retry_interval_s=0.1,
    database_pause_s=0.1,
    without_broker_after_s=2.0,
)
QUICK = Policy(attempts=2, first_pause_s=0.001, longest_pause_s=0.01, away_tries=2)


def an_event(content: bytes = b"{}", kind: str = "Opened") -> NewEvent:
    return NewEvent(new_event_id(), kind, content)


class Source:
    """The other service: a log, a feed of it, and a topic to which only the test publishes."""

    def __init__(self, broker: BrokerSettings, topic: str) -> None:
        self.broker = broker
        self.topic = topic
        self.log: EventStore = MemoryEventStore()
        self.ends: Ends = ReaderEnds(self.log)
        self.feed = WatchedFeed(self)
        self.published = [0] * 64
        self._producer: Any = None

    def begin_epoch(self, epoch: int) -> None:
        """From now on the log says that it is in this epoch."""
        self.ends = ReaderEnds(self.log, epoch=epoch)

    async def append(self, stream: str, count: int = 1, kind: str = "Opened") -> None:
        """Append events to one stream."""
        new = [an_event(b'{"n":%d}' % n, kind) for n in range(count)]
        await self.log.append(stream, new, expected=Expect.ANY)

    async def append_to_all(self, streams: Sequence[str], count: int = 1) -> None:
        """Append events to each of these streams."""
        for stream in streams:
            await self.append(stream, count)

    async def total(self) -> int:
        """How many events there are."""
        return sum(await self.log.shard_heads())

    async def publish(self, *, shards: Collection[int] = range(64), leave_out: Collection[int] = ()) -> None:
        """Publish what has not been published, but for these shard positions."""
        await self.send(
            [
                event
                for shard in shards
                for event in await self.events(shard, self.published[shard])
                if event.shard_position not in leave_out
            ]
        )
        for shard, head in enumerate(await self.log.shard_heads()):
            if shard in shards:
                self.published[shard] = head

    async def events(self, shard: int, after: int = 0) -> tuple[RecordedEvent, ...]:
        """Events of a shard after a position."""
        return (await self.log.read_shard(shard, after=after, limit=10_000)).events

    async def send(self, events: Sequence[RecordedEvent], *, epoch: int | None = None) -> None:
        """Publish these events, in this order."""
        number = await self.ends.epoch() if epoch is None else epoch
        await self.send_records(
            [
                (event.shard, key_of(event), event.content, headers_of(event, SERVICE, number))
                for event in events
            ]
        )

    async def send_records(
        self, records: Sequence[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]]
    ) -> None:
        """Publish records, whatever is in them."""
        producer = await self._connected()
        sent = [
            await producer.send(self.topic, value, key=key, partition=partition, headers=headers)
            for partition, key, value, headers in records
        ]
        await producer.flush()
        await asyncio.gather(*sent)

    async def send_dead_letter(self, value: bytes) -> None:
        """Send a record to the topic of dead letters, whatever is in it."""
        producer = await self._connected()
        await producer.send_and_wait(dead_letter_topic_of(self.topic), value, partition=0)

    async def close(self) -> None:
        """Disconnect from the broker."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def _connected(self) -> Any:
        if self._producer is None:
            self._producer = AIOKafkaProducer(
                **self.broker.client_options(), acks="all", max_request_size=MAX_REQUEST_BYTES
            )
            await self._producer.start()
        return self._producer


class WatchedFeed(LogFeed):
    """The source's feed; a test can see who asks, and switch it off."""

    def __init__(self, source: Source) -> None:
        super().__init__(SERVICE, source.log, source.ends)
        self._source = source
        self.pages: list[tuple[int, int]] = []
        self.away = False

    async def read_shard(
        self, shard: int, *, after: int, limit: int = 500, wanted: EventFilter = EVERYTHING
    ) -> Page:
        self._look()
        self.pages.append((shard, after))
        # As it is now: a test may have exchanged the log.
        return await LogFeed(SERVICE, self._source.log, self._source.ends).read_shard(
            shard, after=after, limit=limit, wanted=wanted
        )

    async def heads(self) -> dict[int, SourceHead]:
        self._look()
        return await self._source.ends.heads()

    async def hash_at(self, shard: int, position: int) -> bytes | None:
        self._look()
        return await LogFeed(SERVICE, self._source.log, self._source.ends).hash_at(shard, position)

    def _look(self) -> None:
        if self.away:
            raise FeedUnavailable("switched off")


@dataclass
class Seen:
    """An observer that remembers what it was told."""

    notes: list[tuple[object, ...]] = field(default_factory=list)

    def garbage(self, topic: str, partition: int, offset: int, why: str) -> None:  # noqa: ARG002 - of the port
        self.notes.append(("garbage", partition, why))

    def missing(self, shard: int, events: int, *, tail: bool) -> None:
        self.notes.append(("tail" if tail else "gap", shard, events))

    def filled(self, shard: int, events: int) -> None:
        self.notes.append(("filled", shard, events))

    def forked(self, shard: int, why: str) -> None:
        self.notes.append(("forked", shard, why))

    def assigned(self, shards: int, *, by_group: bool) -> None:
        self.notes.append(("assigned", shards, by_group))

    def topic_differs(self, difference: str) -> None:
        self.notes.append(("topic", difference))

    def trouble(self, what: str, error: BaseException) -> None:
        self.notes.append(("trouble", what, error))

    def dead_letters(self, sent: int) -> None:
        self.notes.append(("dead_letters", sent))

    def of(self, what: str) -> list[tuple[object, ...]]:
        """The notes of one kind."""
        return [note[1:] for note in self.notes if note[0] == what]


def recording(by: str = "") -> Handler:
    """A handler whose effect is a row an event."""

    async def record(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        await connection.execute(
            "INSERT INTO public.effects (stream, stream_position, shard, shard_position, by)"
            " SELECT *, $5 FROM unnest($1::text[], $2::bigint[], $3::int[], $4::bigint[])",
            [one.stream for one in events],
            [one.stream_position for one in events],
            [one.shard for one in events],
            [one.shard_position for one in events],
            by,
        )
        return None

    return record


@dataclass
class World:
    """A source, and a database to follow it in."""

    source: Source
    pool: Pool
    broker: BrokerSettings
    topic_settings: TopicSettings
    seen: Seen = field(default_factory=Seen)

    def consumer(  # noqa: PLR0913 - each test names one or two of them
        self,
        handler: Handler | None = None,
        *,
        policy: Policy = QUICK,
        wanted: EventFilter = EVERYTHING,
        group: str = FOLLOWER,
        seen: Seen | None = None,
        applier: Applier | None = None,
        observer: ConsumerObserver | None = None,
        **changes: Any,
    ) -> Consumer:
        """A consumer of the source; `changes` of its settings."""
        own = Applier(self.pool, FOLLOWER, SERVICE, handler or recording(), policy=policy)
        return Consumer(
            applier or own,
            self.source.feed,
            self.broker,
            topic=self.source.topic,
            group=f"{self.source.topic}-{group}",
            wanted=wanted,
            topic_settings=self.topic_settings,
            settings=replace(SETTINGS, **changes),
            observer=observer or seen or self.seen,
            dead_letters=DeadLetterSender(self.pool, self.broker, FOLLOWER, SERVICE, topic=self.source.topic),
        )

    async def effects(self) -> list[tuple[int, int]]:
        """Shard and position of all that has had its effect, in its order."""
        rows = await self.pool.fetch("SELECT shard, shard_position FROM public.effects ORDER BY id")
        return [(row["shard"], row["shard_position"]) for row in rows]

    async def all_applied(self) -> bool:
        """Whether as many effects are there as the log has events."""
        count: int = await self.pool.fetchval("SELECT count(*) FROM public.effects")
        return count >= await self.source.total()

    async def assert_once_and_in_order(self) -> None:
        """Every event of the log has had its effect once, each shard's in its order."""
        by_shard: dict[int, list[int]] = {}
        for shard, position in await self.effects():
            by_shard.setdefault(shard, []).append(position)
        heads = await self.source.log.shard_heads()
        assert by_shard == {shard: list(range(1, head + 1)) for shard, head in enumerate(heads) if head > 0}


@contextlib.asynccontextmanager
async def running(*consumers: Consumer) -> AsyncIterator[None]:
    """Consumers that run, and are stopped properly at the end; what they raise is raised."""
    tasks = [asyncio.create_task(consumer.run()) for consumer in consumers]
    try:
        yield
        for consumer in consumers:
            consumer.stop()
        async with asyncio.timeout(30):
            await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
