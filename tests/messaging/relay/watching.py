"""Watching a relay: what it tells, what lies in the topic, and how far it has come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from eventstore import SHARDS, RecordedEvent
from eventstore.postgres import Connection, Pool, PostgresEventStore
from messaging.broker import BrokerSettings
from messaging.envelope import decode
from messaging.relay import Relay, relay_positions

DEADLINE_S = 60.0
PAUSE_S = 0.02


@dataclass
class Watcher:
    """A `RelayObserver` that remembers."""

    tokens: list[int] = field(default_factory=list)
    passives: list[str] = field(default_factory=list)
    events: int = 0
    stores: int = 0
    lags: list[int] = field(default_factory=list)
    resets: list[tuple[int, int]] = field(default_factory=list)
    shard_failures: list[tuple[int, Exception]] = field(default_factory=list)
    connection_failures: list[Exception] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def active(self, token: int) -> None:
        self.tokens.append(token)

    def passive(self, reason: str) -> None:
        self.passives.append(reason)

    def acknowledged(self, shard: int, events: int, through: int) -> None:
        assert 0 <= shard < SHARDS
        assert through >= events
        self.events += events

    def stored(self, shards: int) -> None:
        assert 0 <= shards <= SHARDS
        self.stores += 1

    def lag(self, events: int) -> None:
        assert events >= 0
        self.lags.append(events)

    def reset(self, shard: int, position: int) -> None:
        self.resets.append((shard, position))

    def shard_failed(self, shard: int, error: Exception, pause_s: float) -> None:
        assert pause_s > 0
        self.shard_failures.append((shard, error))

    def connection_failed(self, error: Exception, pause_s: float) -> None:
        assert pause_s > 0
        self.connection_failures.append(error)

    def topic_differs(self, what: str) -> None:
        self.differences.append(what)


async def until(condition: Callable[[], object], what: str) -> None:
    """Wait until something is true, up to the deadline."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not condition():  # noqa: ASYNC110 - what is waited for is elsewhere, and tells nobody
                await asyncio.sleep(PAUSE_S)
    except TimeoutError:
        raise AssertionError(f"not within {DEADLINE_S} s: {what}") from None


@contextlib.asynccontextmanager
async def running(relay: Relay) -> AsyncIterator[asyncio.Event]:
    """A relay that runs; at the end it is told to stop, and has to. When it fails, so does the body."""
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(relay.run(stopping))
        yield stopping
        stopping.set()
        async with asyncio.timeout(DEADLINE_S):
            await task


async def until_published(pool: Pool, topic: str) -> None:
    """Wait until the stored positions of a topic are the heads."""
    async with asyncio.timeout(DEADLINE_S), pool.acquire() as connection:
        while any(one.lag for one in await relay_positions(connection, topic)):  # noqa: ASYNC110 - as above
            await asyncio.sleep(PAUSE_S)


async def until_shard_published(connection: Connection, topic: str, shard: int) -> None:
    """Wait until the stored position of one shard is its head."""
    async with asyncio.timeout(DEADLINE_S):
        while (await relay_positions(connection, topic))[shard].lag:  # noqa: ASYNC110 - it is asked of the database
            await asyncio.sleep(0.02)


async def records(broker: BrokerSettings, topic: str) -> dict[int, list[ConsumerRecord[bytes, bytes]]]:
    """Everything that lies in a topic, by partition, in its order."""
    consumer = AIOKafkaConsumer(**broker.client_options(), enable_auto_commit=False)
    found: dict[int, list[ConsumerRecord[bytes, bytes]]] = {n: [] for n in range(SHARDS)}
    try:
        await consumer.start()
        partitions = [TopicPartition(topic, n) for n in range(SHARDS)]
        consumer.assign(partitions)
        async with asyncio.timeout(DEADLINE_S):
            await consumer.seek_to_beginning(*partitions)
            missing = {
                partition: end
                for partition, end in (await consumer.end_offsets(partitions)).items()
                if end > 0
            }
            while missing:
                for partition, batch in (await consumer.getmany(timeout_ms=200)).items():
                    found[partition.partition] += batch
                for partition in list(missing):
                    if await consumer.position(partition) >= missing[partition]:
                        del missing[partition]
    finally:
        await consumer.stop()
    return found


def events_of(found: dict[int, list[ConsumerRecord[bytes, bytes]]]) -> dict[int, list[RecordedEvent]]:
    """The events in the records of each partition, decoded and checked."""
    return {
        partition: [
            decode(
                service="table",
                partition=one.partition,
                key=one.key,
                value=one.value,
                headers=one.headers,
            ).event
            for one in batch
        ]
        for partition, batch in found.items()
    }


async def log_of(store: PostgresEventStore) -> dict[int, list[RecordedEvent]]:
    """The whole log, by shard."""
    found: dict[int, list[RecordedEvent]] = {}
    for shard in range(SHARDS):
        found[shard], after = [], 0
        while (page := await store.read_shard(shard, after=after)).events:
            found[shard] += page.events
            after = page.through
    return found


def first_times(published: list[RecordedEvent]) -> list[RecordedEvent]:
    """What a consumer makes of it: every event when it comes for the first time; a gap is a failure."""
    taken: list[RecordedEvent] = []
    for one in published:
        if one.shard_position == len(taken) + 1:
            taken.append(one)
        else:
            assert one.shard_position <= len(taken), "a gap"
            assert one == taken[one.shard_position - 1], "a fork"
    return taken


async def assert_all_published(store: PostgresEventStore, broker: BrokerSettings, topic: str) -> int:
    """Every event of the log lies in the topic, in its order; how many records more there are."""
    log = await log_of(store)
    published = events_of(await records(broker, topic))
    for shard in range(SHARDS):
        assert first_times(published[shard]) == log[shard]
    return sum(map(len, published.values())) - sum(map(len, log.values()))
