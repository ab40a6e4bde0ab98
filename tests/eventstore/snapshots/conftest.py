"""Where snapshots are kept: the table, and the twin."""

from __future__ import annotations

import asyncpg
import pytest

from eventstore.postgres import Pool
from eventstore.snapshots import MemorySnapshots, PostgresSnapshots
from stack.threads import run_apart
from tests.eventstore.conftest import Store


@pytest.fixture
def snapshots(request: pytest.FixtureRequest, store: Store) -> MemorySnapshots | PostgresSnapshots:
    """Of the same kind as the store."""
    if "memory" in type(store).__module__:
        return MemorySnapshots()
    pool: Pool = request.getfixturevalue("pool")
    return PostgresSnapshots(pool)


@pytest.fixture
def database(database: str) -> str:
    """A migrated database without snapshots."""

    async def empty() -> None:
        connection = await asyncpg.connect(database)
        try:
            await connection.execute("DELETE FROM eventstore.snapshots")
        finally:
            await connection.close()

    run_apart(empty)
    return database
