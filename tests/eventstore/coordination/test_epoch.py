"""The epoch: a list that only grows, with where the log stood each time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore import SHARDS
from eventstore.coordination import begin_epoch, current_epoch, epochs
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from tests.eventstore.samples import events, stream_of_shard


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """A database of its own for each test: epochs cannot be taken out again."""
    return new_database()


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with await open_pool(database, application_name="test") as pool:
        yield pool


async def test_a_log_begins_with_the_first(pool: Pool) -> None:
    async with pool.acquire() as connection:
        assert await current_epoch(connection) == 1
        (first,) = await epochs(connection)
    assert first.epoch == 1
    assert first.positions == (0,) * SHARDS
    assert first.hashes == (None,) * SHARDS


async def test_a_new_one_notes_why_and_where_the_log_stood(pool: Pool) -> None:
    async with PostgresEventStore(pool) as store:
        await store.append(stream_of_shard(5), events(3), expected=0)
        await store.append(stream_of_shard(63), events(1), expected=0)
        last = (await store.read_stream(stream_of_shard(5)))[-1]
    async with pool.acquire() as connection:
        minute = await connection.fetchval("SELECT (extract(epoch FROM now()) / 60)::integer")
        number = await begin_epoch(connection, "restored to Tuesday noon")
        # No other history of this log can get the number, whatever earlier state it was restored to.
        assert minute <= number <= minute + 2
        assert await current_epoch(connection) == number
        found = (await epochs(connection))[-1]
    assert (found.epoch, found.reason) == (number, "restored to Tuesday noon")
    assert {shard: position for shard, position in enumerate(found.positions) if position} == {5: 3, 63: 1}
    assert found.hashes[5] == last.hash
    assert [shard for shard, one in enumerate(found.hashes) if one is not None] == [5, 63]


async def test_two_at_once_are_two(pool: Pool) -> None:
    async def begin() -> int:
        async with pool.acquire() as connection:
            return await begin_epoch(connection, "twice")

    numbers = sorted(await asyncio.gather(*(begin() for _ in range(6))))
    assert numbers == sorted(set(numbers))
    assert numbers[-1] - numbers[0] <= 6


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE eventstore.epochs SET reason = 'x'",
        "DELETE FROM eventstore.epochs",
        "TRUNCATE eventstore.epochs",
    ],
)
async def test_the_list_only_grows(pool: Pool, change: str) -> None:
    async with pool.acquire() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
            await connection.execute(change)


@pytest.mark.parametrize("reason", ["", "x" * 1_001, "a\0b"])
async def test_a_reason_is_words(pool: Pool, reason: str) -> None:
    async with pool.acquire() as connection:
        with pytest.raises(ValueError, match="a reason is"):
            await begin_epoch(connection, reason)
