"""The schema of a migrated database, as text; run as a program it writes the declared one anew."""

from __future__ import annotations

import asyncio
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import asyncpg

from eventstore.migrations import event_log_migrations, migrate
from stack import Lane, Stack
from stack.names import fresh_name
from stack.postgres.binaries import programs

DECLARED = Path(str(files("eventstore.migrations") / "schema.sql"))

_HEADING = """\
-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.eventstore.schema_dump`; the months' partitions are made at run time.
"""
_NOISE = ("--", "SET ", "SELECT pg_catalog.set_config", "\\restrict", "\\unrestrict")


def dumped(dsn: str) -> str:
    """The schema `eventstore` of a database, without what differs from one dump to the next."""
    text = subprocess.run(
        [programs(None) / "pg_dump", "--schema-only", "--no-owner", "--schema=eventstore", "--dbname", dsn],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    return without_noise(text, _HEADING)


def without_noise(dump: str, heading: str) -> str:
    """A dump without what differs from one to the next, under a heading."""
    lines: list[str] = []
    inside = False  # a function's body keeps its comments and its empty lines
    for line in dump.splitlines():
        if inside or not line.startswith(_NOISE):
            lines.append(line)
        if line.count("$$") % 2 or line.count("$_$") % 2:
            inside = not inside
    return heading + re.sub(r"\n{3,}", "\n\n", "\n".join(["", *lines])).rstrip() + "\n"


async def migrated(dsn: str) -> None:
    """Apply the event log's migrations, and nothing else."""
    connection = await asyncpg.connect(dsn)
    try:
        await migrate(connection, "eventstore", event_log_migrations())
    finally:
        await connection.close()


async def _write() -> None:
    async with Stack(Lane.EMBEDDED) as stack:
        dsn = await stack.databases.create(fresh_name("schema"))
        await migrated(dsn)
        await asyncio.to_thread(DECLARED.write_text, await asyncio.to_thread(dumped, dsn))


if __name__ == "__main__":
    asyncio.run(_write())
