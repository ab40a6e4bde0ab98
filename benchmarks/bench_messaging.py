"""The relay beside a bare aiokafka producer: the same records, the same broker, in one run.

    python -m benchmarks.bench_messaging [--quick] [--lane embedded|native]

The bare producer has all records in memory, made beforehand, and only sends; the relay reads them from the
log, makes headers and batches, sends, and stores positions durably. Contestants take turns; each is judged by
the median of its turns. What came of it is in docs/relay.md.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from aiokafka import AIOKafkaProducer

from eventstore import SHARDS, Expect, NewEvent, RecordedEvent
from eventstore.ids import new_event_id
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.envelope import headers_of, key_of
from messaging.migrations import prepare_messaging
from messaging.relay import Relay, RelaySettings, relay_positions
from messaging.topics import TopicSettings, ensure_topics, events_topic
from stack import Lane, Stack
from stack.names import fresh_name

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.eventstore_contestants import CONTENT

SERVICE = "bench"
WANTED = 0.5


@dataclass(frozen=True)
class Sizes:
    """How much is done in one turn."""

    turns: int
    events: int


FULL = Sizes(turns=5, events=60_000)
QUICK = Sizes(turns=1, events=2_000)


@dataclass(frozen=True)
class Measured:
    """Events a second, and how much of a core this process took."""

    per_s: float
    cores: float


async def timed(events: int, work: Callable[[], Awaitable[object]]) -> Measured:
    """Run the work once."""
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    wall = time.perf_counter() - wall
    return Measured(events / wall, (time.process_time() - cpu) / wall)


class Rivals:
    """Both contestants, and the log that they publish."""

    def __init__(self, pool: Pool, broker: BrokerSettings, topics: TopicSettings, events: int) -> None:
        self._pool = pool
        self._broker = broker
        self._topics = topics
        self._events = events
        self._log: list[RecordedEvent] = []

    async def fill(self, streams: int) -> None:
        """A log of so many streams, in all shards."""
        async with PostgresEventStore(self._pool) as store:
            each = min(self._events // streams, 1_000)
            for n in range(self._events // each):
                batch = [NewEvent(new_event_id(), "BetPlaced", CONTENT) for _ in range(each)]
                await store.append(f"round-b{n % streams}.1", batch, expected=Expect.ANY)
            for shard in range(SHARDS):
                after = 0
                while (page := await store.read_shard(shard, after=after, limit=5_000)).events:
                    self._log += page.events
                    after = page.through
        self._events = len(self._log)

    @property
    def events(self) -> int:
        """How many there are."""
        return self._events

    async def topic(self) -> str:
        """A new topic whose partitions all have a leader: a broker takes a while to make one."""
        name = fresh_name("bench").replace("_", "-")
        await ensure_topics(self._broker, [events_topic(name, self._topics)])
        async with AIOKafkaProducer(**self._broker.client_options(), acks="all") as producer:
            sent = [await producer.send(name, b"first", partition=partition) for partition in range(SHARDS)]
            await asyncio.gather(*sent)
        return name

    async def bare(self) -> Measured:
        """Send records that lie ready, in turn to all partitions, as fast as the producer takes them."""
        topic = await self.topic()
        records = [
            (key_of(event), event.content, event.shard, headers_of(event, SERVICE, 1))
            for event in sorted(self._log, key=lambda one: (one.shard_position, one.shard))
        ]
        settings = RelaySettings()
        async with AIOKafkaProducer(
            **self._broker.client_options(),
            acks="all",
            enable_idempotence=self._broker.idempotent_producer,
            max_batch_size=settings.batch_bytes,
        ) as producer:
            await producer.partitions_for(topic)

            async def send() -> None:
                sent = [
                    await producer.send(topic, value, key=key, partition=partition, headers=headers)
                    for key, value, partition, headers in records
                ]
                await asyncio.gather(*sent)

            return await timed(len(records), send)

    async def relay(self) -> Measured:
        """Publish the log from its beginning, up to the last stored position."""
        topic = await self.topic()
        stopping = asyncio.Event()
        relay = Relay(
            self._pool, self._broker, SERVICE, topic=topic, settings=RelaySettings(topics=self._topics)
        )

        async def publish() -> None:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(relay.run(stopping))
                async with self._pool.acquire() as connection:
                    while any(one.lag for one in await relay_positions(connection, topic)):  # noqa: ASYNC110 - it tells nobody
                        await asyncio.sleep(0.005)
                stopping.set()
                await running

        return await timed(self._events, publish)


def show(title: str, measured: dict[str, list[Measured]]) -> None:
    """Medians, and the relay's share of the bare producer's."""
    print(f"\n{title}")
    medians = {name: statistics.median(one.per_s for one in turns) for name, turns in measured.items()}
    for name, turns in measured.items():
        cores = statistics.median(one.cores for one in turns)
        print(f"  {name:<32} {medians[name]:>9,.0f} events/s   this process {cores:.2f} cores")
    share = medians["relay"] / medians["bare aiokafka producer"]
    verdict = "yes" if share >= WANTED else "NO"
    print(f"  relay / bare = {share:.2f} (wanted >= {WANTED:g}: {verdict})")


async def run(sizes: Sizes, lane: Lane) -> None:
    """Everything, on servers of its own."""
    async with Stack(lane) as stack:
        facts = stack.facts
        broker = BrokerSettings(
            stack.addresses.kafka_bootstrap, idempotent_producer=facts.idempotent_producer
        )
        topics = TopicSettings(facts.replication_factor, facts.min_insync_replicas)
        print(f"broker: {lane.value} lane, idempotent producer: {facts.idempotent_producer}")
        for streams, title in ((640, "A backlog over all shards"), (1, "A backlog in one stream")):
            dsn = await stack.databases.create(fresh_name("bench"))
            owner = await asyncpg.connect(dsn)
            await prepare_event_log(owner)
            await prepare_messaging(owner)
            await owner.close()
            async with await open_pool(dsn, application_name="bench") as pool:
                rivals = Rivals(pool, broker, topics, sizes.events)
                await rivals.fill(streams)
                measured: dict[str, list[Measured]] = {"bare aiokafka producer": [], "relay": []}
                for _ in range(sizes.turns):
                    measured["bare aiokafka producer"].append(await rivals.bare())
                    measured["relay"].append(await rivals.relay())
                show(f"{title}: {rivals.events:,} events of {len(CONTENT)} bytes", measured)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only prove that it runs")
    parser.add_argument("--lane", choices=list(Lane), default=Lane.EMBEDDED, type=Lane)
    arguments = parser.parse_args()
    asyncio.run(run(QUICK if arguments.quick else FULL, arguments.lane))


if __name__ == "__main__":
    main()
