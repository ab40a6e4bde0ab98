"""A turn of the relay: the next events of all shards that are behind, bounded."""

from __future__ import annotations

import asyncpg
import pytest

from eventstore import HistoryDetached, LogBroken
from eventstore.postgres import Pool, PostgresEventStore
from messaging.relay.reading import BESIDE_BYTES, Turn, read_turn
from tests.eventstore.samples import event, events, stream_of_shard

PLENTY = 10_000_000


def positions(turn: Turn) -> dict[int, list[int]]:
    return {shard: [one.shard_position for one in batch] for shard, batch in turn.items()}


@pytest.fixture
async def filled(store: PostgresEventStore) -> PostgresEventStore:
    """Shards 5, 6 and 7 with six events of ten bytes."""
    for shard in (5, 6, 7):
        await store.append(stream_of_shard(shard), [event(b"x" * 10) for _ in range(6)], expected=0)
    return store


async def test_spans_of_several_shards(filled: PostgresEventStore, pool: Pool) -> None:
    async with pool.acquire() as connection:
        turn, broken = await read_turn(connection, {6: (0, 6), 5: (2, 4), 7: (5, 6)}, PLENTY)
    assert positions(turn) == {6: [1, 2, 3, 4, 5, 6], 5: [3, 4], 7: [6]}
    assert broken == {}
    assert turn[5] == list((await filled.read_shard(5, after=2, limit=2)).events)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("bytes_in_events", "expected"),
    [
        (0.1, {6: [1]}),
        (1, {6: [1]}),
        (1.5, {6: [1, 2]}),
        (4, {6: [1, 2, 3, 4]}),
        (7, {6: [1, 2, 3, 4, 5, 6], 5: [1]}),
        (100, {6: [1, 2, 3, 4, 5, 6], 5: [1, 2, 3, 4, 5, 6]}),
    ],
)
async def test_as_many_bytes_as_asked_for_and_no_hole(
    pool: Pool, bytes_in_events: float, expected: dict[int, list[int]]
) -> None:
    max_bytes = round(bytes_in_events * (10 + BESIDE_BYTES))
    async with pool.acquire() as connection:
        turn, broken = await read_turn(connection, {6: (0, 6), 5: (0, 6)}, max_bytes)
    assert positions(turn) == expected
    assert broken == {}


async def remove(connection: asyncpg.pool.PoolConnectionProxy[asyncpg.Record], position: int) -> None:
    """Take an event of shard 5 out of the log, as nobody can."""
    await connection.execute("ALTER TABLE eventstore.events DISABLE TRIGGER append_only")
    await connection.execute(
        "DELETE FROM eventstore.events WHERE shard = 5 AND shard_position = $1", position
    )


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("missing", [1, 3, 6])
async def test_a_shard_with_a_hole_hinders_no_other(pool: Pool, missing: int) -> None:
    async with pool.acquire() as connection:
        await remove(connection, missing)
        turn, broken = await read_turn(connection, {5: (0, 6), 6: (0, 6)}, PLENTY)
    assert positions(turn) == {6: [1, 2, 3, 4, 5, 6]}
    assert [(shard, type(error)) for shard, error in broken.items()] == [(5, LogBroken)]


@pytest.mark.usefixtures("filled")
async def test_what_is_missing_because_its_month_has_left(pool: Pool) -> None:
    async with pool.acquire() as connection:
        await remove(connection, 1)
        await connection.execute("UPDATE eventstore.periods SET detached_at = clock_timestamp()")
        _, broken = await read_turn(connection, {5: (0, 6)}, PLENTY)
    assert [type(error) for error in broken.values()] == [HistoryDetached]


async def test_only_the_partitions_from_the_first_one_are_opened(
    store: PostgresEventStore, pool: Pool
) -> None:
    """A turn does not get dearer as months go by."""
    await store.append(stream_of_shard(5), events(3), expected=0)
    async with pool.acquire() as connection:
        await connection.execute("SELECT eventstore.create_period(202001)")
        plan = await connection.fetch(
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + _turn_with("'{5}'", "'{0}'", "'{3}'")
        )
    early = [row[0] for row in plan if "events_202001" in row[0]]
    assert all("never executed" in line for line in early), early


def _turn_with(shards: str, after: str, through: str) -> str:
    from messaging.relay.reading import _TURN  # noqa: PLC0415 - the statement itself is under test

    numbers = {"$1": shards, "$2": after, "$3": through, "$4": "1000000", "$5": "700"}
    text = _TURN
    for name, value in numbers.items():
        text = text.replace(name, value)
    return text
