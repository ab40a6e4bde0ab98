"""Databases of the bonus service and of a table, and the service's role in the first."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from messaging.migrations import prepare_messaging
from stack import Stack
from stack.names import fresh_name
from tests.bonus.conftest import PASSWORD, database_template, service_role
from tests.end_to_end.bonus.processes import environment, fresh_namespace, neighbour
from tests.eventstore.test_append_only import as_role
from tests.wallet.edges.neighbours import Neighbour

__all__ = ["database_template", "service_role"]


@pytest.fixture
async def table_dsn(stack: Stack) -> str:
    """A database with a table's log."""
    dsn = await stack.databases.create(fresh_name("table"))
    connection = await asyncpg.connect(dsn)
    try:
        await prepare_event_log(connection)
        await prepare_messaging(connection)
    finally:
        await connection.close()
    return dsn


@pytest.fixture
def namespace() -> str:
    """Names for topics and groups of this test."""
    return fresh_namespace()


@pytest.fixture
async def table(stack: Stack, table_dsn: str, namespace: str) -> AsyncIterator[Neighbour]:
    """The table service as far as it is seen: its log and its feed."""
    async with neighbour(stack, table_dsn, namespace) as there:
        yield there


@pytest.fixture
def settings(
    stack: Stack, database: str, service_role: str, table: Neighbour, namespace: str
) -> dict[str, str]:
    """Settings of a bonus service on a fresh database."""
    dsn = as_role(database, service_role, PASSWORD)
    return environment(stack, dsn, table=table.address, namespace=namespace)
