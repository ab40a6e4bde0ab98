"""A projection built anew beside the live one, and put in its place."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from eventstore import Expect
from eventstore.following import OWN, FollowerStopped, WhenFailing, list_parked
from eventstore.postgres import Connection, Pool, PostgresEventStore
from eventstore.projections import (
    Progress,
    ProjectionOutdated,
    Rebuilding,
    RebuildRunning,
    Rebuilt,
    prepare_projection,
    projection_status,
    rebuild_projection,
)
from eventstore.projections.swap import NotCaughtUp
from tests.eventstore.held import until_waiting
from tests.eventstore.projections.views import (
    DEADLINE_S,
    NAME,
    PROJECTION,
    QUICK,
    Poisonous,
    create,
    handle,
    running,
    seen,
    until_no_lag,
)
from tests.eventstore.samples import events, stream_of_shard

STREAM = stream_of_shard(7)
HOW = Rebuilding(policy=QUICK.policy, swap_lock_timeout_ms=200)
SECOND = replace(PROJECTION, version=2)


async def prepared(pool: Pool) -> None:
    async with pool.acquire() as connection:
        await prepare_projection(connection, PROJECTION)


async def filled(store: PostgresEventStore) -> None:
    for n in range(12):
        await store.append(f"round-{n}", events(25), expected=0)


async def schemas(pool: Pool) -> list[str]:
    rows = await pool.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE $1 ORDER BY 1", NAME + "%")
    return [row["nspname"] for row in rows]


async def test_a_first_one_is_built_where_there_was_none(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await filled(postgres_store)
    told: list[Progress] = []
    rebuilt = await rebuild_projection(
        postgres_store, views, PROJECTION, rebuilding=HOW, on_progress=told.append
    )
    assert rebuilt == Rebuilt(events=300, parked=0, old_dropped=True)
    assert await seen(views) == {f"round-{n}": list(range(1, 26)) for n in range(12)}
    assert (told[0], told[-1]) == (Progress(0, 300), Progress(300, 300))
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert await schemas(views) == [NAME]


async def test_it_equals_a_fresh_one_though_writes_and_the_live_one_go_on(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await filled(postgres_store)
    done = asyncio.Event()
    appended = 0

    async def write() -> None:
        nonlocal appended
        while not done.is_set():
            await postgres_store.append(f"round-{appended % 12}", events(3), expected=Expect.ANY)
            appended += 1

    async with asyncio.timeout(DEADLINE_S), running(views, postgres_store) as task:
        await until_no_lag(views, task)
        # What the live one made is wrong: only a rebuild can mend it.
        await views.execute(f"DELETE FROM {NAME}.seen WHERE position % 2 = 0")  # noqa: S608 - a constant
        writer = asyncio.ensure_future(write())
        how = replace(HOW, policy=replace(QUICK.policy, batch_max=40))
        for _ in range(3):
            await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=how)
        done.set()
        await writer
        await until_no_lag(views, task)
        assert not task.done()
    found = await seen(views)
    assert sum(map(len, found.values())) == 300 + 3 * appended
    assert all(positions == list(range(1, len(positions) + 1)) for positions in found.values())
    assert appended > 0
    assert await schemas(views) == [NAME]


@contextlib.asynccontextmanager
async def exchange_held_until_the_live_one_is_ahead(
    pool: Pool, store: PostgresEventStore
) -> AsyncIterator[None]:
    """An exchange that begins in this context waits until the live one has applied two new events."""
    async with pool.acquire() as other, other.transaction():
        await other.fetch(
            "SELECT FROM eventstore.positions WHERE follower = $1 AND shard = 0 FOR UPDATE", NAME
        )
        yield
        await until_waiting(other)
        await store.append(STREAM, events(2), expected=0)
        while not await pool.fetchval(
            "SELECT position = 2 FROM eventstore.positions WHERE follower = $1 AND shard = 7", NAME
        ):
            pass


@pytest.mark.parametrize("poisonous", [False, True])
async def test_the_exchange_catches_up_with_a_live_one_that_is_ahead(
    views: Pool, postgres_store: PostgresEventStore, *, poisonous: bool
) -> None:
    """An event that fails in the exchange is parked outside it, and the exchange tried again."""
    await prepared(views)
    await filled(postgres_store)
    new = Poisonous({(STREAM, 2)} if poisonous else set())
    second = replace(SECOND, handle=new)
    patient = replace(HOW, swap_lock_timeout_ms=30_000)
    async with asyncio.timeout(DEADLINE_S), running(views, postgres_store) as task:
        await until_no_lag(views, task)
        async with exchange_held_until_the_live_one_is_ahead(views, postgres_store):
            rebuilding = asyncio.ensure_future(
                rebuild_projection(postgres_store, views, second, rebuilding=patient)
            )
        rebuilt = await rebuilding
    assert rebuilt.events == 302
    if poisonous:
        assert new.sizes[-1] == 1
        assert rebuilt.parked == 1
        assert (await seen(views))[STREAM] == [1]
    else:
        assert new.sizes[-1] == 2, "in the exchange itself"
        assert (await seen(views))[STREAM] == [1, 2]


async def test_another_version_takes_over_and_the_old_code_ends(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    async def create_two(connection: Connection, schema: str) -> None:
        await create(connection, schema)
        await connection.execute(f"ALTER TABLE {schema}.seen ADD COLUMN extra text DEFAULT 'new'")

    second = replace(SECOND, create=create_two)
    await prepared(views)
    await filled(postgres_store)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
        await rebuild_projection(postgres_store, views, second, rebuilding=HOW)
        await postgres_store.append(STREAM, events(2), expected=0)
        async with asyncio.timeout(DEADLINE_S):
            with pytest.raises(ProjectionOutdated):
                await task
    assert STREAM not in await seen(views), "nothing of the old code in the new tables"
    async with running(views, postgres_store, second) as task:
        await until_no_lag(views, task)
    assert (await seen(views))[STREAM] == [1, 2]
    assert await views.fetchval(f"SELECT count(*) FROM {NAME}.seen WHERE extra = 'new'") == 302  # noqa: S608 - a constant


async def test_parked_streams_of_the_new_one_replace_those_of_the_old_one(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    first = replace(PROJECTION, handle=Poisonous({("round-1", 2), ("round-2", 3)}))
    second = replace(SECOND, handle=Poisonous({("round-2", 4)}))
    await prepared(views)
    await filled(postgres_store)
    async with running(views, postgres_store, first) as task:
        await until_no_lag(views, task)
    rebuilt = await rebuild_projection(postgres_store, views, second, rebuilding=HOW)
    assert rebuilt.parked == 1
    async with views.acquire() as connection:
        (parked,) = await list_parked(connection)
        assert (parked.follower, parked.stream, parked.failed_position) == (NAME, "round-2", 4)
        assert parked.events == 22
        (status,) = await projection_status(connection)
        assert (status.version, status.lag, status.parked_events) == (2, 0, 22)
    assert (await seen(views))["round-1"] == list(range(1, 26))


async def test_one_at_a_time(views: Pool, postgres_store: PostgresEventStore) -> None:
    await filled(postgres_store)
    inside, go = asyncio.Event(), asyncio.Event()

    async def slow(connection: Connection, schema: str, given: object) -> None:
        inside.set()
        await go.wait()
        await handle(connection, schema, given)  # type: ignore[arg-type]  # handed on

    async with asyncio.timeout(DEADLINE_S):
        first = asyncio.ensure_future(
            rebuild_projection(postgres_store, views, replace(PROJECTION, handle=slow), rebuilding=HOW)
        )
        await inside.wait()
        with pytest.raises(RebuildRunning):
            await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=HOW)
        go.set()
        await first
    await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=HOW)


async def test_an_interrupted_one_begins_anew_or_goes_on(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    handler = Poisonous({("round-11", 25)})
    stop = replace(HOW, policy=replace(QUICK.policy, when_failing=WhenFailing.STOP, batch_max=50))
    await prepared(views)
    await filled(postgres_store)
    broken = replace(SECOND, handle=handler)
    with pytest.raises(FollowerStopped):
        await rebuild_projection(postgres_store, views, broken, rebuilding=stop)
    async with views.acquire() as connection:
        live, beside = await projection_status(connection)
        assert (live.version, live.rebuilding, beside.version, beside.rebuilding) == (1, False, 2, True)
        assert (beside.name, beside.stopped) == (f"{NAME}_rebuild", "failed")
        before = beside.applied
        assert before > 0
    with pytest.raises(ProjectionOutdated):
        await rebuild_projection(
            postgres_store, views, replace(SECOND, version=3), rebuilding=stop, go_on=True
        )
    handler.poison.clear()
    handler.sizes.clear()
    await rebuild_projection(postgres_store, views, broken, rebuilding=stop, go_on=True)
    assert sum(handler.sizes) == 300 - before
    assert await seen(views) == {f"round-{n}": list(range(1, 26)) for n in range(12)}
    await rebuild_projection(postgres_store, views, broken, rebuilding=stop)
    assert sum(handler.sizes) == 600 - before, "from the first event on"


async def test_old_tables_that_others_still_read_are_dropped_next_time(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await filled(postgres_store)
    how = replace(HOW, swap_lock_timeout_ms=20)
    async with views.acquire() as reader, reader.transaction():
        await reader.fetch(f"SELECT * FROM {NAME}.seen")  # noqa: S608 - a constant
        rebuilt = await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=how)
        assert not rebuilt.old_dropped
        assert await schemas(views) == [NAME, f"{NAME}_old"]
        assert await reader.fetchval(f"SELECT count(*) FROM {NAME}.seen") == 300  # noqa: S608 - a constant
    await rebuild_projection(postgres_store, views, PROJECTION, rebuilding=how)
    assert await schemas(views) == [NAME]


async def test_a_live_one_that_never_lets_go_is_told(views: Pool, postgres_store: PostgresEventStore) -> None:
    await prepared(views)
    await filled(postgres_store)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
    how = replace(HOW, swap_lock_timeout_ms=20, swap_tries=3)
    async with views.acquire() as other, other.transaction():
        await other.fetch("SELECT FROM eventstore.positions WHERE follower = $1 FOR UPDATE", NAME)
        with pytest.raises(asyncpg.LockNotAvailableError):
            await rebuild_projection(postgres_store, views, SECOND, rebuilding=how)
    assert await schemas(views) == [NAME, f"{NAME}_rebuild"]
    async with views.acquire() as connection:
        assert [one.version for one in await projection_status(connection)] == [1, 2]
    await rebuild_projection(postgres_store, views, SECOND, rebuilding=HOW, go_on=True)


async def test_more_than_may_be_caught_up_while_the_live_one_waits(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await filled(postgres_store)
    async with running(views, postgres_store) as task:
        await until_no_lag(views, task)
    # Its reader sees nothing of the log: it never catches up.
    how = replace(HOW, swap_tries=2)

    class Blind(PostgresEventStore):
        async def shard_heads(self) -> tuple[int, ...]:
            return (0,) * 64

    async with Blind(views) as blind:
        how = replace(how, swap_events_max=299)
        with pytest.raises(NotCaughtUp, match="300 events behind"):
            await rebuild_projection(blind, views, SECOND, rebuilding=how)


async def test_the_live_one_waits_during_the_exchange_only(
    views: Pool, postgres_store: PostgresEventStore
) -> None:
    await prepared(views)
    await filled(postgres_store)
    async with asyncio.timeout(DEADLINE_S), running(views, postgres_store) as task:
        await until_no_lag(views, task)
        async with views.acquire() as other, other.transaction():
            await other.fetch("SELECT FROM eventstore.positions WHERE follower = $1 FOR UPDATE", NAME)
            patient = replace(HOW, swap_lock_timeout_ms=30_000)
            rebuilding = asyncio.ensure_future(
                rebuild_projection(postgres_store, views, PROJECTION, rebuilding=patient)
            )
            await until_waiting(other)
        await rebuilding
        await postgres_store.append(STREAM, events(1), expected=0)
        await until_no_lag(views, task)
    assert (await seen(views))[STREAM] == [1]
    assert await views.fetchval("SELECT count(*) FROM eventstore.positions WHERE follower <> $1", NAME) == 0
    assert await views.fetchval("SELECT count(*) FROM eventstore.positions WHERE source = $1", OWN) == 64
