"""The ways into a running installation: a channel a service, and who acts."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor import ServiceDescriptor

from messaging.feed import FEED
from servicekit.grpc import Actor, ActorKind, ClientChannel, ContextSigner, open_channel
from upcard.bonus.v1 import bonus_pb2
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard.feed.v1.event_feed_pb2_grpc import EventFeedServiceStub
from upcard.history.v1 import history_pb2
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard.table.v1 import shoe_pb2, table_pb2
from upcard.table.v1.shoe_pb2_grpc import ShoeServiceStub
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard.wallet.v1 import wallet_pb2
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_operate.local.fleet import Fleet

PLATFORM: Final = Actor(ActorKind.PLATFORM)
READY_S: Final = 30.0


def player(name: str) -> Actor:
    """A player."""
    return Actor(ActorKind.PLAYER, name)


def dealer(name: str) -> Actor:
    """A dealer; also who a shoe reader is."""
    return Actor(ActorKind.DEALER, name)


def staff(name: str) -> Actor:
    """Someone of the floor who may do everything here."""
    roles = ("admin", "operations", "support", "shift_manager", "pit_boss", "auditor")
    return Actor(ActorKind.STAFF, name, frozenset(roles))


def new_id() -> str:
    """A new opaque id."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Casino:
    """Stubs of all services; `acting_as` says in whose name they call."""

    table: TableServiceStub
    shoe: ShoeServiceStub
    wallet: WalletServiceStub
    bonus: BonusServiceStub
    history: HistoryServiceStub
    rounds: EventFeedServiceStub
    """The table service's log."""
    jackpots: EventFeedServiceStub
    """The bonus service's log."""


@contextlib.asynccontextmanager
async def entered(fleet: Fleet) -> AsyncIterator[Casino]:
    """Channels to all services of a fleet, as the gateway and a shoe reader have them."""
    described = {
        "table": table_pb2.DESCRIPTOR.services_by_name["TableService"],
        "wallet": wallet_pb2.DESCRIPTOR.services_by_name["WalletService"],
        "bonus": bonus_pb2.DESCRIPTOR.services_by_name["BonusService"],
        "history": history_pb2.DESCRIPTOR.services_by_name["HistoryService"],
    }
    shoe_service = shoe_pb2.DESCRIPTOR.services_by_name["ShoeService"]
    gateway = fleet.gateway.signer()
    async with contextlib.AsyncExitStack() as stack:

        async def channel(service: str, signer: ContextSigner, *more: ServiceDescriptor) -> ClientChannel:
            opened = open_channel(
                fleet.address(service),
                audience=service,
                services=[described[service], *more],
                signer=signer,
            )
            await stack.enter_async_context(opened)
            await opened.wait_serving(READY_S)
            return opened

        tables = await channel("table", gateway, FEED)
        shoe = await channel("table", fleet.shoe.signer(), shoe_service)
        bonus = await channel("bonus", gateway, FEED)
        yield Casino(
            TableServiceStub(tables),
            ShoeServiceStub(shoe),
            WalletServiceStub(await channel("wallet", gateway)),
            BonusServiceStub(bonus),
            HistoryServiceStub(await channel("history", gateway)),
            EventFeedServiceStub(tables),
            EventFeedServiceStub(bonus),
        )
