"""Months as partitions: made ahead, never in the way, detached when they are old."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from eventstore import EventFilter, Expect, HistoryDetached, LogBroken
from eventstore.postgres import (
    Connection,
    NotDetachable,
    Pool,
    PostgresEventStore,
    detach_period,
    ensure_periods,
    months_ahead,
    periods,
    reading,
)
from tests.eventstore.samples import assert_chained, events, stream_of_shard

STREAM = stream_of_shard(5)
OLD = 202001


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """A database of its own for each test."""
    return new_database()


@pytest.fixture
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.acquire() as connection:
        yield connection


@pytest.fixture
async def two_months(postgres_store: PostgresEventStore, connection: Connection) -> PostgresEventStore:
    """Positions 1 to 3 are in an old month, 4 to 6 in this one."""
    await connection.execute("SELECT eventstore.create_period($1)", OLD)
    # As if nobody had made the partitions since: the old month is all there is.
    rest = await connection.fetch("DELETE FROM eventstore.periods WHERE period <> $1 RETURNING period", OLD)
    await postgres_store.append(STREAM, events(3), expected=0)
    await connection.executemany(
        "INSERT INTO eventstore.periods (period) VALUES ($1)", [(row["period"],) for row in rest]
    )
    await postgres_store.append(STREAM, events(3), expected=3)
    return postgres_store


async def test_this_month_and_the_next_ones_are_there(connection: Connection) -> None:
    assert await months_ahead(connection) == 3
    assert await ensure_periods(connection, 3) == 0
    assert await ensure_periods(connection, 5) == 2
    assert await months_ahead(connection) == 5
    assert [one.detached for one in await periods(connection)] == [False] * 6


async def test_a_month_without_partition_goes_to_the_one_before(
    two_months: PostgresEventStore, connection: Connection
) -> None:
    placed = await connection.fetch(
        "SELECT stream_position, period = $1 FROM eventstore.events ORDER BY 1", OLD
    )
    assert [tuple(row) for row in placed] == [(n, n <= 3) for n in range(1, 7)]
    assert_chained(await two_months.read_stream(STREAM))


async def test_reading_goes_through_the_months(two_months: PostgresEventStore) -> None:
    async def forward(after: int, limit: int) -> list[int]:
        return [one.stream_position for one in await two_months.read_stream(STREAM, after=after, limit=limit)]

    async def backward(before: int | None, limit: int) -> list[int]:
        page = await two_months.read_stream_backward(STREAM, before=before, limit=limit)
        return [one.stream_position for one in page]

    assert await forward(1, 4) == [2, 3, 4, 5]
    assert await forward(3, 9) == [4, 5, 6]
    assert await backward(None, 5) == [6, 5, 4, 3, 2]
    assert await backward(4, 9) == [3, 2, 1]
    page = await two_months.read_shard(5, after=1, limit=4)
    assert [one.shard_position for one in page.events] == [2, 3, 4, 5]


async def test_an_event_of_an_old_month_is_known_again(
    postgres_store: PostgresEventStore, two_months: PostgresEventStore
) -> None:
    assert two_months is postgres_store
    sent = events(1)
    await two_months.append(STREAM, sent, expected=Expect.ANY)
    assert (await two_months.append(STREAM, sent, expected=Expect.ANY)).already


async def test_a_detached_month_is_missed_by_name(
    two_months: PostgresEventStore, connection: Connection
) -> None:
    assert await detach_period(connection, OLD) == (
        f"eventstore.events_{OLD}",
        f"eventstore.private_parts_{OLD}",
    )
    for wanted in (EventFilter(), EventFilter(types=frozenset({"Opened"}))):
        with pytest.raises(HistoryDetached):
            await two_months.read_shard(5, after=2, wanted=wanted)
        page = await two_months.read_shard(5, after=3, wanted=wanted)
        assert [one.shard_position for one in page.events] == [4, 5, 6]
    with pytest.raises(HistoryDetached):
        await two_months.read_stream(STREAM)
    with pytest.raises(HistoryDetached):
        await two_months.read_stream_backward(STREAM, limit=4)
    assert [one.stream_position for one in await two_months.read_stream(STREAM, after=3)] == [4, 5, 6]
    assert [one.stream_position for one in await two_months.read_stream_backward(STREAM, limit=3)] == [
        6,
        5,
        4,
    ]
    assert (await two_months.append(STREAM, events(1), expected=6)).first_position == 7
    assert await connection.fetchval("SELECT count(*) FROM eventstore.events_202001") == 3


@pytest.mark.usefixtures("two_months")
async def test_detaching_again_is_harmless(connection: Connection) -> None:
    assert await detach_period(connection, OLD) == await detach_period(connection, OLD)
    assert [(one.period, one.detached) for one in await periods(connection)][:1] == [(OLD, True)]


@pytest.mark.usefixtures("two_months")
async def test_a_month_in_use_or_not_the_oldest_is_not_detached(connection: Connection) -> None:
    await connection.execute("SELECT eventstore.create_period($1)", OLD + 1)
    this_month = await connection.fetchval("SELECT max(period) FROM eventstore.stream_heads")
    for period in (OLD + 1, this_month, 201912):
        with pytest.raises(NotDetachable):
            await detach_period(connection, period)


async def test_the_month_that_is_written_to_is_not_detached(connection: Connection) -> None:
    # Only the next months are there besides: they are not due, so appends still go to the old one.
    await connection.execute("SELECT eventstore.create_period($1)", OLD)
    this_month = await connection.fetchval(
        "SELECT period FROM eventstore.periods ORDER BY 1 OFFSET 1 LIMIT 1"
    )
    await connection.execute("DELETE FROM eventstore.periods WHERE period = $1", this_month)
    with pytest.raises(NotDetachable):
        await detach_period(connection, OLD)


async def test_missing_events_are_an_alarm(two_months: PostgresEventStore, connection: Connection) -> None:
    # As a bad restore would have it: the partition is gone, and nobody knows why.
    await connection.execute(f"ALTER TABLE eventstore.events DETACH PARTITION eventstore.events_{OLD}")
    with pytest.raises(LogBroken):
        await two_months.read_shard(5)
    with pytest.raises(LogBroken):
        await two_months.read_stream(STREAM)
    with pytest.raises(LogBroken):
        await two_months.read_stream_backward(STREAM)


async def opened(connection: Connection, statement: str, *arguments: object) -> set[str]:
    """The partitions of events that a statement really reads."""
    plan = await connection.fetch(f"EXPLAIN (ANALYZE, COSTS OFF) {statement}", *arguments)
    text = "\n".join(row[0] for row in plan)
    assert "Merge Append" not in text, "one partition after the other"
    return {
        line.partition(" on ")[2].split()[0]
        for line in text.splitlines()
        if " on events_" in line and "never executed" not in line
    }


async def test_reading_opens_only_the_months_it_needs(
    two_months: PostgresEventStore, connection: Connection
) -> None:
    period = await connection.fetchval("SELECT max(period) FROM eventstore.stream_heads")
    this_month = f"events_{period}"
    old_month = f"events_{OLD}"
    other = stream_of_shard(6)
    await two_months.append(other, events(2), expected=0)
    assert await opened(connection, reading._SHARD, 5, 0, 10, None, None, 9) >= {old_month, this_month}
    assert old_month not in await opened(connection, reading._SHARD, 5, 3, 10, None, None, 9)
    assert await opened(connection, reading._FORWARD, STREAM, 0, 10) == {old_month, this_month}
    assert await opened(connection, reading._FORWARD, other, 0, 10) == {this_month}
    assert await opened(connection, reading._BACKWARD, other, None, 10) == {this_month}
