"""Making a service's database and bringing it up to date: its log, the tables beside it, its own."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

from eventstore.migrations import prepare_event_log
from eventstore.postgres import Connection
from messaging.migrations import prepare_messaging
from transparency.migrations import prepare_transparency
from upcard_operate.running import connected

_OWN: Final = {
    "table": ("upcard_table.migrations", "prepare_tables"),
    "wallet": ("upcard_wallet.migrations", "prepare_wallet"),
    "bonus": ("upcard_bonus.migrations", "prepare_bonus"),
    "history": ("upcard_history.migrations", "prepare_history"),
    "gateway": ("upcard_gateway.migrations", "prepare_gateway"),
}


def database_of(service: str) -> str:
    """The name of a service's database, and of the role that the service logs in as."""
    return f"upcard_{service}"


async def prepare_database(connection: Connection, service: str, *, service_role: str | None) -> int:
    """Apply what is missing, as the owner of the database; how many migrations that were.

    `service_role` (which exists already) is given what the service needs and nothing more. Safe to repeat,
    and to run twice at once. Raises KeyError for a service that is not there.
    """
    module, name = _OWN[service]
    own: Callable[..., Awaitable[Any]] = getattr(importlib.import_module(module), name)
    applied = 0
    for prepare in (prepare_event_log, prepare_messaging, prepare_transparency, own):
        applied += len(await prepare(connection, service_role=service_role))
    return applied


async def create_database(admin_dsn: str, service: str, password: str) -> int:
    """Make a service's role and database where they are missing, and migrate; how many migrations were new.

    The role may log in with this password and do what the service needs, nothing more; the database belongs
    to the administrator's role. Safe to repeat; a repetition sets the password again.
    """
    name = database_of(service)
    async with connected(admin_dsn) as connection:
        there = await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", name)
        # A utility statement takes no parameters: the server quotes them for us.
        statement: str = await connection.fetchval(
            "SELECT format('%s ROLE %I LOGIN PASSWORD %L', $1::text, $2::text, $3::text)",
            "ALTER" if there else "CREATE",
            name,
            password,
        )
        with contextlib.suppress(asyncpg.DuplicateObjectError):  # made by another one meanwhile
            await connection.execute(statement)
        if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
            with contextlib.suppress(asyncpg.DuplicateDatabaseError):  # likewise
                await connection.execute(f'CREATE DATABASE "{name}"')
    async with connected(in_database(admin_dsn, name)) as connection:
        return await prepare_database(connection, service, service_role=name)


def in_database(dsn: str, name: str, *, role: str | None = None, password: str = "") -> str:
    """The address of another database of the same server, and in another role's name if one is given."""
    parts = urlsplit(dsn)
    netloc = parts.netloc
    if role is not None:
        host = netloc.rpartition("@")[2]
        netloc = f"{quote(role, safe='')}:{quote(password, safe='')}@{host}"
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{name}"))
