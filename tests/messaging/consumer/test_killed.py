"""A consumer's process is killed at every named point: its successor leaves every effect there once."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from eventstore.postgres import PostgresEventStore, open_pool
from messaging.faults import POINTS
from messaging.feed import PostgresEnds
from stack import Stack
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.following_process import Task
from tests.messaging.consumer.world import FOLLOWER, World, running
from tests.messaging.waiting import until

STREAMS = [stream_of_shard(shard) for shard in range(0, 64, 4)]
POISONED = STREAMS[0]


@pytest.fixture
async def durable_world(world: World, new_database: Callable[[], str]) -> AsyncIterator[tuple[World, str]]:
    """A world whose source is in a database, so that another process can read it; and its address."""
    dsn = new_database()
    async with (
        await open_pool(dsn, application_name="source", max_size=8) as pool,
        PostgresEventStore(pool) as log,
    ):
        world.source.log, world.source.ends = log, PostgresEnds(pool)
        yield world, dsn


@pytest.fixture
def task(durable_world: tuple[World, str], database: str, stack: Stack) -> Task:
    """A consumer like those of the test, for a process of its own."""
    world, source_dsn = durable_world
    return Task(
        source_dsn=source_dsn,
        dsn=database,
        bootstrap=world.broker.bootstrap_servers,
        idempotent=world.broker.idempotent_producer,
        replicas=stack.facts.replication_factor,
        insync=stack.facts.min_insync_replicas,
        topic=world.source.topic,
        group=f"{world.source.topic}-{FOLLOWER}",
    )


async def start(task: Task) -> asyncio.subprocess.Process:
    """A process that does this."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.messaging.consumer.following_process", task.as_json()
    )


async def dies(task: Task) -> None:
    """Run it until it dies where it is to die."""
    process = await start(task)
    try:
        async with asyncio.timeout(60):
            assert await process.wait() == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


# At the second time, so that something has happened before.
APPLYING = ["consumer.received", "follow.before_commit", "follow.committed", "consumer.applied"]


@pytest.mark.parametrize("point", APPLYING)
async def test_killed_while_it_applies(durable_world: tuple[World, str], task: Task, point: str) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 40)
    await world.source.publish()
    for times in (1, 2):
        await dies(replace(task, die_at=point, die_after=times))
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_killed_before_a_filled_page_is_applied(durable_world: tuple[World, str], task: Task) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 20)
    await world.source.publish(leave_out=range(5, 15))
    await dies(replace(task, die_at="consumer.filled", die_after=2))
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_killed_after_kafka_was_told(durable_world: tuple[World, str], task: Task) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 10)
    await world.source.publish()
    await dies(replace(task, die_at="consumer.committed"))
    await world.source.append_to_all(STREAMS, 2)
    await world.source.publish()
    async with running(world.consumer(heads_interval_s=1_000)):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.source.feed.pages == []


async def test_killed_when_its_shards_are_taken_away(durable_world: tuple[World, str], task: Task) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 10)
    await world.source.publish()
    dying = asyncio.create_task(dies(replace(task, die_at="consumer.revoked")))
    await until(world.all_applied)
    async with running(world.consumer()):  # which takes half of them
        await dying
        await world.source.append_to_all(STREAMS, 10)
        await world.source.publish()
        await until(world.all_applied)
    await world.assert_once_and_in_order()


@pytest.mark.parametrize("point", ["dead_letters.sent", "dead_letters.noted"])
async def test_killed_around_a_dead_letter(durable_world: tuple[World, str], task: Task, point: str) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 2)
    await world.source.publish()
    await dies(replace(task, die_at=point, poison=POISONED))
    parked = await world.pool.fetchrow(
        "SELECT dead_letter_sent_at, failed_position FROM eventstore.parked_streams"
    )
    assert parked is not None
    assert (parked["failed_position"], parked["dead_letter_sent_at"] is None) == (2, point.endswith("sent"))
    async with running(world.consumer()):
        await until(
            lambda: world.pool.fetchval(
                "SELECT count(*) = 0 FROM eventstore.parked_streams WHERE dead_letter_sent_at IS NULL"
            )
        )
        await world.pool.execute("UPDATE eventstore.parked_streams SET retry_requested_at = now()")
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_frozen_in_the_middle_and_back_when_its_shards_are_another_ones(
    durable_world: tuple[World, str], task: Task
) -> None:
    """It goes on where it was stopped, believing that everything is its own."""
    world, _ = durable_world
    process = await start(task)
    try:
        await world.source.append_to_all(STREAMS, 5)
        await world.source.publish()
        await until(world.all_applied)
        await world.source.append_to_all(STREAMS, 100)
        publishing = asyncio.create_task(world.source.publish())
        await until(lambda: _more_than(world, 5 * len(STREAMS)))
        process.send_signal(signal.SIGSTOP)
        await publishing
        async with running(world.consumer()):
            await until(world.all_applied, timeout_s=60)
            process.send_signal(signal.SIGCONT)
            for _ in range(5):
                await world.source.append_to_all(STREAMS, 2)
                await world.source.publish()
                await until(world.all_applied)
        assert process.returncode is None
    finally:
        process.kill()
        await process.wait()
    await world.assert_once_and_in_order()


async def _more_than(world: World, effects: int) -> bool:
    return len(await world.effects()) > effects


async def test_told_to_stop_it_ends_properly(durable_world: tuple[World, str], task: Task) -> None:
    world, _ = durable_world
    await world.source.append_to_all(STREAMS, 3)
    await world.source.publish()
    process = await start(task)
    try:
        await until(world.all_applied)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    await world.assert_once_and_in_order()


def test_every_point_of_the_consumer_is_one_at_which_it_was_killed() -> None:
    ours = {point for point in POINTS if point.startswith(("consumer.", "dead_letters."))}
    killed = {*APPLYING, "consumer.filled", "consumer.committed", "consumer.revoked"}
    assert ours <= killed | {"dead_letters.sent", "dead_letters.noted"}
