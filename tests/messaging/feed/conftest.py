"""Feeds to test: of a log in memory, of one in PostgreSQL, and of that one over gRPC."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from eventstore.memory import MemoryEventStore
from eventstore.port import EventStore
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from messaging.feed import FEED, Feed, GrpcFeed, LogFeed, PostgresEnds, ReaderEnds, exposed_feed
from servicekit.grpc import ANY_SERVICE, ClientSettings, GrpcServer, ServerSettings, open_channel

SERVICE = "table"
ONE_TRY = ClientSettings(attempts=1)


@dataclass
class Served:
    """A log, and its feed."""

    log: EventStore
    feed: Feed


@contextlib.asynccontextmanager
async def over_grpc(log_feed: LogFeed, service: str = SERVICE) -> AsyncIterator[GrpcFeed]:
    """The same feed, through a server and a channel to it."""
    server = GrpcServer(ServerSettings(grace_s=1), [exposed_feed(log_feed, access=ANY_SERVICE)])
    async with server:
        channel = open_channel(server.address, audience=service, services=[FEED], settings=ONE_TRY)
        async with channel:
            yield GrpcFeed(channel, service, timeout_s=20)


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with await open_pool(database, application_name="feed", max_size=8) as pool:
        yield pool


@pytest.fixture
async def postgres_feed(pool: Pool) -> AsyncIterator[Served]:
    async with PostgresEventStore(pool) as store:
        yield Served(store, LogFeed(SERVICE, store, PostgresEnds(pool)))


@pytest.fixture
async def grpc_feed(postgres_feed: Served) -> AsyncIterator[Served]:
    assert isinstance(postgres_feed.feed, LogFeed)
    async with over_grpc(postgres_feed.feed) as feed:
        yield Served(postgres_feed.log, feed)


@pytest.fixture
def memory_feed() -> Served:
    log = MemoryEventStore()
    return Served(log, LogFeed(SERVICE, log, ReaderEnds(log)))


@pytest.fixture(params=["memory", "postgres", "grpc"])
def served(request: pytest.FixtureRequest) -> Served:
    """Every way to a log: whatever is true of one is true of the others."""
    found: Served = request.getfixturevalue(f"{request.param}_feed")
    return found
