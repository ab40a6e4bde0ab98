"""Puts the bonus service together: the stages in their order, each with what it stands on."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Final

from eventstore.following import Applier
from eventstore.postgres import Pool, PostgresEventStore
from messaging.consumer import Consumer, ConsumerSettings
from messaging.consumer.metrics import ConsumerMetrics, Measured
from messaging.consumer.tracing import traced
from messaging.dead_letters.sender import DeadLetterSender
from messaging.feed import FEED, GrpcFeed, LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.relay import Relay, RelaySettings
from messaging.topics import topic_of
from servicekit.answering import ANSWER_ERRORS, Answering
from servicekit.database import Component, FollowerMetrics, event_log, start_database
from servicekit.grpc import for_services, open_channel, start_grpc
from servicekit.health import below
from servicekit.lifecycle import Service
from upcard_bonus.adapters.metrics import BonusMetrics, RelayMetrics
from upcard_bonus.adapters.postgres import FreeBetTables, JackpotTables, RoundTables, SecretTable
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.recording import Recorder
from upcard_bonus.entrypoints.consumer import TABLE_EVENTS, table_handler
from upcard_bonus.entrypoints.grpc import Desk, exposed_bonus
from upcard_bonus.entrypoints.upkeep import Upkeep
from upcard_bonus.migrations import COMPONENT, bonus_migrations
from upcard_bonus.settings import BonusSettings

NAME: Final = "bonus"
"""The service's name: its topic, its feed, its audience."""

_TABLE: Final = "table"
_READERS: Final = ("table", "wallet", "history", "gateway")
"""Services that may read the log."""


async def main(service: Service[BonusSettings]) -> None:
    """Start everything; the calls last, so that they are stopped first."""
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, bonus_migrations()),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    office = BonusOffice(
        RoundTables(),
        JackpotTables(),
        FreeBetTables(),
        SecretTable(settings.keyring()),
        Recorder(),
        BonusMetrics(),
    )
    upkeep = Upkeep(pool, office, store.announce, settings.upkeep_interval_s)
    await service.run("upkeep", upkeep.run)
    await _start_relay(service, pool)
    await _follow_the_table(service, pool, store, office)
    answering = Answering(NAME, pool, store.announce)
    desk = Desk(office, answering, dt.timedelta(seconds=settings.fence_max_s))
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    await start_grpc(
        service,
        settings.grpc,
        [exposed_bonus(desk), feed],
        verifier=settings.verifier(NAME),
        known_errors=ANSWER_ERRORS,
    )


async def _start_relay(service: Service[BonusSettings], pool: Pool) -> None:
    settings = service.settings
    relay = Relay(
        pool,
        settings.kafka(service.instance),
        NAME,
        topic=settings.named(topic_of(NAME)),
        settings=RelaySettings(topics=settings.topics()),
        observer=RelayMetrics(),
        holder=service.instance,
    )
    await service.run("relay", relay.run, stop_within_s=12.0)


async def _follow_the_table(
    service: Service[BonusSettings], pool: Pool, store: PostgresEventStore, office: BonusOffice
) -> None:
    """Consume the table's events: from Kafka, and over its feed what Kafka does not bring."""
    settings = service.settings
    kafka = settings.kafka(service.instance)
    topic = settings.named(topic_of(_TABLE))
    channel = await service.start(
        f"feed of {_TABLE}",
        open_channel(settings.table_address, audience=_TABLE, services=[FEED], settings=settings.calls),
    )
    measured = Measured(ConsumerMetrics(), NAME, _TABLE)
    handler = traced(table_handler(office))
    consumer = Consumer(
        Applier(pool, NAME, _TABLE, handler, store=store, observer=FollowerMetrics()),
        GrpcFeed(channel, _TABLE),
        kafka,
        topic=topic,
        group=settings.named(f"{NAME}-{_TABLE}"),
        wanted=TABLE_EVENTS,
        topic_settings=settings.topics(),
        settings=ConsumerSettings(fetch_max_wait_ms=settings.kafka_fetch_wait_ms),
        observer=measured,
        dead_letters=DeadLetterSender(pool, kafka, NAME, _TABLE, topic=topic),
    )
    measured.watch(consumer)

    async def run(ending: asyncio.Event) -> None:
        running = asyncio.create_task(consumer.run())
        stopping = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
            consumer.stop()
            await running
        finally:
            for task in (running, stopping):
                task.cancel()
            await asyncio.gather(running, stopping, return_exceptions=True)

    await service.run(f"consumer of {_TABLE}", run, stop_within_s=20.0)
    service.readiness.add(
        below(
            f"consumer of {_TABLE}",
            lambda: consumer.status.lag or 0,
            settings.consumer_lag_max_events,
            what="events behind",
        )
    )
