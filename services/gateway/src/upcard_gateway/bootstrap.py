"""Puts the gateway together: the stages in their order, each with what it stands on."""

from __future__ import annotations

import datetime as dt
import ipaddress
from typing import Final

from eventstore.postgres import PostgresEventStore
from messaging.feed import LogFeed, PostgresEnds, exposed_feed
from messaging.migrations import COMPONENT as MESSAGING
from messaging.migrations import messaging_migrations
from servicekit.answering import Answering
from servicekit.database import Component, event_log, start_database
from servicekit.grpc import for_services, start_grpc
from servicekit.lifecycle import Service
from transparency.service import start_chainer, tree_of
from upcard_gateway.adapters.metrics import GuardMetrics
from upcard_gateway.adapters.postgres.operators import KnownOperators, OperatorTables
from upcard_gateway.adapters.postgres.replays import SignedCalls
from upcard_gateway.adapters.services import Addresses, open_services
from upcard_gateway.app.administering import Administration
from upcard_gateway.app.recording import Recorder
from upcard_gateway.domain.operators import EVENT_TYPES
from upcard_gateway.entrypoints.grpc import (
    GATEWAY_ERRORS,
    Desk,
    StaffDesk,
    exposed_gateway,
    exposed_staff,
)
from upcard_gateway.entrypoints.http.app import ROUTERS, http_app
from upcard_gateway.entrypoints.http.authenticating import Guard
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.http.serving import start_http
from upcard_gateway.entrypoints.pages import PAGES
from upcard_gateway.entrypoints.play.serving import start_play
from upcard_gateway.entrypoints.staffing import staffing_on
from upcard_gateway.entrypoints.upkeep import Upkeep
from upcard_gateway.migrations import COMPONENT, gateway_migrations
from upcard_gateway.settings import GatewaySettings

NAME: Final = "gateway"
"""The service's name: its feed, its audience, its follower of other services."""

_READERS: Final = ("history",)
"""Services that may read the gateway's log."""


async def main(service: Service[GatewaySettings]) -> None:
    """Start everything; what others call last, so that it is stopped first."""
    settings = service.settings
    components = [
        event_log(),
        Component(MESSAGING, messaging_migrations()),
        Component(COMPONENT, gateway_migrations()),
        *tree_of(settings),
    ]
    pool = await start_database(service, settings, components)
    store = await service.start("event store", PostgresEventStore(pool))
    await start_chainer(service, pool, settings)
    addresses = Addresses(
        settings.table_address, settings.wallet_address, settings.bonus_address, settings.history_address
    )
    services = await service.start(
        "channels to services", open_services(addresses, settings.calls, settings.signer())
    )
    tables = OperatorTables(settings.keyring())
    operators = KnownOperators(pool, tables, fresh_s=settings.operators_fresh_s)
    signed = SignedCalls(pool)
    guard = Guard(
        operators,
        signed.first,
        window_s=settings.signature_window_s,
        proxies=[ipaddress.ip_network(one) for one in settings.trusted_proxies],
        observer=GuardMetrics(),
    )
    edge = Edge(pool, store, services, operators, settings, _utc_now, guard)
    await service.run("upkeep", Upkeep(pool, signed, _utc_now).run)
    for router in (*ROUTERS, *PAGES):
        start = getattr(router, "start", None)
        if start is not None:
            await start(service, edge)
    answering = Answering(NAME, pool, store.announce)
    desk = Desk(Administration(tables, Recorder(EVENT_TYPES), _utc_now), answering)
    of_staff = exposed_staff(StaffDesk(staffing_on(edge), answering))
    feed = exposed_feed(LogFeed(NAME, store, PostgresEnds(pool)), access=for_services(*_READERS))
    await start_grpc(
        service,
        settings.grpc,
        [exposed_gateway(desk), of_staff, feed],
        verifier=settings.verifier(NAME),
        known_errors=GATEWAY_ERRORS,
    )
    app = http_app(edge)
    await start_play(service, edge, app)
    await start_http(service, settings, app)


def _utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
