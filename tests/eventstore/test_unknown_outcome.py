"""A connection lost at the worst moment: nothing is stored twice, and nobody is told what is not true."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from eventstore import Appended, AppendFailed, Expect, OutcomeUnknown, shard_of
from eventstore.faults import POINTS, arm
from eventstore.postgres import AppenderLimits, PostgresEventStore, Retrying, StoreSettings, open_pool
from tests.eventstore.held import shard_held, until_waiting
from tests.eventstore.proxy import Cut, wire_to
from tests.eventstore.samples import assert_chained, events, pages_through, stream_of_shard

QUICK = StoreSettings(
    appender=AppenderLimits(lanes=1),
    retrying=Retrying(tries=4, first_pause_s=0.001, longest_pause_s=0.01, call_timeout_s=10.0),
)
STREAM = "cut-me-1"
DEADLINE_S = 30


@pytest.mark.parametrize("cut", list(Cut))
@pytest.mark.parametrize("expected", [0, Expect.NONE, Expect.ANY])
async def test_a_connection_lost_in_the_append(database: str, cut: Cut, expected: int | Expect) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        wire_to(database) as (through, wire),
        await open_pool(through, application_name="test", min_size=1) as pool,
        PostgresEventStore(pool, settings=QUICK) as store,
    ):
        await store.append("table-1", events(1), expected=0)
        wire.cut = cut
        sent = events(3)
        appended = await store.append(STREAM, sent, expected=expected)
        assert wire.cuts == 1
        # It was committed before the answer was lost, and is found; or it never arrived, and is sent again.
        assert (appended.first_position, appended.last_position) == (1, 3)
        assert appended.already == (cut is Cut.BEFORE_ANSWER)
        log = await store.read_stream(STREAM)
        assert [one.event_id for one in log] == [one.event_id for one in sent]
        assert_chained(log)


async def test_all_callers_of_the_lost_batch_get_their_own_answer(database: str) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        wire_to(database) as (through, wire),
        await open_pool(through, application_name="test", min_size=1) as pool,
        PostgresEventStore(pool, settings=QUICK) as store,
    ):
        await store.append("table-0", events(1), expected=0)
        wire.cut = Cut.BEFORE_ANSWER
        outcomes = await asyncio.gather(
            store.append(STREAM, events(2), expected=0),
            *(store.append(f"table-{n}", events(1), expected=Expect.ANY) for n in range(9)),
            store.append("table-0", events(1), expected=0),
            return_exceptions=True,
        )
        assert wire.cuts == 1
        assert [type(one).__name__ for one in outcomes] == ["Appended"] * 10 + ["VersionConflict"]
        assert all(one.already for one in outcomes if isinstance(one, Appended))
        assert sum(await store.shard_heads()) == 12


async def test_a_backend_that_dies_while_it_waits_for_a_shard(database: str) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="test", min_size=1) as pool,
        PostgresEventStore(pool, settings=QUICK) as store,
    ):
        sent = events(2)
        stream = stream_of_shard(5)
        async with shard_held(database, 5) as other:
            waiting = asyncio.ensure_future(store.append(stream, sent, expected=0))
            (pid,) = await until_waiting(other)
            await other.execute("SELECT pg_terminate_backend($1)", pid)
        appended = await waiting
        assert (appended.first_position, appended.already) == (1, False)
        assert (await store.stream_head(stream)).position == 2


async def test_an_answer_that_never_comes_is_not_guessed(database: str) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        wire_to(database) as (through, wire),
        await open_pool(through, application_name="test", min_size=1) as pool,
        PostgresEventStore(
            pool,
            settings=StoreSettings(
                appender=AppenderLimits(lanes=1), retrying=Retrying(tries=1, first_pause_s=0.001)
            ),
        ) as store,
    ):
        await store.append("table-1", events(1), expected=0)
        wire.cut = Cut.BEFORE_ANSWER
        sent = events(1)
        with pytest.raises(OutcomeUnknown) as unknown:
            await store.append(STREAM, sent, expected=0)
        found = await store.find_events(unknown.value.event_ids)
        assert [one.stream for one in found] == [STREAM]
        assert (await store.append(STREAM, sent, expected=0)).already


async def test_a_database_that_is_not_there_has_stored_nothing(database: str) -> None:
    async with wire_to(database) as (through, _):
        pool = await open_pool(through, application_name="test", min_size=0)
    async with pool, PostgresEventStore(pool, settings=QUICK) as store:
        with pytest.raises(AppendFailed, match="cannot be reached") as failed:
            await store.append(STREAM, events(1), expected=0)
        assert failed.value.stored is False


async def test_an_append_that_was_lost_and_comes_late_is_harmless(database: str) -> None:
    """The first try still waits in the server while the second one succeeds."""
    stream = stream_of_shard(5)
    sent = events(2)
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="test") as pool,
        PostgresEventStore(pool, settings=QUICK) as first,
        PostgresEventStore(pool, settings=QUICK) as second,
    ):
        async with shard_held(database, 5) as other:
            tries = [
                asyncio.ensure_future(store.append(stream, sent, expected=expected))
                for store, expected in ((first, Expect.ANY), (second, Expect.ANY))
            ]
            await until_waiting(other, 2)
        outcomes = await asyncio.gather(*tries)
        assert sorted(one.already for one in outcomes) == [False, True]
        assert [one.event_id for one in await first.read_stream(stream)] == [one.event_id for one in sent]


async def test_every_fault_point_of_appending_and_reading_is_reached(database: str) -> None:
    points: Counter[str] = Counter()
    async with (
        asyncio.timeout(DEADLINE_S),
        wire_to(database) as (through, wire),
        await open_pool(through, application_name="test", min_size=1) as pool,
        PostgresEventStore(pool, settings=QUICK) as store,
        store.subscribe({shard_of(STREAM): 0}) as pages,
    ):
        with arm(lambda point: points.update([point])):
            wire.cut = Cut.BEFORE_ANSWER
            await store.append(STREAM, events(1), expected=0)
            await pages_through(pages, {shard_of(STREAM): 1})
            await store.close()
    ours = {point for point in POINTS if point.startswith(("append.", "notify.", "subscription."))}
    assert set(points) == ours
