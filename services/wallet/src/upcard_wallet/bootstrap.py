"""Puts the wallet together: the stages in their order, each with what it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final

from eventstore import EventFilter
from eventstore.following import OWN, Applier
from eventstore.postgres import Pool, PostgresEventStore
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.operations import exposed_operations
from messaging.service import Followed, Following, operations_of, start_relay
from servicekit.answering import Answering
from servicekit.database import Component, FollowerMetrics, event_log, start_database
from servicekit.grpc import for_services, open_channel, start_grpc
from servicekit.lifecycle import Service
from transparency.service import start_chainer, tree_of
from upcard_seamless.dialects import load_dialect
from upcard_wallet.adapters.internal_purse import InternalPurse
from upcard_wallet.adapters.metrics import PartnerMetrics, WalletMetrics
from upcard_wallet.adapters.postgres import PostgresLedger
from upcard_wallet.adapters.postgres.adjustments import AdjustmentTables
from upcard_wallet.adapters.postgres.old_holds import QuestionTables
from upcard_wallet.adapters.seamless.asking import PartnerAt
from upcard_wallet.adapters.seamless.http_partner import PLAIN, HttpPartner
from upcard_wallet.adapters.seamless.parked_tables import ParkedCallTables
from upcard_wallet.adapters.seamless.purse import SeamlessPurse
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.adapters.seamless.work import SeamlessWork
from upcard_wallet.adapters.table import TABLE, GrpcRoundOwner
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.purse import Purse, PurseKind
from upcard_wallet.app.recording import Recorder
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.entrypoints.consumer import BONUS_EVENTS, TABLE_EVENTS, bonus_handler, table_handler
from upcard_wallet.entrypoints.grpc import AGAIN, WALLET_ERRORS, Desk, exposed_wallet
from upcard_wallet.entrypoints.old_holds import OldHolds
from upcard_wallet.entrypoints.own_log import OwnLog
from upcard_wallet.entrypoints.upkeep import Upkeep
from upcard_wallet.migrations import COMPONENT, wallet_migrations
from upcard_wallet.projections.audit import FOLLOWER, Audit
from upcard_wallet.settings import WalletSettings

NAME: Final = "wallet"
"""The service's name: its topic, its feed, its audience."""

_READERS: Final = ("table", "bonus", "history", "gateway")
"""Services that may read the wallet's log."""


async def main(service: Service[WalletSettings]) -> None:
    """Start everything; the calls last, so that they are stopped first."""
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, wallet_migrations()),
        *tree_of(settings),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await start_chainer(service, pool, settings)
    partners = await _start_partners(service)
    purses: dict[PurseKind, Purse] = {}
    wallet = Wallet(PostgresLedger(), purses, Recorder(), WalletMetrics())
    records = Records(wallet)
    purses["internal"] = InternalPurse(pool, records, store.announce)
    seamless = await service.start(
        "seamless purse",
        SeamlessPurse(pool, records, partners, observer=PartnerMetrics(), announce=store.announce),
    )
    purses["seamless"] = seamless
    await service.run("partners", SeamlessWork(seamless).run, stop_within_s=15.0)
    await _start_upkeep(service, wallet, pool, store)
    await _start_old_holds(service, wallet, pool, store)
    await start_relay(service, settings, pool, NAME)
    following = Following(service, settings, pool, store, NAME)
    for followed in _followed(settings, wallet):
        await following.start(followed)
    desk = Desk(
        wallet,
        AdjustmentTables(),
        ParkedCallTables(records),
        Answering(NAME, pool, store.announce, AGAIN),
        seamless,
    )
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    operations = operations_of(service, settings, pool, NAME, following=following)
    await start_grpc(
        service,
        settings.grpc,
        [exposed_wallet(desk), feed, exposed_operations(operations)],
        verifier=settings.verifier(NAME),
        known_errors=WALLET_ERRORS,
    )


async def _start_partners(service: Service[WalletSettings]) -> Mapping[str, PartnerAt]:
    """The seamless operators' wallets, each with a session of its own."""
    settings = service.settings
    how = PartnerSettings(
        bets_at_once=settings.partner_bets_at_once,
        queue_timeout_s=settings.partner_timeout_s,
        park_after_s=settings.partner_park_after_s,
        failures_before_pause=settings.partner_circuit_failures,
        down_pause_s=settings.partner_circuit_pause_s,
        balance_timeout_s=settings.partner_balance_timeout_s,
    )
    stack = await service.start("partners' sessions", AsyncExitStack())
    found: dict[str, PartnerAt] = {}
    for operator, address in settings.partners.items():
        secret = settings.partner_secrets[operator].get_secret_value().encode()
        dialect = load_dialect(settings.partner_dialects.get(operator, PLAIN))
        connections = how.bets_at_once + how.queue_at_once + how.balances_at_once
        partner = await stack.enter_async_context(
            HttpPartner(address, secret, dialect=dialect, connections=connections)
        )
        distrusted = operator in settings.partners_distrusted
        found[operator] = PartnerAt(partner, replace(how, roll_back_refused=distrusted))
    return found


async def _start_upkeep(
    service: Service[WalletSettings], wallet: Wallet, pool: Pool, store: PostgresEventStore
) -> None:
    settings = service.settings
    audit = Audit()
    applier = Applier(pool, FOLLOWER, OWN, audit.handle, observer=FollowerMetrics())
    follow = OwnLog(store, applier, EventFilter(categories=frozenset({"account"})))
    upkeep = Upkeep(
        pool,
        wallet,
        audit,
        store.announce,
        settings.upkeep_interval_s,
        settings.holds_age_alarm_s,
        settings.partner_calls_kept_days,
    )
    await service.run("audit", follow.run)
    await service.run("upkeep", upkeep.run)


async def _start_old_holds(
    service: Service[WalletSettings], wallet: Wallet, pool: Pool, store: PostgresEventStore
) -> None:
    settings = service.settings
    channel = await service.start(
        "channel to table",
        open_channel(settings.table_address, audience="table", services=[TABLE], settings=settings.calls),
    )
    old = OldHolds(
        pool,
        wallet,
        QuestionTables(),
        GrpcRoundOwner(channel),
        store.announce,
        settings.holds_age_ask_s,
        interval_s=max(settings.upkeep_interval_s, 1.0),
    )
    await service.run("old holds", old.run, stop_within_s=10.0)


def _followed(settings: WalletSettings, wallet: Wallet) -> list[Followed]:
    """Whose events are followed, and what they do."""
    found = [Followed("table", settings.table_address, table_handler(wallet), TABLE_EVENTS)]
    if settings.bonus_address is not None:
        found.append(Followed("bonus", settings.bonus_address, bonus_handler(wallet), BONUS_EVENTS))
    return found
