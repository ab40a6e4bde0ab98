"""What the tests of messaging stand on: a broker, and topics of its own for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from eventstore.postgres import open_pool
from messaging.broker import BrokerSettings
from messaging.topics import TopicSettings, ensure_topics, topics_of
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.messaging.consumer.world import MAKE_EFFECTS, Source, World


def settings_for(stack: Stack) -> BrokerSettings:
    """How the broker of a stack is reached."""
    return BrokerSettings(
        bootstrap_servers=stack.addresses.kafka_bootstrap,
        idempotent_producer=stack.facts.idempotent_producer,
        metadata_max_age_ms=500,
    )


def topic_settings_for(stack: Stack) -> TopicSettings:
    """How topics of a stack are made."""
    return TopicSettings(
        replication_factor=stack.facts.replication_factor,
        min_insync_replicas=stack.facts.min_insync_replicas,
    )


@pytest.fixture
def broker(stack: Stack) -> BrokerSettings:
    return settings_for(stack)


@pytest.fixture
def topic_settings(stack: Stack) -> TopicSettings:
    return topic_settings_for(stack)


@pytest.fixture
async def topic(
    broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> str:
    """A topic of this test, with its dead letters beside it."""
    name = unique_topic("events")
    await ensure_topics(broker, topics_of(name, topic_settings))
    return name


@pytest.fixture(scope="session")
def database_template(stack: Stack) -> str:
    """A database with the event store's tables and one for effects, to be copied."""
    name = fresh_name("messaging")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection)
            await connection.execute(MAKE_EFFECTS)
        finally:
            await connection.close()

    run_apart(make)
    return name


@pytest.fixture
async def world(
    database: str, broker: BrokerSettings, topic: str, topic_settings: TopicSettings
) -> AsyncIterator[World]:
    """A source, and a database to follow it in."""
    source = Source(broker, topic)
    async with await open_pool(database, application_name="consumer", max_size=8) as pool:
        yield World(source, pool, broker, topic_settings)
    await source.close()
