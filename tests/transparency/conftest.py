"""A log with a tree over it, empty for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.eventstore.conftest import EMPTY
from tests.transparency.world import World
from transparency.migrations import prepare_transparency

EMPTY_TREE = """
TRUNCATE transparency.kept, transparency.signatures, transparency.checkpoints, transparency.tiles,
         transparency.runs;
UPDATE transparency.tree SET size = 0, frontier = '';
INSERT INTO transparency.tree (size, frontier) VALUES (0, '') ON CONFLICT DO NOTHING;
UPDATE transparency.shard_positions SET position = 0 WHERE position > 0;
INSERT INTO eventstore.shard_heads (shard) SELECT generate_series(0, 63) ON CONFLICT DO NOTHING;
"""


@pytest.fixture(scope="session")
def shared_database(stack: Stack) -> str:
    """A migrated database for all tests of this process."""

    async def make() -> str:
        dsn = await stack.databases.create(fresh_name("tree"))
        connection = await asyncpg.connect(dsn)
        try:
            await prepare_event_log(connection)
            await prepare_transparency(connection)
        finally:
            await connection.close()
        return dsn

    return run_apart(make)


@pytest.fixture
async def pool(shared_database: str) -> AsyncIterator[Pool]:
    """Connections to it, as its owner, and nothing in it."""
    async with await open_pool(shared_database, application_name="test") as pool:
        async with pool.acquire() as connection:
            await connection.execute(EMPTY)
            await connection.execute(EMPTY_TREE)
        yield pool


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[World]:
    """A log, and what takes it into a tree."""
    async with PostgresEventStore(pool) as store:
        yield World(pool, store)
