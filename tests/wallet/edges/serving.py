"""The wallet's calls served in this process, over whatever wallet a test has."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from eventstore.postgres import Pool
from servicekit.answering import Answering
from servicekit.grpc import ActorKind, ContextVerifier, GrpcServer, ServerSettings, TrustedKey, acting_as
from tests.wallet.edges.client import Client
from tests.wallet.edges.processes import KEY, PLATFORM, channel_to
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_wallet.adapters.postgres.adjustments import AdjustmentTables
from upcard_wallet.adapters.seamless.parked_tables import ParkedCallTables
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.partners import Partners
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.entrypoints.grpc import AGAIN, WALLET_ERRORS, Desk, exposed_wallet


@contextlib.asynccontextmanager
async def served(wallet: Wallet, pool: Pool, *, partners: Partners | None = None) -> AsyncIterator[Client]:
    """Calls to it, in the platform's name unless a test says otherwise."""
    answering = Answering("wallet", pool, lambda _: None, AGAIN)
    desk = Desk(wallet, AdjustmentTables(), ParkedCallTables(Records(wallet)), answering, partners)
    trusted = TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))
    server = GrpcServer(
        ServerSettings(grace_s=0.2),
        [exposed_wallet(desk)],
        verifier=ContextVerifier("wallet", [trusted]),
        known_errors=WALLET_ERRORS,
    )
    async with server, channel_to(server.address) as channel:
        with acting_as(PLATFORM):
            yield Client(WalletServiceStub(channel))
