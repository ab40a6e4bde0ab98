"""A migrated database, a log, a topic, and a relay between them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.migrations import prepare_messaging
from messaging.relay import Relay, RelayObserver, RelaySettings
from messaging.topics import TopicSettings
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.messaging.relay.rig import Rig
from tests.messaging.relay.watching import Watcher


@pytest.fixture(scope="session")
def database_template(stack: Stack) -> str:
    """A database with the log's and messaging's tables, to be copied."""
    name = fresh_name("relay")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection)
            await prepare_messaging(connection)
        finally:
            await connection.close()

    run_apart(make)
    return name


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with await open_pool(database, application_name="relay-test") as pool:
        yield pool


@pytest.fixture
async def store(pool: Pool) -> AsyncIterator[PostgresEventStore]:
    async with PostgresEventStore(pool) as store:
        yield store


@pytest.fixture
async def private_pool(private_stack: Stack) -> AsyncIterator[Pool]:
    """A migrated database of servers that may be killed."""
    dsn = await private_stack.databases.create(fresh_name("relay"))
    async with await open_pool(dsn, application_name="relay-test") as pool:
        async with pool.acquire() as connection:
            await prepare_event_log(connection)
            await prepare_messaging(connection)
        yield pool


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def new_relay(
    pool: Pool,
    broker: BrokerSettings,
    topic_settings: TopicSettings,
    watcher: Watcher,
    topic: str,
) -> Callable[..., Relay]:
    """Makes relays of this test's log to this test's topic; settings as named."""

    def make(*, observer: RelayObserver = watcher, **settings: Any) -> Relay:
        return Relay(
            pool,
            broker,
            "table",
            topic=topic,
            settings=RelaySettings(topics=topic_settings, **{"poll_interval_s": 0.1, **settings}),
            observer=observer,
        )

    return make


@pytest.fixture
def rig(  # noqa: PLR0913, PLR0917 - it is there so that tests need not
    stack: Stack,
    database: str,
    pool: Pool,
    store: PostgresEventStore,
    broker: BrokerSettings,
    topic: str,
    watcher: Watcher,
    new_relay: Callable[..., Relay],
) -> Rig:
    return Rig(stack, database, pool, store, broker, topic, watcher, new_relay)
