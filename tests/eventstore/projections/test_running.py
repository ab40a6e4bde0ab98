"""A projection that runs: what is there, what comes, and what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from eventstore import Expect, RecordedEvent
from eventstore.faults import arm
from eventstore.following import (
    OWN,
    Policy,
    Silent,
    WhenFailing,
    list_parked,
    list_stopped,
    request_retry,
    reset_position,
    resume,
)
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Connection, Pool, PostgresEventStore, open_pool
from eventstore.projections import (
    Projection,
    ProjectionOutdated,
    prepare_projection,
    projection_status,
)
from stack import Stack
from tests.eventstore.projections.views import (
    DEADLINE_S,
    NAME,
    ONLY_OPENED,
    PROJECTION,
    QUICK,
    Poisonous,
    create,
    handle,
    running,
    seen,
    until_no_lag,
)
from tests.eventstore.samples import event, events, stream_of_shard

STREAM = stream_of_shard(7)


async def prepared(pool: Pool, projection: Projection = PROJECTION) -> None:
    async with pool.acquire() as connection:
        await prepare_projection(connection, projection)


async def until(pool: Pool, sql: str) -> None:
    """Wait until a query says true."""
    async with asyncio.timeout(DEADLINE_S):
        while not await pool.fetchval(sql):
            pass


async def test_what_is_there_and_what_comes(views: Pool, postgres_store: PostgresEventStore) -> None:
    await prepared(views)
    for n in range(20):
        await postgres_store.append(f"round-{n}", events(30), expected=0)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
        await postgres_store.append("round-3", events(2), expected=30)
        await until_no_lag(views, task)
    found = await seen(views)
    assert found.pop("round-3") == list(range(1, 33))
    assert found == {f"round-{n}": list(range(1, 31)) for n in range(20) if n != 3}


async def test_batches_take_what_has_come_from_several_shards(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    handler = Poisonous()
    projection = replace(PROJECTION, handle=handler)
    await prepared(views, projection)
    for n in range(100):
        await postgres_store.append(f"round-{n}", events(1), expected=0)
    async with running(views, postgres_store, projection) as task:
        await until_no_lag(views, task)
    assert sum(handler.sizes) == 100
    assert len(handler.sizes) < 64, "one transaction a shard would be as many"


async def test_a_slow_projection_holds_a_bounded_part_of_the_log(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    for n in range(10):
        await postgres_store.append(stream_of_shard(n), events(50), expected=0)
    how = replace(QUICK, page=10, policy=replace(QUICK.policy, batch_max=20))
    read = 0
    go, called = asyncio.Event(), asyncio.Event()

    async def slow(connection: Connection, schema: str, given: Sequence[RecordedEvent]) -> None:
        called.set()
        await go.wait()
        await handle(connection, schema, given)

    def count(point: str) -> None:
        nonlocal read
        read += point == "subscription.page"

    with arm(count):
        async with running(views, postgres_store, replace(PROJECTION, handle=slow), how=how) as task:
            async with asyncio.timeout(DEADLINE_S):
                await called.wait()
                while read < 4:
                    await views.fetchval("SELECT 1")
            for _ in range(20):  # time enough for more, were there room
                await views.fetchval("SELECT 1")
            # Ten shards share a page, so it is ten of one event each. Two at most in the handler, two in the
            # buffer, one in the reader's hand.
            assert read <= 50
            go.set()
            await until_no_lag(views, task)
    assert sum(map(len, (await seen(views)).values())) == 500


async def test_only_what_is_wanted_and_positions_past_the_rest(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views, ONLY_OPENED)
    for position in range(6):
        kind = "Opened" if position % 2 == 0 else "Closed"
        await postgres_store.append(STREAM, [event(kind=kind)], expected=position)
    async with running(views, postgres_store, ONLY_OPENED) as task:
        await until_no_lag(views, task)
    assert await seen(views) == {STREAM: [1, 3, 5]}


async def test_two_runners_at_once_do_nothing_twice(views: Pool, postgres_store: PostgresEventStore) -> None:
    await prepared(views)
    async with (
        running(views, postgres_store) as first,
        running(views, postgres_store) as second,
    ):
        for n in range(60):
            await postgres_store.append(f"round-{n % 7}", events(5), expected=Expect.ANY)
        await until_no_lag(views, first)
        assert not second.done()
    found = await seen(views)
    assert sum(map(len, found.values())) == 300
    assert all(positions == list(range(1, len(positions) + 1)) for positions in found.values())


async def test_a_parked_stream_is_retried_by_the_runner(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    handler = Poisonous({(STREAM, 2)})
    projection = replace(PROJECTION, handle=handler)
    await prepared(views, projection)
    await postgres_store.append(STREAM, events(3), expected=0)
    await postgres_store.append("table-1", events(3), expected=0)
    async with running(views, postgres_store, projection) as task:
        await until_no_lag(views, task)
        assert await seen(views) == {STREAM: [1], "table-1": [1, 2, 3]}
        async with views.acquire() as connection:
            (status,) = await projection_status(connection)
            assert (status.parked_streams, status.parked_events, status.stopped) == (1, 2, None)
            assert (await list_parked(connection, NAME, OWN))[0].reason == "ValueError"
            handler.poison.clear()
            await request_retry(connection, NAME, OWN)
        await until(views, "SELECT NOT EXISTS (SELECT FROM eventstore.parked_streams)")
    assert await seen(views) == {STREAM: [1, 2, 3], "table-1": [1, 2, 3]}


async def test_a_stopped_projection_waits_and_goes_on_when_it_is_resumed(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    handler = Poisonous({(STREAM, 2)})
    projection = replace(PROJECTION, handle=handler)
    await prepared(views, projection)
    await postgres_store.append(STREAM, events(3), expected=0)
    stop = replace(QUICK, policy=replace(QUICK.policy, when_failing=WhenFailing.STOP))
    async with running(views, postgres_store, projection, how=stop) as task:
        await until(views, "SELECT EXISTS (SELECT FROM eventstore.stopped_followers)")
        async with views.acquire() as connection:
            (status,) = await projection_status(connection)
            assert (status.stopped, status.lag, status.furthest) == ("failed", 2, 2)
            assert (await list_stopped(connection, NAME))[0].stream == STREAM
            handler.poison.clear()
            assert not task.done()
            await resume(connection, NAME, OWN)
        await until_no_lag(views, task)
    assert await seen(views) == {STREAM: [1, 2, 3]}


async def test_retries_are_carried_out_while_it_is_stopped(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    handler = Poisonous({(STREAM, 1)})
    projection = replace(PROJECTION, handle=handler)
    await prepared(views, projection)
    await postgres_store.append(STREAM, events(3), expected=0)
    full = replace(QUICK, policy=replace(QUICK.policy, parked_events_max=2))
    async with running(views, postgres_store, projection, how=full) as task:
        await until(views, "SELECT EXISTS (SELECT FROM eventstore.stopped_followers)")
        handler.poison.clear()
        async with views.acquire() as connection:
            await request_retry(connection, NAME, OWN)
            await until(views, "SELECT NOT EXISTS (SELECT FROM eventstore.parked_streams)")
            await resume(connection, NAME, OWN)
        await until_no_lag(views, task)
    assert await seen(views) == {STREAM: [1, 2, 3]}


async def test_a_position_that_is_set_back_is_followed(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await postgres_store.append(STREAM, events(3), expected=0)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
        async with views.acquire() as connection:
            await reset_position(connection, NAME, OWN, 7, 1)
        await postgres_store.append(STREAM, events(1), expected=3)
        await until_no_lag(views, task)
    assert await seen(views) == {STREAM: [1, 2, 3, 2, 3, 4]}


async def test_the_server_dies_and_comes_back(private_stack: Stack) -> None:
    dsn = await private_stack.databases.create("projecting")
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(dsn, application_name="projection") as pool,
    ):
        async with pool.acquire() as connection:
            await prepare_event_log(connection)
        await prepared(pool)
        async with PostgresEventStore(pool) as store:
            await store.append(STREAM, events(50), expected=0)
            how = replace(QUICK, tries=2_000, policy=replace(QUICK.policy, away_tries=2, batch_max=10))
            async with running(pool, store, how=how) as task:
                await until_no_lag(pool, task)
                await asyncio.to_thread(private_stack.postgres.kill)
                await asyncio.to_thread(private_stack.postgres.start)
                await store.append(STREAM, events(50), expected=50, timeout_s=DEADLINE_S)
                await until_no_lag(pool, task)
        assert await seen(pool) == {STREAM: list(range(1, 101))}


async def test_a_table_that_is_missing_is_seen_where_people_look(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await views.execute(f"ALTER SCHEMA {NAME} RENAME TO {NAME}_old")
    await postgres_store.append(STREAM, events(1), expected=0)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
    async with views.acquire() as connection:
        (parked,) = await list_parked(connection)
    assert parked.reason == "UndefinedTableError"


async def test_tables_of_another_version_are_not_touched(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views, replace(PROJECTION, version=2))
    await postgres_store.append(STREAM, events(3), expected=0)
    with pytest.raises(ProjectionOutdated, match="of version 1 are needed, there are those of version 2"):
        async with views.acquire() as connection:
            await prepare_projection(connection, PROJECTION)
    async with running(views, postgres_store) as task, asyncio.timeout(DEADLINE_S):
        with pytest.raises(ProjectionOutdated):
            await task
    assert await seen(views) == {}


async def test_preparing_at_the_same_time_makes_the_tables_once(views: Pool) -> None:
    made = await asyncio.gather(*(prepare(views) for _ in range(4)))
    assert sorted(made) == [False, False, False, True]


async def prepare(pool: Pool) -> bool:
    async with pool.acquire() as connection:
        return await prepare_projection(connection, PROJECTION)


async def test_a_runner_without_tables_says_so(views: Pool, postgres_store: PostgresEventStore) -> None:
    await postgres_store.append(STREAM, events(1), expected=0)
    async with running(views, postgres_store) as task, asyncio.timeout(DEADLINE_S):
        with pytest.raises(ProjectionOutdated, match="there are none"):
            await task


async def test_lag_is_told(views: Pool, postgres_store: PostgresEventStore) -> None:
    class Lags(Silent):
        told: list[tuple[str, str, int, int]]

        def lag(self, follower: str, source: str, shard: int, events: int) -> None:
            self.told.append((follower, source, shard, events))

    lags = Lags()
    lags.told = []
    await prepared(views)
    await postgres_store.append(STREAM, events(25), expected=0)
    how = replace(QUICK, page=10, policy=Policy(batch_max=10))
    async with running(views, postgres_store, how=how, observer=lags) as task:
        await until_no_lag(views, task)
    assert lags.told[-1] == (NAME, OWN, 7, 0)
    assert {lag[3] for lag in lags.told} <= {15, 5, 0}


@pytest.mark.parametrize(
    "name", ["", "A", "1a", "public", "eventstore", "pg_x", "x_rebuild", "x_old", "a" * 41]
)
def test_names_that_are_not_to_be_had(name: str) -> None:
    with pytest.raises(ValueError, match="a projection is named"):
        Projection(name, 1, create, handle)


def test_a_version_is_a_number_from_one() -> None:
    with pytest.raises(ValueError, match="version"):
        Projection("x", 0, create, handle)
