"""Broker or database fail in the middle, or a single shard does: nothing is left out, and others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from aiokafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from eventstore import Expect, LogBroken
from eventstore.postgres import Pool, PostgresEventStore
from messaging.broker import BrokerSettings
from messaging.relay import Relay, relay_positions
from messaging.relay.producer import Batch, Producer
from messaging.topics import Difference, TopicSpec, ensure_topics
from stack import Stack
from tests.eventstore.samples import events, stream_of_shard
from tests.messaging.conftest import settings_for
from tests.messaging.relay.rig import TOPIC, Rig, fill, private_relay
from tests.messaging.relay.watching import (
    DEADLINE_S,
    Watcher,
    assert_all_published,
    events_of,
    records,
    running,
    until,
    until_published,
    until_shard_published,
)

NewRelay = Callable[..., Relay]


async def test_a_broker_that_died_and_came_back(private_stack: Stack, private_pool: Pool) -> None:
    """One that has forgotten everything gets what was not acknowledged; one that keeps its data has all."""
    watcher = Watcher()
    async with PostgresEventStore(private_pool) as store:
        await fill(store)
        async with running(private_relay(private_stack, private_pool, watcher)):
            await until_published(private_pool, TOPIC)
            async with private_pool.acquire() as connection:
                before = {one.shard: one.position for one in await relay_positions(connection, TOPIC)}
            await asyncio.to_thread(private_stack.broker.kill)
            await fill(store)
            await until(lambda: watcher.connection_failures, "it has noticed")
            await asyncio.to_thread(private_stack.broker.start)
            await until_published(private_pool, TOPIC)
            await fill(store)
            await until_published(private_pool, TOPIC)
        if private_stack.facts.broker_keeps_data:
            await assert_all_published(store, settings_for(private_stack), TOPIC)
        found = events_of(await records(settings_for(private_stack), TOPIC))
        for shard, head in enumerate(await store.shard_heads()):
            published = {one.shard_position for one in found[shard]}
            assert published >= set(range(before[shard] + 1, head + 1))
    assert watcher.tokens == [1], "it kept its lease all the time"


async def test_a_stop_while_the_broker_is_away(private_stack: Stack, private_pool: Pool) -> None:
    """What waits for an acknowledgement that cannot come is given up in time."""
    watcher = Watcher()
    async with (
        asyncio.timeout(DEADLINE_S),
        PostgresEventStore(private_pool) as store,
        running(private_relay(private_stack, private_pool, watcher)),
    ):
        await fill(store)
        await until(lambda: watcher.events, "it publishes")
        await asyncio.to_thread(private_stack.broker.kill)
        await fill(store)
        await until(lambda: watcher.lags[-1], "it has seen them")
    assert watcher.passives == ["stopped"]
    async with private_pool.acquire() as connection:
        assert any(one.lag for one in await relay_positions(connection, TOPIC))
    assert [task for task in asyncio.all_tasks() if "Accumulator" in repr(task)] == [], "nothing waits on"


async def test_the_database_dies_and_comes_back(private_stack: Stack, private_pool: Pool) -> None:
    watcher = Watcher()
    async with PostgresEventStore(private_pool) as store:
        await fill(store)
        async with running(private_relay(private_stack, private_pool, watcher)):
            await until_published(private_pool, TOPIC)
            await asyncio.to_thread(private_stack.postgres.kill)
            # Before it is back: one that is back soon enough may never be missed.
            await until(lambda: watcher.connection_failures, "it has noticed")
            await asyncio.to_thread(private_stack.postgres.start)
            await fill(store)
            await until_published(private_pool, TOPIC)
        await assert_all_published(store, settings_for(private_stack), TOPIC)
    assert watcher.tokens == [1]


Send = Callable[[Producer, Batch], "asyncio.Future[object]"]


def broken(error: Exception) -> asyncio.Future[object]:
    """An acknowledgement that will not come."""
    future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future


async def test_a_shard_that_the_broker_refuses_hinders_no_other(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refusing = Producer.send, True

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        return (
            broken(MessageSizeTooLargeError()) if refusing and batch.shard == 5 else await real(self, batch)
        )

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(8), expected=0)
    async with running(rig.new_relay(first_pause_s=0.01, longest_pause_s=0.05)):
        for _ in range(3):
            await rig.store.append(stream_of_shard(6), events(2), expected=Expect.ANY)
            async with rig.pool.acquire() as connection:
                await until_shard_published(connection, rig.topic, 6)
        await until(lambda: len(rig.watcher.shard_failures) > 3, "it has tried again")
        async with rig.pool.acquire() as connection:
            assert (await relay_positions(connection, rig.topic))[5].position == 0
        refusing = False
        await until_published(rig.pool, rig.topic)
    assert {shard for shard, _ in rig.watcher.shard_failures} == {5}
    assert rig.watcher.connection_failures == []
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_a_batch_that_is_too_large_is_halved(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic may take less than a batch has, and still each event."""
    real = Producer.send
    sizes: list[int] = []

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        sizes.append(batch.events)
        return broken(MessageSizeTooLargeError()) if batch.events > 3 else await real(self, batch)

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(20), expected=0)
    async with running(rig.new_relay(first_pause_s=0.01)):
        await until_published(rig.pool, rig.topic)
    assert sizes[:2] == [20, 10]
    assert max(sizes[-3:]) <= 3
    assert {shard for shard, _ in rig.watcher.shard_failures} == {5}
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_what_is_never_acknowledged_is_sent_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    real, swallowed = Producer.send, 0

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        nonlocal swallowed
        if batch.shard == 5 and swallowed < 2:
            swallowed += 1
            return asyncio.get_running_loop().create_future()
        return await real(self, batch)

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(3), expected=0)
    await rig.store.append(stream_of_shard(6), events(3), expected=0)
    async with running(rig.new_relay(acknowledge_timeout_s=0.2, first_pause_s=0.01)):
        await until_published(rig.pool, rig.topic)
    assert swallowed == 2
    assert [str(one) for one in rig.watcher.connection_failures if "shard 5" in str(one)]
    await assert_all_published(rig.store, rig.broker, rig.topic)


