"""Applying migrations: one runner at a time, each step with its note in one transaction.

Waiting for no lock long.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from eventstore.migrations.files import Migration, event_log_migrations
from eventstore.postgres.connections import Connection

EVENT_LOG = "eventstore"
"""Component under which the event log's own migrations are noted."""

_ADVISORY_LOCK = 0x5570_6361_7264_0001  # any number that nothing else in the database takes
_TRIES = 10
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0

_NOTES = """
CREATE TABLE IF NOT EXISTS public.applied_migrations (
    component text NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    took_ms integer NOT NULL,
    CONSTRAINT applied_migrations_pkey PRIMARY KEY (component, number)
);
-- A service compares them with what it needs before it says that it is ready.
GRANT SELECT ON public.applied_migrations TO PUBLIC
"""


class MigrationChanged(Exception):
    """A migration that this database has had is not the one in the file any more."""


class DatabaseIsNewer(Exception):
    """The database has had migrations that this program does not know. There is no way back.

    Use a newer program.
    """


class MigrationBlocked(Exception):
    """A migration did not get its locks, often as it was tried. It changed nothing; try at a quieter time."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that was applied now, and how long it took in milliseconds."""

    migration: Migration
    took_ms: int


async def migrate(
    connection: Connection,
    component: str,
    migrations: Sequence[Migration],
    *,
    lock_timeout_ms: int = 2_000,
    wait_for_runner_ms: int = 60_000,
) -> tuple[Applied, ...]:
    """Apply what is missing, as the owner of the schema. Safe to call from every instance at its start.

    `lock_timeout_ms` bounds how long a step may wait for a lock, and so how long others queue behind it; a
    step that gets none is rolled back and tried again, ten times with growing pauses. Raises
    MigrationChanged, DatabaseIsNewer, MigrationBlocked, or what the database says of a faulty step (which
    is rolled back; earlier ones stay).
    """
    await connection.execute("SELECT set_config('lock_timeout', $1, false)", f"{wait_for_runner_ms}ms")
    await connection.execute("SELECT pg_advisory_lock($1)", _ADVISORY_LOCK)
    try:
        # The session's other limits are for traffic: a long step is allowed to be long.
        await connection.execute("SET statement_timeout = 0; SET transaction_timeout = 0")
        await connection.execute("SELECT set_config('lock_timeout', $1, false)", f"{lock_timeout_ms}ms")
        await connection.execute(_NOTES)
        return tuple(
            [
                await _apply_patiently(connection, component, migration)
                for migration in await pending_migrations(connection, component, migrations)
            ]
        )
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", _ADVISORY_LOCK)
            await connection.execute("RESET lock_timeout; RESET statement_timeout; RESET transaction_timeout")


async def pending_migrations(
    connection: Connection, component: str, migrations: Sequence[Migration]
) -> tuple[Migration, ...]:
    """What a database still lacks; the check for readiness. Raises MigrationChanged, DatabaseIsNewer."""
    if await connection.fetchval("SELECT to_regclass('public.applied_migrations')") is None:
        return tuple(migrations)
    rows = await connection.fetch(
        "SELECT number, name, checksum FROM public.applied_migrations WHERE component = $1 ORDER BY number",
        component,
    )
    known = {migration.number: migration for migration in migrations}
    for row in rows:
        migration = known.pop(row["number"], None)
        if migration is None:
            raise DatabaseIsNewer(
                f"{component}: the database has had migration {row['number']:04}_{row['name']}"
            )
        if migration.checksum != row["checksum"]:
            raise MigrationChanged(
                f"{component}: {migration.number:04}_{migration.name} was changed after it was applied here"
            )
    missing = tuple(known.values())
    if rows and missing and missing[0].number < rows[-1]["number"]:
        raise MigrationChanged(
            f"{component}: {missing[0].number:04}_{missing[0].name} was left out in this database"
        )
    return missing


async def prepare_event_log(
    connection: Connection,
    *,
    service_role: str | None = None,
    private_role: str | None = None,
    months_ahead: int = 3,
) -> tuple[Applied, ...]:
    """Bring the event log of a database up to date, as its owner.

    Makes the partitions of this month and the next ones, and gives the roles (which exist already) their
    rights: `service_role` to append and read, `private_role` to read private parts.
    """
    applied = await migrate(connection, EVENT_LOG, event_log_migrations())
    await connection.execute("SELECT eventstore.ensure_periods($1)", months_ahead)
    if service_role is not None:
        await connection.execute(
            "SELECT eventstore.grant_service($1), eventstore.grant_following($1),"
            " eventstore.grant_coordination($1)",
            service_role,
        )
    if private_role is not None:
        await connection.execute("SELECT eventstore.grant_private($1)", private_role)
    return applied


async def _apply_patiently(connection: Connection, component: str, migration: Migration) -> Applied:
    pause_s = _FIRST_PAUSE_S
    for last in [False] * (_TRIES - 1) + [True]:
        try:
            return await _apply(connection, component, migration)
        except asyncpg.LockNotAvailableError as error:
            if last:
                raise MigrationBlocked(
                    f"{component}: {migration.number:04}_{migration.name}: {error}"
                ) from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise AssertionError


async def _apply(connection: Connection, component: str, migration: Migration) -> Applied:
    began = time.monotonic()
    if migration.in_transaction:
        async with connection.transaction():
            await connection.execute(migration.sql)
            return await _note(connection, component, migration, began)
    await connection.execute(migration.sql)
    return await _note(connection, component, migration, began)


async def _note(connection: Connection, component: str, migration: Migration, began: float) -> Applied:
    took_ms = round((time.monotonic() - began) * 1000)
    await connection.execute(
        "INSERT INTO public.applied_migrations (component, number, name, checksum, took_ms)"
        " VALUES ($1, $2, $3, $4, $5)",
        component,
        migration.number,
        migration.name,
        migration.checksum,
        took_ms,
    )
    return Applied(migration, took_ms)
