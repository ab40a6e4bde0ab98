"""What only Apache Kafka does: it refuses batches, and remembers producers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from eventstore import Expect
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.migrations import prepare_messaging
from messaging.relay import Relay, RelaySettings, relay_positions
from messaging.topics import TopicSettings, ensure_topics, events_topic
from stack import Lane, Settings, Stack
from stack.folders import folder_for_tests
from stack.names import fresh_name
from tests.eventstore.samples import event, events, stream_of_shard
from tests.messaging.conftest import settings_for
from tests.messaging.relay.rig import TOPIC, Rig, fill, private_relay
from tests.messaging.relay.watching import (
    Watcher,
    assert_all_published,
    events_of,
    records,
    running,
    until,
    until_published,
    until_shard_published,
)

pytestmark = pytest.mark.native


async def test_a_topic_that_takes_less_than_a_batch(
    rig: Rig, broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> None:
    """Batches are halved until they fit. An event that never fits stops its shard; the others go on."""
    topic = unique_topic("narrow")
    narrow = TopicSettings(
        topic_settings.replication_factor, topic_settings.min_insync_replicas, max_message_bytes=30_000
    )
    await ensure_topics(broker, [events_topic(topic, narrow)])
    watcher = Watcher()
    relay = Relay(
        rig.pool,
        broker,
        "table",
        topic=topic,
        settings=RelaySettings(topics=None, poll_interval_s=0.1, first_pause_s=0.05, longest_pause_s=0.2),
        observer=watcher,
    )
    fitting = [event(b"x" * 5_000) for _ in range(40)]
    await rig.store.append(stream_of_shard(5), fitting, expected=0)
    await rig.store.append(stream_of_shard(6), [event(), event(b"x" * 50_000), event()], expected=0)
    async with running(relay), rig.pool.acquire() as connection:
        await until_shard_published(connection, topic, 5)
        await until(lambda: len([1 for shard, _ in watcher.shard_failures if shard == 6]) > 2, "it is stuck")
        await rig.store.append(stream_of_shard(7), events(3), expected=0)
        await until_shard_published(connection, topic, 7)
        assert (await relay_positions(connection, topic))[6].position == 1, (
            "what comes before it is published"
        )
    found = events_of(await records(broker, topic))
    for shard in (5, 7):
        published = [one.shard_position for one in found[shard]]
        head = (await rig.store.shard_heads())[shard]
        assert sorted(set(published)) == list(range(1, head + 1))
    assert {one.shard_position for one in found[6]} == {1}


async def test_a_broker_that_lost_everything(private_stack: Stack, private_pool: Pool) -> None:
    """It knows neither the topic nor the producer's sequence numbers any more."""
    watcher = Watcher()
    async with PostgresEventStore(private_pool) as store:
        await fill(store)
        async with running(private_relay(private_stack, private_pool, watcher)):
            await until_published(private_pool, TOPIC)
            before = await store.shard_heads()
            await asyncio.to_thread(private_stack.wipe_broker)
            await store.append("table-t1", events(1), expected=Expect.ANY)
            await until_published(private_pool, TOPIC)
            await fill(store)
            await until_published(private_pool, TOPIC)
        found = events_of(await records(settings_for(private_stack), TOPIC))
        for shard, head in enumerate(await store.shard_heads()):
            published = {one.shard_position for one in found[shard]}
            assert published >= set(range(before[shard] + 1, head + 1))


async def test_a_broker_that_stands_still_for_a_while(private_stack: Stack, private_pool: Pool) -> None:
    """No error, no answer: what is not acknowledged in time is sent again over a new connection."""
    watcher = Watcher()
    async with PostgresEventStore(private_pool) as store:
        await fill(store)
        async with running(private_relay(private_stack, private_pool, watcher)):
            await until_published(private_pool, TOPIC)
            await asyncio.to_thread(private_stack.broker.pause)
            await fill(store)
            await until(lambda: watcher.connection_failures, "it has noticed")
            await asyncio.to_thread(private_stack.broker.resume)
            await until_published(private_pool, TOPIC)
        await assert_all_published(store, settings_for(private_stack), TOPIC)


@pytest.fixture
def three_brokers() -> Iterator[Stack]:
    """A cluster: every partition on three brokers, of which two have to have a record."""
    with Stack(Settings(Lane.NATIVE, brokers=3), temporary_in=folder_for_tests()) as stack:
        yield stack


async def test_one_broker_of_three_dies(three_brokers: Stack) -> None:
    """Its partitions get other leaders, and nobody has to do anything."""
    dsn = await three_brokers.databases.create(fresh_name("relay"))
    watcher = Watcher()
    async with await open_pool(dsn, application_name="relay-test") as pool:
        async with pool.acquire() as connection:
            await prepare_event_log(connection)
            await prepare_messaging(connection)
        async with PostgresEventStore(pool) as store:
            await fill(store)
            async with running(private_relay(three_brokers, pool, watcher)):
                await until_published(pool, TOPIC)
                await asyncio.to_thread(three_brokers.brokers[0].kill)
                await fill(store)
                await until_published(pool, TOPIC)
                await asyncio.to_thread(three_brokers.brokers[0].start)
                await fill(store)
                await until_published(pool, TOPIC)
            await assert_all_published(store, settings_for(three_brokers), TOPIC)
    assert watcher.tokens == [1]