async def test_a_stop_waits_for_what_is_under_way_and_notes_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Producer.send
    late: list[asyncio.Future[object]] = []

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        await (await real(self, batch))
        late.append(asyncio.get_running_loop().create_future())
        return late[-1]

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(3), expected=0)
    async with running(
        rig.new_relay(stop_timeout_s=DEADLINE_S, acknowledge_timeout_s=DEADLINE_S)
    ) as stopping:
        await until(lambda: late, "the broker has it, and has not said so")
        stopping.set()
        asyncio.get_running_loop().call_later(0.2, late[0].set_result, None)
    async with rig.pool.acquire() as connection:
        assert (await relay_positions(connection, rig.topic))[5].position == 3
    assert rig.watcher.passives == ["stopped"]


async def test_a_cluster_that_is_not_ready_is_waited_for(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Topics cannot be made as long as nobody has been chosen as controller."""
    asked = 0

    async def ensure(
        broker: BrokerSettings, specs: Sequence[TopicSpec], *, timeout_s: float
    ) -> tuple[Difference, ...]:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise KafkaError("the cluster is not ready to make topics")
        await ensure_topics(broker, specs, timeout_s=timeout_s)
        return (Difference(rig.topic, "replication factor", "3", "1"),)

    monkeypatch.setattr("messaging.relay.producer.ensure_topics", ensure)
    await rig.store.append(stream_of_shard(5), events(3), expected=0)
    async with running(rig.new_relay(first_pause_s=0.01)):
        await until_published(rig.pool, rig.topic)
    assert [str(one) for one in rig.watcher.connection_failures] == [
        "KafkaError: the cluster is not ready to make topics"
    ] * 2
    assert rig.watcher.differences == [f"topic {rig.topic}: replication factor is 1, and should be 3"]


async def test_a_partition_that_takes_nothing_is_left_alone_for_a_while(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = Producer.send, 0

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        nonlocal refused
        if batch.shard == 5 and refused < 3:
            refused += 1
            raise KafkaTimeoutError
        return await real(self, batch)

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(3), expected=0)
    await rig.store.append(stream_of_shard(6), events(3), expected=0)
    async with running(rig.new_relay(first_pause_s=0.05)):
        await until_published(rig.pool, rig.topic)
    assert refused == 3
    assert len(rig.watcher.connection_failures) == 3
    await assert_all_published(rig.store, rig.broker, rig.topic)


async def test_a_batch_after_one_that_failed_does_not_count(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of three fails once, the third is acknowledged: the position waits for the second."""
    real, failed = Producer.send, 0

    async def send(self: Producer, batch: Batch) -> asyncio.Future[object]:
        nonlocal failed
        if batch.after == 1 and failed < 3:
            failed += 1
            return broken(MessageSizeTooLargeError())
        return await real(self, batch)

    monkeypatch.setattr(Producer, "send", send)
    await rig.store.append(stream_of_shard(5), events(6), expected=0)
    async with running(rig.new_relay(batch_bytes=100, first_pause_s=0.01)):
        await until_published(rig.pool, rig.topic)
    assert failed == 3
    published = events_of(await records(rig.broker, rig.topic))[5]
    taken = 0
    for one in published:
        taken = one.shard_position if one.shard_position == taken + 1 else taken
    assert taken == 6


async def test_a_hole_in_the_log_stops_its_shard_only(rig: Rig) -> None:
    for shard in (5, 6):
        await rig.store.append(stream_of_shard(shard), events(5), expected=0)
    async with rig.pool.acquire() as connection:
        await connection.execute("ALTER TABLE eventstore.events DISABLE TRIGGER append_only")
        await connection.execute("DELETE FROM eventstore.events WHERE shard = 5 AND shard_position = 3")
        async with running(rig.new_relay(turn_events=4, first_pause_s=0.01)):
            await until_shard_published(connection, rig.topic, 6)
            await until(lambda: rig.watcher.shard_failures, "it is reported")
        assert (await relay_positions(connection, rig.topic))[5].position <= 2
    shard, error = rig.watcher.shard_failures[0]
    assert (shard, type(error)) == (5, LogBroken)


async def test_a_position_beyond_the_head_is_reported(rig: Rig) -> None:
    """The log was restored, its relay's positions were not."""
    for shard in (5, 6):
        await rig.store.append(stream_of_shard(shard), events(2), expected=0)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
    async with rig.pool.acquire() as connection:
        await connection.execute("UPDATE messaging.relay_positions SET position = 9 WHERE shard = 5")
        async with running(rig.new_relay()):
            await until(lambda: rig.watcher.shard_failures, "it is reported")
            await rig.store.append(stream_of_shard(6), events(2), expected=2)
            await until_shard_published(connection, rig.topic, 6)
        assert (await relay_positions(connection, rig.topic))[5].position == 9
    assert {shard for shard, _ in rig.watcher.shard_failures} == {5}
