"""Sessions of others that hold a shard, and waiting for the server to say that someone waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg

from eventstore.postgres import Connection

DEADLINE_S = 30


HOLD = """
SELECT shard FROM eventstore.shard_heads WHERE shard = ANY ($1::int[]) ORDER BY shard FOR NO KEY UPDATE
"""
# Inside a transaction the server shows the same activity again until it is told to look anew.
WAITING = """
SELECT pid FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@contextlib.asynccontextmanager
async def shard_held(dsn: str, *shards: int, application_name: str = "culprit") -> AsyncIterator[Connection]:
    """Another session holds the shards for as long as this lasts."""
    connection = await asyncpg.connect(dsn, server_settings={"application_name": application_name})
    transaction = connection.transaction()
    await transaction.start()
    await connection.fetch(HOLD, list(shards))
    try:
        yield connection
    finally:
        if not connection.is_closed():
            await transaction.rollback()
        await connection.close()


async def until_waiting(connection: Connection, sessions: int = 1) -> list[int]:
    """Wait until so many sessions of this database wait for a lock; their process ids."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            await connection.execute("SELECT pg_stat_clear_snapshot()")
            rows = await connection.fetch(WAITING)
            if len(rows) >= sessions:
                return [row["pid"] for row in rows]
