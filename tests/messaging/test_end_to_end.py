"""From one service's log to another one's: append, relay, Kafka, feed over gRPC, consumer, append."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import asyncpg
import pytest

from eventstore import Expect, NewEvent, RecordedEvent, StreamAppend
from eventstore.following import Applier
from eventstore.ids import new_event_id
from eventstore.postgres import Connection, Pool, PostgresEventStore, open_pool
from messaging.broker import BrokerSettings
from messaging.consumer import Consumer
from messaging.feed import FEED, GrpcFeed, LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import prepare_messaging
from messaging.relay import Relay, RelaySettings
from messaging.topics import TopicSettings
from servicekit.grpc import ANY_SERVICE, GrpcServer, ServerSettings, open_channel
from tests.eventstore.samples import assert_chained
from tests.messaging.consumer.world import QUICK, SETTINGS, Seen, recording, running
from tests.messaging.waiting import until

STREAMS = [f"round-t1.{n}" for n in range(1, 31)]


@dataclass
class Services:
    """The table service with its log, relay and feed, and the wallet, which follows it into its own log."""

    table_pool: Pool
    table: PostgresEventStore
    wallet_pool: Pool
    wallet: PostgresEventStore
    broker: BrokerSettings
    topic: str
    topic_settings: TopicSettings
    feed_port: int = 0

    def relay(self) -> Relay:
        """A relay of the table service."""
        settings = RelaySettings(topics=self.topic_settings, poll_interval_s=0.2, lease_ttl_s=1.0)
        return Relay(self.table_pool, self.broker, "table", topic=self.topic, settings=settings)

    def feed_server(self) -> GrpcServer:
        """The table service's feed, always at the same address."""
        feed = LogFeed("table", self.table, PostgresEnds(self.table_pool))
        settings = ServerSettings(port=self.feed_port, grace_s=0.2)
        return GrpcServer(settings, [exposed_feed(feed, access=ANY_SERVICE)])

    @contextlib.asynccontextmanager
    async def consumer(self) -> AsyncIterator[Consumer]:
        """A consumer of the wallet, which answers each event with one of its own."""

        async def answer(
            connection: Connection, events: Sequence[RecordedEvent]
        ) -> Sequence[StreamAppend] | None:
            await recording()(connection, events)
            posted: dict[str, list[NewEvent]] = {}
            for event in events:
                account = f"account-{event.stream.partition('.')[2]}"
                posted.setdefault(account, []).append(NewEvent(new_event_id(), "Posted", event.content))
            return [StreamAppend(stream, Expect.ANY, new) for stream, new in posted.items()]

        channel = open_channel(f"127.0.0.1:{self.feed_port}", audience="table", services=[FEED])
        async with channel:
            yield Consumer(
                Applier(self.wallet_pool, "wallet", "table", answer, policy=QUICK, store=self.wallet),
                GrpcFeed(channel, "table", timeout_s=2),
                self.broker,
                topic=self.topic,
                group=f"{self.topic}-wallet",
                topic_settings=self.topic_settings,
                settings=SETTINGS,
                observer=Seen(),
            )

    async def append(self, streams: Sequence[str], count: int) -> None:
        """The table service appends to its log."""
        for stream in streams:
            new = [NewEvent(new_event_id(), "Bet", b'{"n":%d}' % n) for n in range(count)]
            await self.table.append(stream, new, expected=Expect.ANY)

    async def all_answered(self) -> bool:
        """Whether the wallet has as many events as the table service."""
        return sum(await self.wallet.shard_heads()) >= sum(await self.table.shard_heads())

    async def assert_answered_once_and_in_order(self) -> None:
        """Each event has had one effect and one answer, each stream's in its order."""
        for stream in STREAMS:
            bets = [event async for event in self.table.iterate_stream(stream)]
            account = f"account-{stream.partition('.')[2]}"
            answers = [event async for event in self.wallet.iterate_stream(account)]
            assert [one.content for one in answers] == [one.content for one in bets]
            if answers:
                assert_chained(answers)
        effects = await self.wallet_pool.fetchval("SELECT count(*) FROM public.effects")
        assert effects == sum(await self.table.shard_heads())


@pytest.fixture
async def services(
    new_database: Callable[[], str], broker: BrokerSettings, topic: str, topic_settings: TopicSettings
) -> AsyncIterator[Services]:
    table_dsn, wallet_dsn = new_database(), new_database()
    connection = await asyncpg.connect(table_dsn)
    await prepare_messaging(connection)
    await connection.close()
    async with (
        await open_pool(table_dsn, application_name="table") as table_pool,
        await open_pool(wallet_dsn, application_name="wallet") as wallet_pool,
        PostgresEventStore(table_pool) as table,
        PostgresEventStore(wallet_pool) as wallet,
    ):
        yield Services(table_pool, table, wallet_pool, wallet, broker, topic, topic_settings)


@contextlib.asynccontextmanager
async def relaying(relay: Relay) -> AsyncIterator[None]:
    """A relay that runs; at the end it is cut off, wherever it is."""
    task = asyncio.create_task(relay.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_events_of_one_service_are_answered_in_the_log_of_another(services: Services) -> None:
    async with services.feed_server() as server:
        services.feed_port = server.port
        async with services.consumer() as consumer, relaying(services.relay()), running(consumer):
            for _ in range(3):
                await services.append(STREAMS, 5)
                await until(services.all_answered)
    await services.assert_answered_once_and_in_order()


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_is_cut_off_meanwhile_every_event_is_answered_once(
    services: Services, seed: int
) -> None:
    """Relays, consumers and the feed's server come and go; some events are never published in time."""
    chance = random.Random(seed)
    async with services.feed_server() as server:
        services.feed_port = server.port
    for _ in range(6):
        async with contextlib.AsyncExitStack() as stack:
            if chance.random() < 0.7:
                await stack.enter_async_context(services.feed_server())
            if chance.random() < 0.7:
                await stack.enter_async_context(relaying(services.relay()))
            consumer = await stack.enter_async_context(services.consumer())
            await stack.enter_async_context(_cut_off(consumer, after=chance.choice(("soon", "late"))))
            await services.append(chance.sample(STREAMS, 10), chance.randint(1, 4))
            await until(partial(_has_shards, consumer))
    async with (
        services.feed_server(),
        relaying(services.relay()),
        services.consumer() as consumer,
        running(consumer),
    ):
        await until(services.all_answered, timeout_s=60)
    await services.assert_answered_once_and_in_order()


def _has_shards(consumer: Consumer) -> bool:
    return consumer.status.shards == 64


@contextlib.asynccontextmanager
async def _cut_off(consumer: Consumer, *, after: str) -> AsyncIterator[None]:
    task = asyncio.create_task(consumer.run())
    try:
        yield
        if after == "late":
            await until(lambda: consumer.status.connected)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
