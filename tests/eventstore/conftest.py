"""Stores to test: the real one, in a fresh copy of a migrated database, and the twin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore import Keyring
from eventstore.memory import MemoryEventStore
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, PostgresPrivateReader, open_pool
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.eventstore.samples import KEY_A

Store = PostgresEventStore | MemoryEventStore
PrivateParts = PostgresPrivateReader | MemoryEventStore


# What a log holds, taken out again for the next test: only the owner of the tables can, and not without
# switching off what forbids it. A copy of a database for each test would be ten times as slow.
EMPTY = """
BEGIN;
ALTER TABLE eventstore.events DISABLE TRIGGER append_only;
ALTER TABLE eventstore.private_parts DISABLE TRIGGER append_only;
DELETE FROM eventstore.events;
DELETE FROM eventstore.private_parts;
DELETE FROM eventstore.stream_heads;
DELETE FROM eventstore.shard_periods;
DELETE FROM eventstore.parked_events;
DELETE FROM eventstore.parked_streams;
DELETE FROM eventstore.skipped_events;
DELETE FROM eventstore.stopped_followers;
DELETE FROM eventstore.positions;
DELETE FROM eventstore.projections;
UPDATE eventstore.shard_heads SET position = 0, period = 0 WHERE position > 0;
ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE eventstore.private_parts ENABLE ALWAYS TRIGGER append_only;
COMMIT;
"""


@pytest.fixture(scope="session")
def database_template(stack: Stack) -> str:
    """A migrated database, to be copied."""
    name = fresh_name("log")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection)
        finally:
            await connection.close()

    run_apart(make)
    return name


@pytest.fixture(scope="session")
def shared_database(stack: Stack, database_template: str) -> str:
    """A migrated database for all tests of this process that leave its schema as it is."""
    return run_apart(lambda: stack.databases.create(fresh_name("shared"), database_template))


@pytest.fixture
def database(shared_database: str) -> str:
    """A migrated database without events. A module whose tests change the schema overrides this."""

    async def empty() -> None:
        connection = await asyncpg.connect(shared_database)
        try:
            await connection.execute(EMPTY)
        finally:
            await connection.close()

    run_apart(empty)
    return shared_database


@pytest.fixture
def keyring() -> Keyring:
    return Keyring({"k1": KEY_A}, writes_with="k1")


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    """Connections to a fresh, migrated database."""
    async with await open_pool(database, application_name="test") as pool:
        yield pool


@pytest.fixture
async def postgres_store(pool: Pool, keyring: Keyring) -> AsyncIterator[PostgresEventStore]:
    async with PostgresEventStore(pool, keyring=keyring) as store:
        yield store


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest, keyring: Keyring) -> Store:
    """Every implementation of the port: whatever is true of one is true of the others."""
    if request.param == "memory":
        return MemoryEventStore(keyring=keyring)
    real: PostgresEventStore = request.getfixturevalue("postgres_store")
    return real


@pytest.fixture
def private_parts(store: Store, keyring: Keyring, request: pytest.FixtureRequest) -> PrivateParts:
    """What reads the store's private parts."""
    if isinstance(store, MemoryEventStore):
        return store
    return PostgresPrivateReader(request.getfixturevalue("pool"), keyring)
