"""The services behind the edge: a channel to each, over which calls are signed in somebody's name.

Whoever calls says who acts: `with acting_as(PLATFORM)` for an operator's own calls, `acting_as(player(id))`
for what a player does. Failed calls raise `grpc.aio.AioRpcError`; the edge turns what routers let through
into a problem.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from messaging.operations import OPERATIONS, GrpcOperations, Operations
from servicekit.grpc import (
    Actor,
    ActorKind,
    ClientChannel,
    ClientSettings,
    ContextSigner,
    acting_as,
    open_channel,
)
from upcard.bonus.v1 import bonus_pb2
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard.history.v1 import history_pb2
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard.table.v1 import table_pb2
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard.wallet.v1 import wallet_pb2
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub

__all__ = ["PLATFORM", "Services", "acting_as", "open_services", "player", "services_of"]

TABLE: Final = table_pb2.DESCRIPTOR.services_by_name["TableService"]
WALLET: Final = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]
BONUS: Final = bonus_pb2.DESCRIPTOR.services_by_name["BonusService"]
HISTORY: Final = history_pb2.DESCRIPTOR.services_by_name["HistoryService"]

PLATFORM: Final = Actor(ActorKind.PLATFORM)
"""An operator, for its own calls; which one, the wallet's `operator` says."""


def player(opaque_id: str) -> Actor:
    """A player, by our opaque id. Raises InvalidActor."""
    return Actor(ActorKind.PLAYER, opaque_id)


@dataclass(frozen=True, slots=True)
class Services:
    """The generated stubs of the services behind the edge."""

    table: TableServiceStub
    wallet: WalletServiceStub
    bonus: BonusServiceStub
    history: HistoryServiceStub
    operations: Mapping[str, Operations] = field(default_factory=dict)
    """By service: how its machinery stands, and what staff may do about it."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services are, each host:port."""

    table: str
    wallet: str
    bonus: str
    history: str


@contextlib.asynccontextmanager
async def open_services(
    addresses: Addresses, settings: ClientSettings, signer: ContextSigner
) -> AsyncIterator[Services]:
    """Channels to all services, which connect when they are used. Raises OSError: a TLS file is missing."""
    async with contextlib.AsyncExitStack() as stack:

        async def channel(audience: str, address: str) -> ClientChannel:
            described = [_DESCRIBED[audience], OPERATIONS]
            opened = open_channel(
                address, audience=audience, services=described, settings=settings, signer=signer
            )
            return await stack.enter_async_context(opened)

        yield services_of(
            await channel("table", addresses.table),
            await channel("wallet", addresses.wallet),
            await channel("bonus", addresses.bonus),
            await channel("history", addresses.history),
        )


def services_of(
    table: ClientChannel, wallet: ClientChannel, bonus: ClientChannel, history: ClientChannel
) -> Services:
    """The stubs over channels that somebody else opened."""
    channels = {"table": table, "wallet": wallet, "bonus": bonus, "history": history}
    return Services(
        TableServiceStub(table),
        WalletServiceStub(wallet),
        BonusServiceStub(bonus),
        HistoryServiceStub(history),
        {service: GrpcOperations(channel, service) for service, channel in channels.items()},
    )


_DESCRIBED: Final = {"table": TABLE, "wallet": WALLET, "bonus": BONUS, "history": HISTORY}
