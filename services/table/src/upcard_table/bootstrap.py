"""Puts the table service together: the stages in their order, each with what it stands on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from eventstore.postgres import Pool, PostgresEventStore, PostgresPrivateReader, open_pool
from eventstore.projections import run_projection
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from messaging.operations import exposed_operations
from messaging.service import operations_of, start_relay
from servicekit.answering import Answering
from servicekit.database import Component, FollowerMetrics, event_log, start_database
from servicekit.grpc import for_services, open_channel, start_grpc
from servicekit.lifecycle import Service
from transparency.service import start_chainer, tree_of
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_table.adapters.bonus.fence import BONUS, BonusFence, NoBonus
from upcard_table.adapters.leases import TableLeases
from upcard_table.adapters.metrics import OwnerMetrics
from upcard_table.adapters.postgres.log import PostgresTableLog
from upcard_table.adapters.postgres.resettlements import PostgresProposals
from upcard_table.adapters.wallet.funds import WALLET, WalletFunds
from upcard_table.adapters.wallet.observing import AskMetrics
from upcard_table.app.owner.clock import SteadyClock
from upcard_table.app.owner.lookups import Lookups
from upcard_table.app.owner.owned_tables import OwnedTables, OwningSettings
from upcard_table.app.owner.owner import World
from upcard_table.app.ports import Fence
from upcard_table.app.watching.hubs import Hubs, Watching
from upcard_table.app.watching.resuming import ResumeTokens
from upcard_table.app.watching.sources import Sources
from upcard_table.entrypoints.forwarding import Peers, Router
from upcard_table.entrypoints.grpc.access import TableServicer, exposed_shoe, exposed_table
from upcard_table.entrypoints.grpc.answering import Desk
from upcard_table.entrypoints.grpc.errors import TABLE_ERRORS
from upcard_table.entrypoints.grpc.shown import ENCODING
from upcard_table.entrypoints.grpc.tipping import LookedUp, TipDesk
from upcard_table.entrypoints.grpc.watching import WatchDesk
from upcard_table.entrypoints.upkeep import Upkeep
from upcard_table.migrations import COMPONENT, table_migrations
from upcard_table.projections.table_list import TABLE_LIST, PostgresTableIndex
from upcard_table.settings import TableSettings

NAME: Final = "table"
"""The service's name: its topic, its feed, its audience."""

_READERS: Final = ("wallet", "bonus", "history", "gateway")
"""Services that may read the tables' log. Face-down cards are no part of what it gives."""


async def main(service: Service[TableSettings]) -> None:
    """Start everything. Tables are owned last, so that they are handed over first.

    Calls are passed on to the new owners for as long as this instance serves.
    """
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, table_migrations()),
        *tree_of(settings),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await start_chainer(service, pool, settings)
    funds = await _start_funds(service)
    world = await _make_world(service, pool, store, funds)
    hubs = await _start_views(service, pool, store)
    await start_relay(service, settings, pool, NAME)
    peers = await service.start("peers", Peers(settings.calls))
    router = Router(peers)
    desk = Desk(router, Answering(NAME, pool, store.announce), settings.scan_key.get_secret_value().encode())
    tipping = TipDesk(funds, LookedUp(hubs.sources))
    servicer = TableServicer(desk, PostgresProposals(), tipping, WatchDesk(hubs))
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    operations = operations_of(service, settings, pool, NAME)
    server = await start_grpc(
        service,
        settings.grpc,
        [exposed_table(servicer), exposed_shoe(desk), feed, exposed_operations(operations)],
        verifier=settings.verifier(NAME),
        known_errors=TABLE_ERRORS,
    )
    await _start_tables(service, pool, world, router, hubs, settings.advertised_address or server.address)


async def _start_funds(service: Service[TableSettings]) -> WalletFunds:
    """The players' money, with the wallet."""
    settings = service.settings
    channel = await service.start(
        "wallet",
        open_channel(settings.wallet_address, audience="wallet", services=[WALLET], settings=settings.calls),
    )
    funds = WalletFunds(WalletServiceStub(channel), observer=AskMetrics())
    await service.run("funds", funds.run)
    return funds


async def _make_world(
    service: Service[TableSettings], pool: Pool, store: PostgresEventStore, funds: WalletFunds
) -> World:
    """What all owners of tables stand on."""
    settings = service.settings
    fence: Fence = NoBonus()
    if settings.bonus_address is not None:
        channel = await service.start(
            "bonus",
            open_channel(settings.bonus_address, audience="bonus", services=[BONUS], settings=settings.calls),
        )
        fence = BonusFence(BonusServiceStub(channel))
    log = PostgresTableLog(pool, settings.keyring(), store.announce)
    return World(log, funds, fence, SteadyClock(), OwnerMetrics(), Lookups(log))


async def _start_views(service: Service[TableSettings], pool: Pool, store: PostgresEventStore) -> Hubs:
    """The list of tables, and what watchers are told."""
    settings = service.settings
    private = PostgresPrivateReader(pool, settings.keyring())
    sources = Sources(store, private, PostgresTableIndex(pool))
    tokens = ResumeTokens(settings.resume_key.get_secret_value().encode())
    hubs = Hubs(sources, ENCODING, tokens, Watching(updates_per_s=settings.updates_per_s))
    listed = partial(run_projection, store, pool, TABLE_LIST, observer=FollowerMetrics())

    async def list_tables(ending: asyncio.Event) -> None:
        listing, stopping = asyncio.create_task(listed()), asyncio.create_task(ending.wait())
        try:
            await asyncio.wait([listing, stopping], return_when=asyncio.FIRST_COMPLETED)
            if listing.done():
                listing.result()
        finally:
            for task in (listing, stopping):
                task.cancel()
            await asyncio.gather(listing, stopping, return_exceptions=True)

    await service.run("list of tables", list_tables)
    await service.run("watching", hubs.run)
    return hubs


async def _start_tables(
    service: Service[TableSettings], pool: Pool, world: World, router: Router, hubs: Hubs, address: str
) -> None:
    """Own tables, and have the calls to them come here."""
    settings = service.settings
    # Of their own: a pool that is full with other work must not cost this instance its tables.
    lease_pool = await service.start("leases' connections", _lease_pool(service))
    leases = TableLeases(lease_pool, instance=service.instance, address=address, ttl_s=settings.lease_s)
    tables = OwnedTables(world, leases, OwningSettings(settings.lease_s, settings.tables_max))
    await service.run(
        "upkeep", Upkeep(pool, tables, hubs, settings.upkeep_interval_s).run, stop_within_s=10.0
    )
    await service.run("tables", tables.run, stop_within_s=15.0)
    router.begin(tables, address)


@contextlib.asynccontextmanager
async def _lease_pool(service: Service[TableSettings]) -> AsyncIterator[Pool]:
    async with await open_pool(
        service.settings.dsn.get_secret_value(),
        application_name=f"{service.instance} leases",
        min_size=1,
        max_size=2,
    ) as pool:
        yield pool
