"""The consumer: events with an effect in PostgreSQL a second, and how soon an append has its effect.

    python -m benchmarks.bench_consumer [--quick] [--lane embedded|native]

Throughput: everything is published beforehand; a consumer applies it, one row an event, in durable
transactions of up to 500, checking every hash. Beside it the same rows are inserted by a bare loop over the
same batches: no Kafka, no positions, no checks. Latency: one event at a time through append, relay, Kafka and
consumer; the clock stops when the transaction of the effect is committed. What came of it is in
docs/messaging.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from eventstore import SHARDS, Expect, NewEvent, RecordedEvent
from eventstore.following import Applier, Silent
from eventstore.ids import new_event_id
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Connection, Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.consumer import Consumer, ConsumerSettings
from messaging.feed import LogFeed, PostgresEnds
from messaging.migrations import prepare_messaging
from messaging.relay import Relay, RelaySettings
from messaging.topics import TopicSettings
from stack import Lane, Stack
from stack.names import fresh_name

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.eventstore_contestants import CONTENT

SERVICE = "bench"
WANTED_PER_S = 5_000
WANTED_P50_MS = 20.0
BATCH = 500


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    events: int
    single: int


FULL = Sizes(events=100_000, single=300)
QUICK = Sizes(events=4_000, single=20)


class Watch(Silent):
    """Counts what was applied, after the commit."""

    def __init__(self) -> None:
        self.count = 0
        self.began: float | None = None
        self.changed = asyncio.Event()

    def applied(self, follower: str, source: str, events: int, took_s: float) -> None:  # noqa: ARG002 - of the port
        """So many events had their effect."""
        if self.began is None:
            self.began = time.perf_counter() - took_s
        self.count += events
        self.changed.set()

    async def until(self, count: int) -> None:
        """Wait until so many have had their effect."""
        while self.count < count:
            self.changed.clear()
            await self.changed.wait()


async def effect(connection: Connection, events: Sequence[RecordedEvent]) -> None:
    """A row an event."""
    await connection.execute(
        "INSERT INTO public.effects (stream, stream_position, type)"
        " SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])",
        [one.stream for one in events],
        [one.stream_position for one in events],
        [one.type for one in events],
    )


@dataclass(frozen=True)
class Bench:
    """Two databases, a broker, and what runs between them."""

    stack: Stack
    source_pool: Pool
    source: PostgresEventStore
    pool: Pool

    @property
    def broker(self) -> BrokerSettings:
        """How the broker is reached."""
        return BrokerSettings(
            self.stack.addresses.kafka_bootstrap, idempotent_producer=self.stack.facts.idempotent_producer
        )

    @property
    def topics(self) -> TopicSettings:
        """How topics are made."""
        return TopicSettings(self.stack.facts.replication_factor, self.stack.facts.min_insync_replicas)

    def consumer(self, watch: Watch) -> Consumer:
        """A consumer with an effect for each event."""
        embedded = self.stack.facts.lane is Lane.EMBEDDED
        return Consumer(
            Applier(self.pool, "bench", SERVICE, effect, observer=watch),
            LogFeed(SERVICE, self.source, PostgresEnds(self.source_pool)),
            self.broker,
            topic_settings=self.topics,
            settings=ConsumerSettings(fetch_max_wait_ms=20 if embedded else 500),
        )

    @contextlib.asynccontextmanager
    async def relaying(self) -> AsyncIterator[None]:
        """The relay runs."""
        stopping = asyncio.Event()
        relay = Relay(self.source_pool, self.broker, SERVICE, settings=RelaySettings(topics=self.topics))
        task = asyncio.create_task(relay.run(stopping))
        try:
            yield
        finally:
            stopping.set()
            await task

    async def append(self, stream: str, count: int) -> None:
        """Append events to a stream of the source."""
        new = [NewEvent(new_event_id(), "BetPlaced", CONTENT) for _ in range(count)]
        await self.source.append(stream, new, expected=Expect.ANY)

    async def published(self, count: int) -> None:
        """Wait until everything is published."""
        while True:
            done = await self.source_pool.fetchval("SELECT sum(position) FROM messaging.relay_positions")
            if done == count:
                return
            await asyncio.sleep(0.05)


async def bare(bench: Bench, events: Sequence[RecordedEvent]) -> float:
    """The same rows by a loop of nothing but inserts; events a second."""
    began = time.perf_counter()
    async with bench.pool.acquire() as connection:
        for at in range(0, len(events), BATCH):
            async with connection.transaction():
                await effect(connection, events[at : at + BATCH])
    return len(events) / (time.perf_counter() - began)


async def throughput(bench: Bench, sizes: Sizes) -> bool:
    """Apply what was published; print, and tell whether it was quick enough."""
    for n in range(sizes.events // 100):
        await bench.append(f"round-b{n}.1", 100)
    async with bench.relaying():
        await bench.published(sizes.events)
    read = [
        event
        for shard in range(SHARDS)
        for event in (await bench.source.read_shard(shard, limit=10_000)).events
    ]
    bare_per_s = await bare(bench, read)
    watch = Watch()
    consumer = bench.consumer(watch)
    task = asyncio.create_task(consumer.run())
    await watch.until(1)
    cpu, wall, before = time.process_time(), time.perf_counter(), watch.count
    await watch.until(sizes.events)
    wall = time.perf_counter() - wall
    per_s, cores = (sizes.events - before) / wall, (time.process_time() - cpu) / wall
    consumer.stop()
    await task
    print(f"consumer, a row an event   {per_s:>9,.0f} a second   {cores:.2f} cores of this process")
    print(
        f"bare inserts, same batches {bare_per_s:>9,.0f} a second   consumer: {per_s / bare_per_s:.0%} of it"
    )
    return per_s >= WANTED_PER_S


async def latency(bench: Bench, sizes: Sizes) -> bool:
    """One event at a time, idle in between; print, and tell whether it was soon enough."""
    watch = Watch()
    consumer = bench.consumer(watch)
    task = asyncio.create_task(consumer.run())
    taken_ms: list[float] = []
    async with bench.relaying():
        while not consumer.status.connected:  # noqa: ASYNC110 - asked seldom, and only here
            await asyncio.sleep(0.05)
        for n in range(sizes.single):
            before = watch.count
            began = time.perf_counter()
            await bench.append(f"round-l{n % 50}.1", 1)
            await watch.until(before + 1)
            taken_ms.append((time.perf_counter() - began) * 1_000)
            await asyncio.sleep(0.02)
    consumer.stop()
    await task
    cuts = statistics.quantiles(taken_ms, n=100)
    print(f"append to effect, idle     p50 {cuts[49]:.1f} ms   p90 {cuts[89]:.1f} ms   p99 {cuts[98]:.1f} ms")
    return cuts[49] <= WANTED_P50_MS


async def run(lane: Lane, sizes: Sizes) -> bool:
    """Both measurements on servers of their own."""
    async with Stack(lane) as stack:
        source_dsn = await stack.create_database(fresh_name("source"))
        dsn = await stack.create_database(fresh_name("consumer"))
        for address in (source_dsn, dsn):
            connection = await asyncpg.connect(address)
            await prepare_event_log(connection)
            await prepare_messaging(connection)
            await connection.close()
        async with (
            await open_pool(source_dsn, application_name="source") as source_pool,
            await open_pool(dsn, application_name="consumer") as pool,
            PostgresEventStore(source_pool) as source,
        ):
            await pool.execute(
                "CREATE TABLE public.effects (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                " stream text, stream_position bigint, type text)"
            )
            bench = Bench(stack, source_pool, source, pool)
            quick_enough = await throughput(bench, sizes)
            return await latency(bench, sizes) and quick_enough


def main() -> int:
    """Measure and print; 1 when a figure is not reached, which --quick does not judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few events, to see that it works")
    parser.add_argument("--lane", type=Lane, default=Lane.NATIVE, choices=[Lane.EMBEDDED, Lane.NATIVE])
    named = parser.parse_args()
    reached = asyncio.run(run(named.lane, QUICK if named.quick else FULL))
    return 0 if reached or named.quick else 1


if __name__ == "__main__":
    sys.exit(main())
