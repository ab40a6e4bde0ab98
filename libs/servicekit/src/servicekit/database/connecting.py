"""Reaching the database at the start: patiently while it is away, not at all when it is not fit."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import structlog

from eventstore.migrations import DatabaseIsNewer, Migration, MigrationChanged, pending_migrations
from eventstore.postgres import SESSION_LOST, Connection, Pool, SessionLimits, open_pool
from servicekit.clock import ClockSkewed, require_clock
from servicekit.health import NotReady
from servicekit.lifecycle.exits import StartRefused
from servicekit.settings import DatabaseSettings
from servicekit.tracing import enabled, trace_queries

UNREACHABLE: Final = (
    asyncpg.PostgresConnectionError,
    *SESSION_LOST,
)
# It will not get better by waiting: somebody has to change something.
_REFUSED: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,  # a wrong password is one
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
)
_NOT_YET: Final = (*UNREACHABLE, asyncpg.CannotConnectNowError, asyncpg.TooManyConnectionsError, NotReady)
_CONNECT_WITHIN_S: Final = 5.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0

_log = structlog.get_logger("servicekit.database")


@dataclass(frozen=True, slots=True)
class Component:
    """Something whose tables are in the database, and the migrations that the program was made with."""

    name: str
    migrations: Sequence[Migration]


async def require_migrated(connection: Connection, components: Sequence[Component]) -> None:
    """Raise NotReady unless every component has all of its migrations, and no others."""
    for component in components:
        try:
            missing = await pending_migrations(connection, component.name, component.migrations)
        except (DatabaseIsNewer, MigrationChanged) as error:
            raise NotReady(f"{error}: another version of the program belongs to this database") from error
        except asyncpg.InsufficientPrivilegeError:
            raise NotReady(
                "this role may not read public.applied_migrations: grant it SELECT on that table"
            ) from None
        if missing:
            raise NotReady(
                f"the database lacks {len(missing)} migrations of {component.name},"
                f" from {missing[0].number:04}_{missing[0].name} on: run the migrations, as the owner"
            )


def place_of(dsn: str) -> str:
    """Where an address leads, without name and password."""
    parts = urlsplit(dsn)
    return f"{parts.netloc.rpartition('@')[2] or '?'}{parts.path}"


async def connect(settings: DatabaseSettings, application_name: str) -> "asyncpg.Connection[Any]":
    """One connection outside of the pool, which answers when the pool is exhausted."""
    limits = SessionLimits(statement_timeout_ms=5_000)
    return await asyncpg.connect(
        settings.dsn.get_secret_value(),
        timeout=_CONNECT_WITHIN_S,
        command_timeout=_CONNECT_WITHIN_S,
        server_settings=limits.server_settings(application_name),
    )


async def open_when_fit(
    settings: DatabaseSettings, application_name: str, components: Sequence[Component], patience_s: float
) -> Pool:
    """A pool, once the database can be reached and is migrated and our clock agrees with its.

    Tries again for `patience_s` seconds, with growing pauses, while it is away or not migrated yet. Raises
    StartRefused, whose text says what to do; at once for what waiting does not mend.
    """
    deadline = time.monotonic() + patience_s
    pause_s = _FIRST_PAUSE_S
    while True:
        try:
            return await _open(settings, application_name, components)
        except ClockSkewed as error:
            raise StartRefused(str(error)) from error
        except _REFUSED as error:
            raise StartRefused(
                f"the database at {place_of(settings.dsn.get_secret_value())} refuses us ({_why(error)}):"
                " check UPCARD_DSN, and that the database and the role are there"
            ) from None
        except _NOT_YET as error:
            why = _why(error)
        if time.monotonic() + pause_s >= deadline:
            place = place_of(settings.dsn.get_secret_value())
            raise StartRefused(f"the database at {place} is not to be had after {patience_s:g} s: {why}")
        _log.warning("the database is not there yet", why=why, again_in_s=round(pause_s, 3))
        # By chance, so that instances do not come all at once.
        await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - no secret is made of it
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


async def _open(settings: DatabaseSettings, application_name: str, components: Sequence[Component]) -> Pool:
    connection = await connect(settings, application_name)
    try:
        await require_clock(connection, max_skew_s=settings.clock_skew_max_ms / 1000)
        await require_migrated(connection, components)
    finally:
        await connection.close(timeout=2.0)
    return await open_pool(
        settings.dsn.get_secret_value(),
        application_name=application_name,
        min_size=settings.database_pool_min,
        max_size=settings.database_pool_max,
        timeout=_CONNECT_WITHIN_S,
        init=trace_queries if enabled() else None,
    )


def _why(error: BaseException) -> str:
    if isinstance(error, NotReady):
        return str(error)
    if isinstance(error, asyncpg.PostgresError):
        return f"it answers {error.sqlstate} ({type(error).__name__})"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    words = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return f"it cannot be reached ({words})"
