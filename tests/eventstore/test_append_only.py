"""Nobody changes what was recorded, and the service's role can append in one way only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
import pytest

from eventstore import Keyring
from eventstore.migrations import prepare_event_log
from eventstore.postgres import (
    Connection,
    Pool,
    PostgresEventStore,
    PostgresPrivateReader,
    open_pool,
    shard_holders,
)
from stack import Stack
from stack.names import fresh_name
from stack.postgres.databases import with_database
from tests.eventstore.samples import event

STREAM = "round-t1.1"
TABLES = ["events", "private_parts"]
CHANGES = [
    "UPDATE eventstore.{} SET stream = 'other'",
    "DELETE FROM eventstore.{}",
    "TRUNCATE eventstore.{}",
    "TRUNCATE eventstore.{} CASCADE",
]


def as_role(address: str, role: str, password: str) -> str:
    """The same database for another role."""
    parts = urlsplit(address)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{quote(password, safe='')}@{place}"))


@pytest.fixture
async def filled(postgres_store: PostgresEventStore, pool: Pool) -> str:
    """A partition with an event in each table."""
    await postgres_store.append(STREAM, [event(private=b"secret"), event()], expected=0)
    async with pool.acquire() as connection:
        return str(await connection.fetchval("SELECT max(period) FROM eventstore.stream_heads"))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("who", ["owner", "superuser"])
async def test_no_role_changes_an_event(
    filled: str, stack: Stack, database: str, table: str, change: str, who: str
) -> None:
    admin = with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    connection = await asyncpg.connect(database if who == "owner" else admin)
    try:
        for name in (table, f"{table}_{filled}"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
                await connection.execute(change.format(name))
        if who == "superuser":
            await connection.execute("SET session_replication_role = replica")
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
                await connection.execute(change.format(f"{table}_{filled}"))
        assert await connection.fetchval("SELECT count(*) FROM eventstore.events") == 2
        assert await connection.fetchval("SELECT count(*) FROM eventstore.private_parts") == 1
    finally:
        await connection.close()


@pytest.fixture
async def roles(stack: Stack, database: str, filled: str) -> AsyncIterator[dict[str, str]]:
    """Addresses of the same database for a service's role and for one that reads private parts."""
    assert filled
    names = {kind: fresh_name(kind) for kind in ("service", "private")}
    admin = await asyncpg.connect(
        with_database(stack.databases.admin_dsn, urlsplit(database).path.strip("/"))
    )
    for name in names.values():
        await admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'pass'")
    owner = await asyncpg.connect(database)
    await prepare_event_log(owner, service_role=names["service"], private_role=names["private"])
    await owner.close()
    yield {kind: as_role(database, name, "pass") for kind, name in names.items()}
    for name in names.values():
        await admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await admin.close()


async def test_the_service_appends_and_reads(roles: dict[str, str], keyring: Keyring) -> None:
    async with (
        await open_pool(roles["service"], application_name="service") as pool,
        PostgresEventStore(pool, keyring=keyring) as store,
    ):
        sent = [event(private=b"hidden")]
        await store.append(STREAM, sent, expected=2)
        assert (await store.append(STREAM, sent, expected=2)).already
        page = await store.read_shard((await store.read_stream(STREAM))[0].shard)
        assert [one.stream_position for one in page.events] == [1, 2, 3]
        assert [one.stream_position for one in await store.find_events([sent[0].event_id])] == [3]
        async with pool.acquire() as connection:
            assert await connection.fetchval("SELECT eventstore.ensure_periods(3)") == 0
            assert await shard_holders(connection) == ()


@pytest.mark.parametrize(
    "forbidden",
    [
        *(change.format(table) for change in CHANGES for table in TABLES),
        "INSERT INTO eventstore.events SELECT * FROM eventstore.events",
        "UPDATE eventstore.stream_heads SET position = 9",
        "DELETE FROM eventstore.stream_heads",
        "UPDATE eventstore.shard_heads SET position = 9",
        "UPDATE eventstore.shard_periods SET first_position = 9",
        "UPDATE eventstore.periods SET detached_at = now()",
        "SELECT * FROM eventstore.private_parts",
        "SELECT eventstore.create_period(203001)",
        "SELECT eventstore.grant_private(current_user)",
        "DROP TABLE eventstore.events",
        "ALTER TABLE eventstore.events DISABLE TRIGGER append_only",
    ],
)
async def test_the_service_can_do_nothing_else(roles: dict[str, str], forbidden: str) -> None:
    connection = await asyncpg.connect(roles["service"])
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(forbidden)
    finally:
        await connection.close()


async def test_private_parts_are_read_by_their_role_and_it_reads_nothing_else(
    roles: dict[str, str], keyring: Keyring
) -> None:
    async with await open_pool(roles["private"], application_name="private") as pool:
        assert await PostgresPrivateReader(pool, keyring).read_private(STREAM) == {1: b"secret"}
        async with pool.acquire() as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch("SELECT * FROM eventstore.events")


async def test_sessions_have_their_limits(pool: Pool) -> None:
    async def setting(connection: Connection, name: str) -> str:
        return str(await connection.fetchval(f"SHOW {name}"))

    async with pool.acquire() as connection:
        assert {
            name: await setting(connection, name)
            for name in (
                "lock_timeout",
                "statement_timeout",
                "idle_in_transaction_session_timeout",
                "transaction_timeout",
                "synchronous_commit",
                "application_name",
            )
        } == {
            "lock_timeout": "2s",
            "statement_timeout": "10s",
            "idle_in_transaction_session_timeout": "5s",
            "transaction_timeout": "20s",
            "synchronous_commit": "on",
            "application_name": "test",
        }


async def test_an_event_over_the_limit_is_refused_by_the_database_too(pool: Pool) -> None:
    async with pool.acquire() as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="events_content_size"):
            await connection.fetch(
                "SELECT * FROM eventstore.append('{0}', '{s}', '{0}', '{1}', '{1}', ARRAY[uuidv7()], '{A}',"
                " ARRAY[convert_to(repeat('x', 1000001), 'UTF8')], NULL, NULL, NULL, true, false)"
            )
