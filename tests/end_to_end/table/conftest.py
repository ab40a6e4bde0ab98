"""A casino for the tests of a module: a table service, a wallet, Kafka, two databases."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import asyncpg
import pytest
import pytest_asyncio

from eventstore.migrations import prepare_event_log
from eventstore.postgres import Connection, PostgresEventStore, open_pool
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.end_to_end.table.partnered import Partnered, open_partnered
from tests.end_to_end.table.processes import Casino, open_casino
from tests.eventstore.test_append_only import as_role
from upcard_table.migrations import prepare_tables
from upcard_wallet.migrations import prepare_wallet

PASSWORD = "pass"  # noqa: S105 - of a role that lives as long as the tests
Prepare = Callable[..., Awaitable[object]]


@pytest.fixture(scope="session")
def service_role(stack: Stack) -> Iterator[str]:
    """A role that has what a service has, and nothing more."""
    name = fresh_name("service")

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


async def _make(stack: Stack, name: str, role: str, *prepare: Prepare) -> str:
    connection: Connection = await asyncpg.connect(await stack.databases.create(name))
    try:
        for one in (prepare_event_log, prepare_messaging, *prepare):
            await one(connection, service_role=role)
    finally:
        await connection.close()
    return name


@pytest.fixture(scope="session")
def table_template(stack: Stack, service_role: str) -> str:
    """A database of the table service, to be copied."""
    return run_apart(lambda: _make(stack, fresh_name("table"), service_role, prepare_tables))


@pytest.fixture(scope="session")
def wallet_template(stack: Stack, service_role: str) -> str:
    """A database of the wallet, to be copied."""
    return run_apart(lambda: _make(stack, fresh_name("wallet"), service_role, prepare_wallet))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def casino(
    stack: Stack, table_template: str, wallet_template: str, service_role: str
) -> AsyncIterator[Casino]:
    """Shared by the tests of a module: each has tables and players of its own."""

    async def database(template: str) -> tuple[str, str]:
        owner = await stack.databases.create(fresh_name("casino"), template)
        return owner, as_role(owner, service_role, PASSWORD)

    async with open_casino(stack, await database(table_template), await database(wallet_template)) as open_:
        yield open_


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def log(casino: Casino) -> AsyncIterator[PostgresEventStore]:
    """The table service's log, read by the role that owns it."""
    async with (
        await open_pool(casino.table_dsn, application_name="tests") as pool,
        PostgresEventStore(pool) as store,
    ):
        yield store


@contextlib.asynccontextmanager
async def _partnered(
    stack: Stack, templates: tuple[str, str], role: str, **how: bool
) -> AsyncIterator[Partnered]:
    async def database(template: str) -> tuple[str, str]:
        owner = await stack.databases.create(fresh_name("casino"), template)
        return owner, as_role(owner, role, PASSWORD)

    table, wallet = [await database(template) for template in templates]
    async with (
        open_partnered(stack, table, wallet, **how) as (casino, partner),
        await open_pool(casino.table_dsn, application_name="tests") as pool,
        PostgresEventStore(pool) as store,
    ):
        yield Partnered(casino, store, partner)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def partnered(
    stack: Stack, table_template: str, wallet_template: str, service_role: str
) -> AsyncIterator[Partnered]:
    """A casino whose players' money lies with a partner, shared by the tests of a module."""
    async with _partnered(stack, (table_template, wallet_template), service_role) as open_:
        yield open_


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def distrusting(
    stack: Stack, table_template: str, wallet_template: str, service_role: str
) -> AsyncIterator[Partnered]:
    """The same, with a partner that was caught taking money that it refused."""
    async with _partnered(stack, (table_template, wallet_template), service_role, distrusted=True) as open_:
        yield open_
