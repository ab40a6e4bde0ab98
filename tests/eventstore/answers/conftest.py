"""Answers of earlier tests are taken out."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.postgres import Connection, Pool
from stack.threads import run_apart


@pytest.fixture
def database(database: str) -> str:
    """A migrated database without answers."""

    async def empty() -> None:
        connection = await asyncpg.connect(database)
        try:
            await connection.execute("DELETE FROM eventstore.answers")
        finally:
            await connection.close()

    run_apart(empty)
    return database


@pytest.fixture
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.acquire() as connection:
        yield connection
