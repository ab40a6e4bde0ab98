"""The schema of messaging's tables, as text; run as a program it writes the declared one anew."""

from __future__ import annotations

import asyncio
import subprocess
from importlib.resources import files
from pathlib import Path

import asyncpg

from eventstore.migrations import migrate
from messaging.migrations import COMPONENT, messaging_migrations
from stack import Lane, Stack
from stack.names import fresh_name
from stack.postgres.binaries import programs
from tests.eventstore.schema_dump import without_noise

DECLARED = Path(str(files("messaging.migrations") / "schema.sql"))

_HEADING = """\
-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.messaging.relay.schema_dump`.
"""


def dumped(dsn: str) -> str:
    """The schema `messaging` of a database, without what differs from one dump to the next."""
    text = subprocess.run(
        [programs(None) / "pg_dump", "--schema-only", "--no-owner", "--schema=messaging", "--dbname", dsn],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    return without_noise(text, _HEADING)


async def _write() -> None:
    async with Stack(Lane.EMBEDDED) as stack:
        dsn = await stack.databases.create(fresh_name("schema"))
        connection = await asyncpg.connect(dsn)
        await migrate(connection, COMPONENT, messaging_migrations())
        await connection.close()
        await asyncio.to_thread(DECLARED.write_text, await asyncio.to_thread(dumped, dsn))


if __name__ == "__main__":
    asyncio.run(_write())
