"""What the service's role may do with what lies beside the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from eventstore.answers import AnswerKey, Fresh, begin, digest, find_answers, finish, prune_answers
from eventstore.coordination import begin_epoch, current_epoch, epochs, hold_lease, require_lease
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, open_pool
from eventstore.snapshots import PostgresSnapshots, Snapshot
from stack import Stack
from stack.names import fresh_name
from stack.postgres.databases import with_database
from tests.eventstore.test_append_only import as_role

KEY = AnswerKey("gateway", "PlaceBets", "rights")


@pytest.fixture
async def service(stack: Stack, database: str) -> AsyncIterator[Pool]:
    """Connections of a service's role to the migrated database."""
    name = fresh_name("service")
    admin = await asyncpg.connect(
        with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    )
    await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pass'")
    owner = await asyncpg.connect(database)
    await prepare_event_log(owner, service_role=name)
    await owner.close()
    async with await open_pool(
        as_role(database, name, "pass"), application_name="service", min_size=1
    ) as pool:
        yield pool
    await admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await admin.close()


async def test_the_service_holds_leases(service: Pool) -> None:
    async with (
        hold_lease(service, "rights", holder="a") as held,
        service.acquire() as connection,
        connection.transaction(),
    ):
        await require_lease(connection, held.lease)


async def test_the_service_answers_calls(service: Pool) -> None:
    async with service.acquire() as connection:
        async with connection.transaction():
            assert await begin(connection, KEY, digest(b"")) == Fresh()
            await finish(connection, KEY, b"yes")
        assert (await find_answers(connection, [KEY]))[KEY].answer == b"yes"
        await prune_answers(connection)


async def test_the_service_keeps_snapshots(service: Pool) -> None:
    snapshots = PostgresSnapshots(service)
    one = Snapshot("table-rights", "table", 1, 1, b"h" * 32, b"")
    await snapshots.save(one)
    assert await snapshots.load("table-rights", "table", 1) == one
    await snapshots.discard(one)
    await snapshots.discard_older_versions("table", 2)


async def test_the_service_reads_epochs_and_begins_none(service: Pool) -> None:
    async with service.acquire() as connection:
        assert await current_epoch(connection) == len(await epochs(connection))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await begin_epoch(connection, "of its own accord")


@pytest.mark.parametrize(
    "forbidden",
    [
        "UPDATE eventstore.answers SET body_digest = body_digest",
        "UPDATE eventstore.answers SET created_at = created_at",
        "DELETE FROM eventstore.leases",
        "TRUNCATE eventstore.answers",
        "INSERT INTO eventstore.epochs (epoch, reason, positions, hashes) VALUES (9, 'x', '{}', '{}')",
        "SELECT eventstore.grant_coordination(current_user)",
    ],
)
async def test_the_service_may_do_nothing_else(service: Pool, forbidden: str) -> None:
    async with service.acquire() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(forbidden)
