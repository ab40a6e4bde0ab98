"""Brokers and databases that are killed, wiped, paused or never there: that costs time, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore.following import DatabaseAway
from eventstore.migrations import prepare_event_log
from eventstore.postgres import open_pool
from messaging.broker import BrokerSettings
from messaging.broker_producer import open_producer
from messaging.topics import ensure_topics, topics_of
from stack import Stack
from tests.eventstore.samples import stream_of_shard
from tests.messaging.conftest import settings_for, topic_settings_for
from tests.messaging.consumer.world import MAKE_EFFECTS, Source, World, running
from tests.messaging.waiting import until

STREAMS = [stream_of_shard(shard) for shard in range(0, 64, 3)]


@pytest.fixture
async def private_world(private_stack: Stack, unique_topic: Callable[[str], str]) -> AsyncIterator[World]:
    """A world on servers of its own."""
    address = private_stack.addresses.postgres_dsn
    connection = await asyncpg.connect(address)
    await prepare_event_log(connection)
    await connection.execute(MAKE_EFFECTS)
    await connection.close()
    broker, topic_settings = settings_for(private_stack), topic_settings_for(private_stack)
    topic = unique_topic("private")
    await ensure_topics(broker, topics_of(topic, topic_settings))
    source = Source(broker, topic)
    async with await open_pool(address, application_name="consumer", max_size=8) as pool:
        yield World(source, pool, broker, topic_settings)
    await source.close()


async def test_a_broker_that_lost_everything_costs_only_time(
    private_world: World, private_stack: Stack
) -> None:
    world = private_world
    await world.source.append_to_all(STREAMS, 5)
    await world.source.publish()
    async with running(world.consumer()):
        await until(world.all_applied)
        await world.source.close()
        private_stack.broker.kill()
        await world.source.append_to_all(STREAMS, 5)  # of which Kafka never hears
        await asyncio.to_thread(private_stack.wipe_broker)
        # It is not long until the topic is there again, though nobody but the consumer is here to make it.
        await until(world.all_applied)
        await until(lambda: world.seen.of("assigned")[1:][-1:] == [(64, True)], timeout_s=60)
        world.source.published = list(await world.source.log.shard_heads())
        await until(lambda: _kafka_brings_them(world), timeout_s=60)
    await world.assert_once_and_in_order()


async def test_a_broker_that_hangs_stops_nothing(private_world: World, private_stack: Stack) -> None:
    world = private_world
    consumer = world.consumer()
    async with running(consumer):
        await until(lambda: consumer.status.shards == 64)
        private_stack.broker.pause()
        try:
            for _ in range(3):
                await world.source.append_to_all(STREAMS, 2)
                await until(world.all_applied)
        finally:
            private_stack.broker.resume()
        await until(lambda: consumer.status.connected, timeout_s=60)
    await world.assert_once_and_in_order()


async def test_a_consumer_ends_though_its_broker_hangs_and_leaves_nothing_behind(
    private_world: World, private_stack: Stack
) -> None:
    world = private_world
    before = asyncio.all_tasks()
    consumer, ending = world.consumer(leave_timeout_s=0.5), asyncio.Event()
    run = asyncio.create_task(consumer.run(ending))
    await until(lambda: consumer.status.shards == 64)
    private_stack.broker.pause()
    try:
        ending.set()
        async with asyncio.timeout(30):
            await run
        await until(lambda: asyncio.all_tasks() <= before)
    finally:
        private_stack.broker.resume()


async def test_a_producer_is_closed_though_its_broker_hangs(
    private_world: World, private_stack: Stack
) -> None:
    before = asyncio.all_tasks()
    with contextlib.suppress(TimeoutError):
        async with open_producer(private_world.broker, start_timeout_s=10, stop_timeout_s=0.2) as producer:
            await producer.send_and_wait(private_world.source.topic, b"before", partition=0)
            private_stack.broker.pause()
            async with asyncio.timeout(0.2):
                await producer.send_and_wait(private_world.source.topic, b"lost?", partition=0)
    private_stack.broker.resume()
    await until(lambda: asyncio.all_tasks() <= before)


async def test_without_any_broker_everything_comes_over_the_feed(world: World) -> None:
    world.broker = BrokerSettings(bootstrap_servers="127.0.0.1:1", retry_backoff_ms=50)
    consumer = world.consumer(without_broker_after_s=0.3)
    async with running(consumer):
        for _ in range(3):
            await world.source.append_to_all(STREAMS, 2)
            await until(world.all_applied)
        assert not consumer.status.connected
    await world.assert_once_and_in_order()
    assert world.seen.of("assigned") == [(64, False)]


async def test_a_database_that_is_killed_and_comes_back(private_world: World, private_stack: Stack) -> None:
    world = private_world
    async with running(world.consumer()):
        await world.source.append_to_all(STREAMS, 3)
        await world.source.publish()
        await until(world.all_applied)
        private_stack.postgres.kill()
        await world.source.append_to_all(STREAMS, 3)
        await world.source.publish()
        await until(lambda: any(isinstance(note[1], DatabaseAway) for note in world.seen.of("trouble")))
        await asyncio.to_thread(private_stack.postgres.start)
        await until(lambda: _all_applied(world))
    await world.assert_once_and_in_order()


async def _kafka_brings_them(world: World) -> bool:
    """Publish a few, and see whether they come without the feed."""
    asked = len(world.source.feed.pages)
    await world.source.append_to_all(STREAMS)
    await world.source.publish()
    await until(world.all_applied)
    return len(world.source.feed.pages) == asked


async def _all_applied(world: World) -> bool:
    try:
        return await world.all_applied()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
