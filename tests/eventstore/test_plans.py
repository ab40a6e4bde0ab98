"""A plan made while a month was new and empty still serves when it is full: work is counted, not time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore import Expect, NewEvent, StreamAppend
from eventstore.postgres import Connection, append_in_transaction, reading
from tests.eventstore.samples import events

# What this session has read of all months and not yet reported, so far.
ROWS_READ = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_xact_user_tables
 WHERE schemaname = 'eventstore' AND relname LIKE 'events%'
"""
BATCH = 200


@pytest.fixture
def database(new_database: Callable[[], str]) -> str:
    """A log of its own, whose tables nobody has analysed."""
    return new_database()


@pytest.fixture
async def connection(database: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database)
    months = await connection.fetch(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'eventstore' AND tablename ~ '^events_'"
    )
    for (month,) in months:
        await connection.execute(f"ALTER TABLE eventstore.{month} SET (autovacuum_enabled = off)")
    yield connection
    await connection.close()


async def append(connection: Connection, batch: list[NewEvent]) -> bool:
    """Append with `any`; whether it was stored already."""
    async with connection.transaction():
        (appended,) = await append_in_transaction(connection, [StreamAppend("account-a", Expect.ANY, batch)])
    return appended.already


async def test_an_append_that_expects_nothing_looks_for_its_own_ids_alone(connection: Connection) -> None:
    for _ in range(10):
        await append(connection, events(BATCH))
    batch = events(BATCH)
    async with connection.transaction():
        before = await connection.fetchval(ROWS_READ)
        assert not await append(connection, batch)
        assert await append(connection, batch)
        assert await connection.fetchval(ROWS_READ) - before <= 2 * BATCH


async def test_finding_events_by_their_ids_reads_these_alone(connection: Connection) -> None:
    batch = events(BATCH)
    ids = [event.event_id for event in batch]
    await reading.find_events(connection, ids)
    for _ in range(10):
        await append(connection, events(BATCH))
    await append(connection, batch)
    for _ in range(8):  # after the fifth time a statement has one plan for whatever it is asked
        await reading.find_events(connection, ids)
    async with connection.transaction():
        before = await connection.fetchval(ROWS_READ)
        found = await reading.find_events(connection, ids)
        assert [event.event_id for event in found] == ids
        assert await connection.fetchval(ROWS_READ) - before <= 2 * BATCH
