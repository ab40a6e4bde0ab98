"""Leases of earlier tests are taken out."""

from __future__ import annotations

import asyncpg
import pytest

from stack.threads import run_apart


@pytest.fixture
def database(database: str) -> str:
    """A migrated database in which nobody holds a lease."""

    async def empty() -> None:
        connection = await asyncpg.connect(database)
        try:
            await connection.execute("DELETE FROM eventstore.leases")
        finally:
            await connection.close()

    run_apart(empty)
    return database
