"""Behind the gateway in tests of players and their money: a real wallet, and what history would say."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import grpc.aio
import httpx
import pytest

from eventstore.migrations import prepare_event_log
from eventstore.postgres import PostgresEventStore, open_pool
from messaging.migrations import prepare_messaging
from rules_core.log.content import parse_content
from servicekit.answering import Answering
from servicekit.grpc import ActorKind, ContextVerifier, GrpcServer, ServerSettings, TrustedKey
from servicekit.grpc.signing import acting
from stack import Stack
from stack.names import fresh_name
from tests.gateway.world import World
from tests.wallet.edges.processes import KEY, channel_to
from tests.wallet.ledger.world import World as Ledger
from upcard.history.v1 import history_pb2
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_gateway.domain.sessions import EVENT_TYPES
from upcard_platform.problems import ProblemBody
from upcard_wallet.adapters.postgres.adjustments import AdjustmentTables
from upcard_wallet.adapters.seamless.parked_tables import ParkedCallTables
from upcard_wallet.entrypoints.grpc import AGAIN, WALLET_ERRORS, Desk, exposed_wallet
from upcard_wallet.migrations import prepare_wallet

_numbers = itertools.count(1)


def fresh() -> str:
    """A request_id that no other call has."""
    return f"r-{next(_numbers)}"


@dataclass
class WalletWire:
    """The wallet's stub, with a wire that a test can cut: before a call arrives, or before its answer."""

    stub: WalletServiceStub
    ledger: Ledger
    cut_before: set[str] = field(default_factory=set)
    cut_after: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(request: Any) -> Any:
            self.calls.append(name)
            if name in self.cut_before:
                raise _unavailable()
            answer = await getattr(self.stub, name)(request)
            if name in self.cut_after:
                raise _unavailable()
            return answer

        return call


@dataclass
class SaidHistory:
    """Says what it is told to, and remembers who asked for what."""

    totals: list[history_pb2.PlayerTotal] = field(default_factory=list)
    asked: list[tuple[str, history_pb2.GetPlayerTotalsRequest]] = field(default_factory=list)
    away: bool = False

    async def GetPlayerTotals(  # noqa: N802 - the name of the call
        self, request: history_pb2.GetPlayerTotalsRequest
    ) -> history_pb2.GetPlayerTotalsResponse:
        """A player's sums."""
        if self.away:
            raise _unavailable()
        self.asked.append((str(acting()), request))
        return history_pb2.GetPlayerTotalsResponse(totals=history_pb2.PlayerTotals(totals=self.totals))


def _unavailable() -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(
        grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), "the wire is cut"
    )


async def wallet_template(stack: Stack) -> str:
    """A database with the wallet's tables, to be copied."""
    name = fresh_name("behind_wallet")
    connection = await asyncpg.connect(await stack.databases.create(name))
    try:
        await prepare_event_log(connection)
        await prepare_messaging(connection)
        await prepare_wallet(connection)
    finally:
        await connection.close()
    return name


@contextlib.asynccontextmanager
async def real_wallet(stack: Stack, template: str) -> AsyncIterator[WalletWire]:
    """A wallet that serves its calls in this process, on a database of its own."""
    name = fresh_name("behind")
    dsn = await stack.databases.create(name, template)
    try:
        async with (
            await open_pool(dsn, application_name="wallet", max_size=8) as pool,
            PostgresEventStore(pool) as store,
        ):
            ledger = Ledger(pool, store)
            desk = Desk(
                ledger.wallet,
                AdjustmentTables(),
                ParkedCallTables(ledger.records),
                Answering("wallet", pool, lambda _: None, AGAIN),
            )
            trusted = TrustedKey("gateway-1", KEY.public_key(), frozenset(ActorKind))
            server = GrpcServer(
                ServerSettings(grace_s=0.2),
                [exposed_wallet(desk)],
                verifier=ContextVerifier("wallet", [trusted]),
                known_errors=WALLET_ERRORS,
            )
            async with server, channel_to(server.address) as channel:
                yield WalletWire(WalletServiceStub(channel), ledger)
    finally:
        await stack.databases.drop(name)


def launch_of(player: str = "anna", **more: Any) -> dict[str, Any]:
    """The body of a launch."""
    body = {
        "request_id": fresh(),
        "player": player,
        "nickname": "Anna",
        "currency": "EUR",
        "country": "DE",
        "language": "de",
    }
    return body | more


async def launched(casino: httpx.AsyncClient, player: str = "anna", **more: Any) -> dict[str, Any]:
    """Launch a session."""
    return told(await casino.post("/v1/sessions", json=launch_of(player, **more)))


def told(answer: httpx.Response) -> dict[str, Any]:
    """What a call that was done answers."""
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a call that was not done; the whole of it has the documented form."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = ProblemBody.model_validate_json(answer.content)
    assert body.status == answer.status_code
    return answer.status_code, body.code


async def events_of(world: World, session: str) -> list[tuple[str, str, dict[str, Any]]]:
    """A session's stream: type, actor and payload of each event."""
    found = []
    async for event in world.edge.store.iterate_stream(f"session-{session}"):
        content = parse_content(event.content)
        assert content.type in EVENT_TYPES
        found.append((content.type, content.actor, dict(content.payload)))
    return found


async def all_bytes(pool: Any, *, without: str = "gateway.people") -> str:
    """Everything that the database has in its tables but one, as text."""
    found: list[str] = []
    async with pool.acquire() as connection:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        for table in tables:
            if table["name"] != without and await connection.fetchval(
                "SELECT has_table_privilege($1, 'SELECT')", table["name"]
            ):
                rows = await connection.fetch(f"SELECT t::text AS line FROM {table['name']} AS t")  # noqa: S608 - its own name
                found += [f"{table['name']}: {row['line']}" for row in rows]
    return "\n".join(found)


@pytest.fixture
def history() -> SaidHistory:
    """What history would say."""
    return SaidHistory()
