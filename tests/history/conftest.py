"""What all tests of the history stand on: migrated databases, and the service's role in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.eventstore.test_append_only import as_role
from tests.history.world import PASSWORD, World, open_world
from upcard_history.migrations import prepare_history


@pytest.fixture(scope="session")
def service_role(stack: Stack) -> Iterator[str]:
    """A role that has what the service has, and nothing more."""
    name = fresh_name("history_service")

    async def execute(statement: str) -> None:
        connection = await asyncpg.connect(stack.databases.admin_dsn)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    run_apart(lambda: execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"))
    yield name
    if not stack.facts.postgres_is_ours:
        run_apart(lambda: execute(f"DROP OWNED BY {name}; DROP ROLE {name}"))


@pytest.fixture(scope="session")
def database_template(stack: Stack, service_role: str) -> str:
    """A database with history's log, tables and views, to be copied."""
    name = fresh_name("history")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection, service_role=service_role)
            await prepare_messaging(connection, service_role=service_role)
            await prepare_history(connection, service_role=service_role)
        finally:
            await connection.close()

    run_apart(make)
    return name


@pytest.fixture
def service_database(database: str, service_role: str) -> str:
    """The address of a fresh database of this test, for the service's role."""
    return as_role(database, service_role, PASSWORD)


@pytest.fixture
async def world(database: str, service_database: str) -> AsyncIterator[World]:
    """A history whose sessions have the service's rights."""
    async with open_world(service_database, database) as opened:
        yield opened
