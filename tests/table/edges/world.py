"""Two instances of the table's calls in one process, over real connections; what owns tables is played."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore.answers import AnswerKey, RequestIdReused
from eventstore.postgres import Pool
from servicekit.answering import Answering
from servicekit.grpc import (
    Actor,
    ActorKind,
    ClientSettings,
    ContextSigner,
    ContextVerifier,
    GrpcServer,
    ServerSettings,
    TlsSettings,
    TrustedKey,
    failure_of,
    open_channel,
)
from upcard.table.v1.shoe_pb2_grpc import ShoeServiceStub
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_table.adapters.postgres.resettlements import PostgresProposals
from upcard_table.app.calls import NotOwner, Result, TableCall
from upcard_table.app.funding.tips import PostedTip, WantedTip
from upcard_table.domain.state import NEW_TABLE, TableState
from upcard_table.entrypoints.forwarding import Peers, Router
from upcard_table.entrypoints.grpc.access import (
    SHOE,
    TABLE,
    TableServicer,
    exposed_shoe,
    exposed_table,
)
from upcard_table.entrypoints.grpc.answering import Desk
from upcard_table.entrypoints.grpc.errors import TABLE_ERRORS
from upcard_table.entrypoints.grpc.tipping import TipDesk

TIMEOUT_S = 5.0
SCAN_KEY = b"k" * 32
KEY = Ed25519PrivateKey.generate()
SIGNER = ContextSigner("key-1", KEY)

PLATFORM = Actor(ActorKind.PLATFORM)
PLAYER = Actor(ActorKind.PLAYER, "p1")
DEALER = Actor(ActorKind.DEALER, "d1")
MANAGER = Actor(ActorKind.STAFF, "m1", frozenset({"operations"}))
SECOND = Actor(ActorKind.STAFF, "m2", frozenset({"operations"}))


@dataclass
class Played:
    """Plays the owner of some tables: answers as it is told, keeps answers, notes what it was asked."""

    answer: Callable[[TableCall], Sequence[Result]]
    owned: set[str] = field(default_factory=set)
    elsewhere: str | None = None
    calls: list[TableCall] = field(default_factory=list)
    kept: dict[AnswerKey, tuple[bytes, bytes]] = field(default_factory=dict)
    asked: int = 0

    async def handle(self, call: TableCall) -> Sequence[Result] | bytes:
        """See `Tables`."""
        self.asked += 1
        if call.table not in self.owned:
            raise NotOwner(call.table, self.elsewhere)
        if call.answer is not None and call.answer.key in self.kept:
            body, answer = self.kept[call.answer.key]
            if body != call.answer.body_digest:
                raise RequestIdReused(call.answer.key)
            return answer
        self.calls.append(call)
        results = self.answer(call)
        if call.answer is not None:
            self.kept[call.answer.key] = (call.answer.body_digest, call.answer.encode(results))
        return results


@dataclass
class PlayedTips:
    """Plays the wallet that posts tips, and who knows the table."""

    tips: list[WantedTip] = field(default_factory=list)
    known: TableState = NEW_TABLE

    async def post_tip(self, tip: WantedTip, deadline_s: float) -> PostedTip:
        """See `Tips`."""
        assert deadline_s > 0
        self.tips.append(tip)
        return PostedTip("0197a5b0-0000-7000-8000-000000000001")

    async def state(self, table: str) -> TableState:
        """See `TableStates`."""
        assert table
        return self.known


@dataclass
class Certificates:
    """Who instances and the gateway are."""

    own: TlsSettings
    gateway: TlsSettings


@dataclass
class Instance:
    """An instance: what it owns, and calls to it."""

    tables: Played
    router: Router
    server: GrpcServer
    table: TableServiceStub
    shoe: ShoeServiceStub


def _no_watching() -> Any:
    """These tests watch nothing."""
    return None


@contextlib.asynccontextmanager
async def open_instance(
    pool: Any, tables: Played, tips: PlayedTips, tls: Certificates | None = None
) -> AsyncIterator[Instance]:
    """An instance that listens. `pool`: None where no call needs a database."""
    verifier = ContextVerifier("table", [TrustedKey("key-1", KEY.public_key(), frozenset(ActorKind))])
    settings = ClientSettings(default_timeout_s=TIMEOUT_S, tls=None if tls is None else tls.own)
    gateway = ClientSettings(tls=None if tls is None else tls.gateway)
    async with contextlib.AsyncExitStack() as exits:
        enter = exits.enter_async_context
        router = Router(await enter(Peers(settings)))
        desk = Desk(router, Answering("table", pool, lambda _: None), SCAN_KEY)
        servicer = TableServicer(desk, PostgresProposals(), TipDesk(tips, tips), _no_watching())
        server = await enter(
            GrpcServer(
                ServerSettings(grace_s=0.2, tls=None if tls is None else tls.own),
                [exposed_table(servicer), exposed_shoe(desk)],
                verifier=verifier,
                known_errors=TABLE_ERRORS,
            )
        )
        router.begin(tables, server.address)
        channel = await enter(
            open_channel(
                server.address, audience="table", services=[TABLE, SHOE], settings=gateway, signer=SIGNER
            )
        )
        yield Instance(tables, router, server, TableServiceStub(channel), ShoeServiceStub(channel))


async def failed(call: Any) -> tuple[grpc.StatusCode, str]:
    """Code and reason of a call that is not carried out."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = failure_of(caught.value)
    return failure.code, failure.reason


def no_database() -> Pool:
    """For calls that need none."""
    return None  # type: ignore[return-value]  # a call that does need one fails loudly
