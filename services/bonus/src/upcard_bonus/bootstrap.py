"""Puts the bonus service together: the stages in their order, each with what it stands on."""

from __future__ import annotations

import datetime as dt
from typing import Final

from eventstore.postgres import PostgresEventStore
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.operations import exposed_operations
from messaging.service import Followed, Following, operations_of, start_relay
from servicekit.answering import ANSWER_ERRORS, Answering
from servicekit.database import Component, event_log, start_database
from servicekit.grpc import for_services, start_grpc
from servicekit.lifecycle import Service
from transparency.service import start_chainer, tree_of
from upcard_bonus.adapters.metrics import BonusMetrics
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

_READERS: Final = ("table", "wallet", "history", "gateway")
"""Services that may read the log."""


async def main(service: Service[BonusSettings]) -> None:
    """Start everything; the calls last, so that they are stopped first."""
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, bonus_migrations()),
        *tree_of(settings),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await start_chainer(service, pool, settings)
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
    await start_relay(service, settings, pool, NAME)
    following = Following(service, settings, pool, store, NAME)
    await following.start(Followed("table", settings.table_address, table_handler(office), TABLE_EVENTS))
    answering = Answering(NAME, pool, store.announce)
    desk = Desk(office, answering, dt.timedelta(seconds=settings.fence_max_s))
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    operations = operations_of(service, settings, pool, NAME, following=following)
    await start_grpc(
        service,
        settings.grpc,
        [exposed_bonus(desk), feed, exposed_operations(operations)],
        verifier=settings.verifier(NAME),
        known_errors=ANSWER_ERRORS,
    )
