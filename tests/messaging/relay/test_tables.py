"""Messaging's tables in a service's database: migrated, declared, linted, and who may do what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from eventstore.migrations import migrate, pending_migrations, prepare_event_log
from eventstore.postgres import Connection, Pool, open_pool
from messaging.migrations import COMPONENT, messaging_migrations, prepare_messaging
from messaging.relay import NothingToRepublish, relay_positions, republish
from messaging.relay.positions import claim_positions, store_positions
from stack import Stack
from stack.names import fresh_name
from stack.postgres.databases import with_database
from tests.eventstore.test_append_only import as_role
from tests.messaging.relay.schema_dump import DECLARED, dumped


async def test_a_migrated_database_is_the_declared_schema(stack: Stack) -> None:
    dsn = await stack.databases.create(fresh_name("messaging"))
    connection = await asyncpg.connect(dsn)
    await migrate(connection, COMPONENT, messaging_migrations())
    await connection.close()
    assert await asyncio.to_thread(dumped, dsn) == DECLARED.read_text(), (
        "see tests/messaging/relay/schema_dump.py"
    )


async def test_preparing_twice_changes_nothing(pool: Pool) -> None:
    async with pool.acquire() as connection:
        assert await prepare_messaging(connection) == ()
        assert await pending_migrations(connection, COMPONENT, messaging_migrations()) == ()


@pytest.fixture
async def service(stack: Stack, database: str) -> AsyncIterator[Connection]:
    """A connection of a service's role."""
    name = fresh_name("service")
    admin = await asyncpg.connect(
        with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    )
    await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pass'")
    owner = await asyncpg.connect(database)
    await prepare_event_log(owner, service_role=name)
    await prepare_messaging(owner, service_role=name)
    await owner.close()
    async with (
        await open_pool(as_role(database, name, "pass"), application_name="service", min_size=1) as pool,
        pool.acquire() as connection,
    ):
        yield connection
    await admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await admin.close()


async def test_the_service_moves_positions_and_has_things_published_again(service: Connection) -> None:
    await claim_positions(service, "events", 1)
    assert await store_positions(service, "events", 1, [(5, 0, 3)]) == {5}
    assert (await relay_positions(service, "events"))[5].position == 3
    await republish(service, "events", [5], from_position=2, asked_by="a test", reason="to see it")
    with pytest.raises(NothingToRepublish):
        await republish(service, "events", [5], from_position=2, asked_by="a test", reason="to see it")


@pytest.mark.parametrize(
    "forbidden",
    [
        "UPDATE messaging.republications SET reason = 'x'",
        "DELETE FROM messaging.republications",
        "DELETE FROM messaging.relay_positions",
        "TRUNCATE messaging.relay_positions",
        "SELECT messaging.grant_service(current_user)",
    ],
)
async def test_the_service_may_do_nothing_else(service: Connection, forbidden: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await service.execute(forbidden)


@pytest.mark.parametrize(
    ("column", "value"), [("position", "-1"), ("shard", "64"), ("topic", "''"), ("shard", "-1")]
)
async def test_the_table_has_bounds(pool: Pool, column: str, value: str) -> None:
    async with pool.acquire() as connection:
        await claim_positions(connection, "events", 1)
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute(
                f"UPDATE messaging.relay_positions SET {column} = {value} WHERE shard = 5"  # noqa: S608 - a test's own
            )
