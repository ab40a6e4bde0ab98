"""The calls on a server of this process, on a fresh database."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore.postgres import PostgresEventStore, open_pool
from servicekit.answering import ANSWER_ERRORS, Answering
from servicekit.grpc import (
    ActorKind,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    open_channel,
)
from tests.bonus.edges.client import Client
from tests.bonus.office.world import World
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard_bonus.bootstrap import NAME
from upcard_bonus.entrypoints.grpc import BONUS, Desk, exposed_bonus


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """Use cases whose sessions have the service's rights."""
    async with (
        await open_pool(service_database, application_name="bonus", max_size=12) as pool,
        PostgresEventStore(pool) as store,
    ):
        yield World(pool, store)


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    """Calls to them over gRPC."""
    key = Ed25519PrivateKey.generate()
    signer = ContextSigner("gateway-1", key)
    kinds = frozenset({ActorKind.PLAYER, ActorKind.STAFF, ActorKind.PLATFORM})
    verifier = ContextVerifier(NAME, [TrustedKey("gateway-1", key.public_key(), kinds)])
    desk = Desk(world.office, Answering(NAME, world.pool, world.store.announce), dt.timedelta(minutes=5))
    server = GrpcServer(
        ServerSettings(grace_s=0.2), [exposed_bonus(desk)], verifier=verifier, known_errors=ANSWER_ERRORS
    )
    async with (
        server,
        open_channel(server.address, audience=NAME, services=[BONUS], signer=signer) as channel,
    ):
        yield Client(BonusServiceStub(channel))
