"""The database is not there, or others are in the way: nothing is lost, nothing twice, nobody is blamed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import asyncpg
import pytest

from eventstore import Expect, RecordedEvent, StreamAppend
from eventstore.faults import arm
from eventstore.following import Applied, DatabaseAway, list_parked, list_stopped
from eventstore.memory import MemoryEventStore
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Connection, Pool, PostgresEventStore, open_pool
from stack import Stack
from tests.eventstore.following.effects import (
    MAKE,
    QUICK,
    Poisoned,
    Seen,
    applier,
    effects_of,
    page_of,
    record,
)
from tests.eventstore.held import until_waiting
from tests.eventstore.proxy import Cut, wire_to
from tests.eventstore.samples import events, stream_of_shard

STREAM = stream_of_shard(7)
DEADLINE_S = 60
PATIENT = replace(QUICK, away_tries=200, longest_pause_s=0.1)


@pytest.mark.parametrize("cut", list(Cut))
async def test_a_connection_lost_in_the_commit(
    effects: Pool, database: str, other: MemoryEventStore, cut: Cut
) -> None:
    await other.append(STREAM, events(3), expected=0)
    page = await page_of(other, 7)
    seen = Seen()
    async with (
        asyncio.timeout(DEADLINE_S),
        wire_to(database) as (through, wire),
        await open_pool(through, application_name="follower", min_size=1) as pool,
    ):
        follower = applier(pool, observer=seen)
        await follower.positions([7])
        wire.marker = b"COMMIT"
        wire.cut = cut
        applied = await follower.apply([page])
        assert wire.cuts == 1
    # Either it was never committed and was done again, or it was, and the position told the second try.
    assert applied == (Applied(duplicates=3) if cut is Cut.BEFORE_ANSWER else Applied(applied=3))
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 2), (STREAM, 3)]
    assert ("retried", "lost") in seen.notes


async def test_the_server_dies_while_events_are_applied(
    private_stack: Stack, other: MemoryEventStore
) -> None:
    dsn = await private_stack.databases.create("following")
    await other.append(STREAM, events(300), expected=0)
    killed = False

    def kill(point: str) -> None:
        nonlocal killed
        if point == "follow.before_commit" and not killed:
            killed = True
            private_stack.postgres.kill()
            private_stack.postgres.start()

    async with asyncio.timeout(DEADLINE_S), await open_pool(dsn, application_name="follower") as pool:
        async with pool.acquire() as connection:
            await prepare_event_log(connection)
            await connection.execute(MAKE)
        follower = applier(pool, policy=replace(PATIENT, batch_max=100))
        with arm(kill):
            await follower.apply([await page_of(other, 7)])
        assert killed
        assert await effects_of(pool) == [(STREAM, position) for position in range(1, 301)]
        assert (await follower.positions([7]))[7].position == 300


async def test_a_database_that_stays_away_is_told_and_nobody_is_parked(
    effects: Pool, database: str, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    async with wire_to(database) as (through, _):
        pool = await open_pool(through, application_name="follower", min_size=0)
    seen = Seen()
    async with pool:
        with pytest.raises(DatabaseAway, match="3 tries"):
            await applier(pool, policy=replace(QUICK, away_tries=3), observer=seen).apply(
                [await page_of(other, 7)]
            )
    assert seen.notes == [("retried", "away")] * 2
    assert await effects_of(effects) == []


async def test_an_event_s_fault_costs_no_connection(
    effects: Pool, database: str, other: MemoryEventStore
) -> None:
    sessions: set[int] = set()

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        assert given
        sessions.add(await connection.fetchval("SELECT pg_backend_pid()"))
        await connection.execute("SELECT 1 / 0")

    await other.append(STREAM, events(5), expected=0)
    async with await open_pool(database, application_name="follower", min_size=1, max_size=1) as pool:
        assert (await applier(pool, handler).apply([await page_of(other, 7)])).parked == (STREAM,)
    assert len(sessions) == 1
    assert await effects_of(effects) == []


async def test_a_full_pool_is_waited_for(effects: Pool, database: str, other: MemoryEventStore) -> None:
    await other.append(STREAM, events(3), expected=0)
    seen = Seen()
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="follower", min_size=1, max_size=1) as pool,
    ):
        policy = replace(PATIENT, transaction_timeout_s=0.1)
        async with pool.acquire():
            applying = asyncio.ensure_future(
                applier(pool, policy=policy, observer=seen).apply([await page_of(other, 7)])
            )
            while ("retried", "away") not in seen.notes:
                await effects.fetchval("SELECT 1")
        assert await applying == Applied(applied=3)
    assert len(await effects_of(effects)) == 3


async def test_a_pool_that_was_closed_is_not_waited_for(
    effects: Pool, database: str, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    async with await open_pool(database, application_name="follower", min_size=1) as pool:
        seen = Seen()
        follower = applier(pool, observer=seen)
    with pytest.raises(DatabaseAway, match="1 tries"):
        await follower.apply([await page_of(other, 7)])
    assert seen.notes == []
    assert await effects_of(effects) == []


async def test_a_lock_that_others_hold_is_waited_for_and_is_nobody_s_fault(
    effects: Pool, database: str, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    seen = Seen()
    async with asyncio.timeout(DEADLINE_S), effects.acquire() as holder, holder.transaction():
        await holder.execute("LOCK TABLE public.effects IN ACCESS EXCLUSIVE MODE")
        async with await asyncpg.create_pool(
            database, min_size=1, server_settings={"lock_timeout": "20ms"}
        ) as pool:
            with pytest.raises(DatabaseAway) as away:
                await applier(pool, policy=replace(QUICK, away_tries=3), observer=seen).apply(
                    [await page_of(other, 7)]
                )
    assert isinstance(away.value.__cause__, asyncpg.LockNotAvailableError)
    async with effects.acquire() as connection:
        assert await list_parked(connection) == ()
        assert await list_stopped(connection) == ()


async def test_an_event_that_kills_its_connection_each_time_is_found(
    effects: Pool, other: MemoryEventStore
) -> None:
    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        if any(one.stream_position == 3 for one in given):
            await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    await other.append(STREAM, events(4), expected=0)
    fast = replace(QUICK, away_tries=2, attempts=2)
    async with asyncio.timeout(DEADLINE_S):
        applied = await applier(effects, handler, policy=fast).apply([await page_of(other, 7)])
    assert applied == Applied(applied=2, held=1, parked=(STREAM,))
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 2)]


async def test_a_statement_that_takes_too_long_for_a_batch_is_done_in_halves(
    effects: Pool, database: str, other: MemoryEventStore
) -> None:
    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        if len(given) > 2:
            await connection.execute("SELECT pg_sleep(60)")

    await other.append(STREAM, events(5), expected=0)
    seen = Seen()
    async with (
        asyncio.timeout(DEADLINE_S),
        await asyncpg.create_pool(
            database, min_size=1, server_settings={"statement_timeout": "100ms"}
        ) as pool,
    ):
        policy = replace(QUICK, clash_tries=2)
        follower = applier(pool, handler, policy=policy, observer=seen)
        assert await follower.apply([await page_of(other, 7)]) == Applied(applied=5)
    assert seen.notes.count(("retried", "clash")) == seen.notes.count(("retried", "halved")) == 2
    assert [position for _, position in await effects_of(effects)] == [1, 2, 3, 4, 5]


async def test_a_handler_that_hangs_loses_its_transaction(effects: Pool, other: MemoryEventStore) -> None:
    hung: list[int] = []

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        if not hung:
            hung.append(1)
            await asyncio.Event().wait()

    await other.append(STREAM, events(2), expected=0)
    impatient = replace(QUICK, transaction_timeout_s=0.2)
    async with asyncio.timeout(DEADLINE_S):
        applied = await applier(effects, handler, policy=impatient).apply([await page_of(other, 7)])
    assert applied == Applied(applied=2)
    assert len(await effects_of(effects)) == 2


async def test_a_decision_that_others_overtook_is_made_again(
    effects: Pool, other: MemoryEventStore, postgres_store: PostgresEventStore
) -> None:
    answer = "answer-1"

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> list[StreamAppend]:
        await record(connection, given)
        known = (await postgres_store.stream_head(answer)).position
        if known == 0:
            await postgres_store.append(answer, events(1), expected=Expect.ANY)
        return [StreamAppend(answer, known, events(1))]

    await other.append(STREAM, events(3), expected=0)
    seen = Seen()
    assert await applier(effects, handler, observer=seen).apply([await page_of(other, 7)]) == Applied(
        applied=3
    )
    assert seen.notes == [("retried", "clash")]
    assert (await postgres_store.stream_head(answer)).position == 2


async def test_two_appliers_for_the_same_events(effects: Pool, other: MemoryEventStore) -> None:
    """Each event has its effect once, whoever of the two gives it."""
    for n in range(6):
        await other.append(stream_of_shard(n), events(40), expected=0)
    few = replace(QUICK, batch_max=7)

    async def run() -> Applied:
        total = Applied()
        follower = applier(effects, policy=few)
        for after in range(0, 40, 10):
            for shard in range(6):
                done = await follower.apply([await page_of(other, shard, after, limit=10)])
                total = replace(
                    total,
                    applied=total.applied + done.applied,
                    duplicates=total.duplicates + done.duplicates,
                )
        return total

    async with asyncio.timeout(DEADLINE_S):
        totals = await asyncio.gather(run(), run(), run())
    assert sum(one.applied for one in totals) == 240
    done = await effects_of(effects)
    assert set(Counter(done).values()) == {1}
    for n in range(6):
        ours = [position for stream, position in done if stream == stream_of_shard(n)]
        assert ours == list(range(1, 41)), "in the order of the stream"


async def test_an_applier_that_comes_second_waits_and_finds_it_done(
    effects: Pool, other: MemoryEventStore
) -> None:
    inside, go = asyncio.Event(), asyncio.Event()

    async def slow(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        inside.set()
        await go.wait()

    await other.append(STREAM, events(3), expected=0)
    page = await page_of(other, 7)
    async with asyncio.timeout(DEADLINE_S):
        first = asyncio.ensure_future(applier(effects, slow).apply([page]))
        await inside.wait()
        second = asyncio.ensure_future(applier(effects, Poisoned(())).apply([page]))
        async with effects.acquire() as connection:
            await until_waiting(connection)
        go.set()
        assert await first == Applied(applied=3)
        assert await second == Applied(duplicates=3)
    assert len(await effects_of(effects)) == 3


async def test_cancelled_in_the_middle_nothing_stays_and_no_lock(
    effects: Pool, other: MemoryEventStore
) -> None:
    inside = asyncio.Event()

    async def slow(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        inside.set()
        await connection.execute("SELECT pg_sleep(600)")

    await other.append(STREAM, events(3), expected=0)
    page = await page_of(other, 7)
    async with asyncio.timeout(DEADLINE_S):
        first = asyncio.ensure_future(applier(effects, slow).apply([page]))
        await inside.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await applier(effects, policy=PATIENT).apply([page]) == Applied(applied=3)
    assert len(await effects_of(effects)) == 3
