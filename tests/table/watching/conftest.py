"""The service's database, and its calls for watchers served from it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore.postgres import Pool, PostgresEventStore, PostgresPrivateReader, open_pool
from eventstore.private import Keyring
from eventstore.projections import run_projection
from servicekit.grpc import (
    ActorKind,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    open_channel,
)
from tests.table.watching.watchers import DEADLINE_S, KEY, QUICK
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_table.app.watching.hubs import Hubs, Watching
from upcard_table.app.watching.resuming import ResumeTokens
from upcard_table.app.watching.sources import Sources
from upcard_table.entrypoints.grpc.access import TABLE, TableServicer, exposed_table
from upcard_table.entrypoints.grpc.errors import TABLE_ERRORS
from upcard_table.entrypoints.grpc.shown import ENCODING
from upcard_table.entrypoints.grpc.watching import WatchDesk
from upcard_table.projections.table_list import TABLE_LIST, PostgresTableIndex

KEYRING = Keyring({"k1": b"1" * 32}, writes_with="k1")
SIGNING = Ed25519PrivateKey.generate()
SIGNER = ContextSigner("gateway-1", SIGNING)
EVERY_KIND = frozenset({ActorKind.PLAYER, ActorKind.DEALER, ActorKind.STAFF, ActorKind.PLATFORM})


@dataclass(frozen=True)
class Instance:
    """An instance of the service, as far as watchers are concerned, and calls to it."""

    hubs: Hubs
    stub: TableServiceStub


Serve = Callable[..., AbstractAsyncContextManager[Instance]]


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    """Connections of the service's role."""
    async with await open_pool(service_database, application_name="watching") as made:
        yield made


@pytest.fixture
async def store(pool: Pool) -> AsyncIterator[PostgresEventStore]:
    """The table service's log."""
    async with PostgresEventStore(pool, keyring=KEYRING) as made:
        yield made


@pytest.fixture
async def listed(pool: Pool, store: PostgresEventStore) -> AsyncIterator[PostgresTableIndex]:
    """The list of tables, kept up to date."""
    running = asyncio.create_task(run_projection(store, pool, TABLE_LIST))
    try:
        yield PostgresTableIndex(pool)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@contextlib.asynccontextmanager
async def _serve(
    pool: Pool, store: PostgresEventStore, how: Watching = QUICK, write_within_s: float = DEADLINE_S
) -> AsyncIterator[Instance]:
    sources = Sources(store, PostgresPrivateReader(pool, KEYRING), PostgresTableIndex(pool))
    hubs = Hubs(sources, ENCODING, ResumeTokens(KEY), how)
    nothing: Any = None  # the other calls are not made here
    servicer = TableServicer(nothing, nothing, nothing, WatchDesk(hubs, write_within_s))
    trusted = TrustedKey("gateway-1", SIGNING.public_key(), EVERY_KIND)
    server = GrpcServer(
        ServerSettings(grace_s=1),
        [exposed_table(servicer)],
        verifier=ContextVerifier("table", [trusted]),
        known_errors=TABLE_ERRORS,
    )
    ending = asyncio.Event()
    running = asyncio.create_task(hubs.run(ending))
    try:
        async with (
            server,
            open_channel(server.address, audience="table", services=[TABLE], signer=SIGNER) as channel,
        ):
            yield Instance(hubs, TableServiceStub(channel))
    finally:
        ending.set()
        await asyncio.wait_for(running, DEADLINE_S)


@pytest.fixture
def serve(pool: Pool, store: PostgresEventStore) -> Serve:
    """Starts an instance."""
    return partial(_serve, pool, store)
