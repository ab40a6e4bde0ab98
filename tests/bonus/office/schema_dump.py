"""The schema of the bonus service's tables, as text; run as a program it writes the declared one anew."""

from __future__ import annotations

import asyncio
import subprocess
from importlib.resources import files
from pathlib import Path

import asyncpg

from eventstore.migrations import prepare_event_log
from stack import Lane, Stack
from stack.names import fresh_name
from stack.postgres.binaries import programs
from tests.eventstore.schema_dump import without_noise
from upcard_bonus.migrations import prepare_bonus

DECLARED = Path(str(files("upcard_bonus.migrations") / "schema.sql"))

_HEADING = """\
-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.bonus.office.schema_dump`.
"""


def dumped(dsn: str) -> str:
    """The schema `bonus` of a database, without what differs from one dump to the next."""
    text = subprocess.run(
        [programs(None) / "pg_dump", "--schema-only", "--no-owner", "--schema=bonus", "--dbname", dsn],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    return without_noise(text, _HEADING)


async def migrated(dsn: str) -> None:
    """Apply the event log's migrations and the service's; no service's role is given anything."""
    connection = await asyncpg.connect(dsn)
    try:
        await prepare_event_log(connection)
        await prepare_bonus(connection)
    finally:
        await connection.close()


async def _write() -> None:
    async with Stack(Lane.EMBEDDED) as stack:
        dsn = await stack.databases.create(fresh_name("schema"))
        await migrated(dsn)
        await asyncio.to_thread(DECLARED.write_text, await asyncio.to_thread(dumped, dsn))


if __name__ == "__main__":
    asyncio.run(_write())
