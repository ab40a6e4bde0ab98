"""What all tests of the gateway stand on: migrated databases, the service's role, an app in this process."""

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
from tests.gateway.world import PASSWORD, World, open_world
from upcard_gateway.adapters.services import Services
from upcard_gateway.migrations import prepare_gateway


@pytest.fixture(scope="session")
def service_role(stack: Stack) -> Iterator[str]:
    """A role that has what the service has, and nothing more."""
    name = fresh_name("gateway_service")

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
    """A database with the gateway's log, tables and messaging's, to be copied."""
    name = fresh_name("gateway")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection, service_role=service_role)
            await prepare_messaging(connection, service_role=service_role)
            await prepare_gateway(connection, service_role=service_role)
        finally:
            await connection.close()

    run_apart(make)
    return name


@pytest.fixture
def service_database(database: str, service_role: str) -> str:
    """The address of a fresh database of this test, for the service's role."""
    return as_role(database, service_role, PASSWORD)


@pytest.fixture
def services() -> Services | None:
    """The services behind the gateway of `world`: nobody. Tests with some give a fixture of this name."""
    return None


@pytest.fixture
async def world(service_database: str, services: Services | None) -> AsyncIterator[World]:
    """A gateway's app in this process, on a fresh database, over `services`."""
    async with open_world(service_database, services=services) as opened:
        yield opened
