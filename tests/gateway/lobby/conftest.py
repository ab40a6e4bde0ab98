"""The table and the bonus service in this process, on databases of their own, behind a gateway."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import asyncpg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore import Expect
from eventstore.migrations import prepare_event_log
from eventstore.postgres import PostgresEventStore, PostgresPrivateReader, open_pool
from eventstore.private import Keyring
from eventstore.projections import run_projection
from messaging.migrations import prepare_messaging
from servicekit.answering import ANSWER_ERRORS, Answering
from servicekit.grpc import (
    ActorKind,
    ClientSettings,
    ContextSigner,
    ContextVerifier,
    Exposed,
    GrpcServer,
    ServerSettings,
    TrustedKey,
    open_channel,
)
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart
from tests.bonus.office.world import World as BonusWorld
from tests.messaging.waiting import until
from tests.table.watching.rounds import Played, append, config, new_event
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard.history.v1 import history_pb2
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_bonus.entrypoints.grpc import BONUS, Desk, exposed_bonus
from upcard_bonus.migrations import prepare_bonus
from upcard_gateway.adapters.services import TABLE, Services
from upcard_table.app.watching.hubs import Hubs, Watching
from upcard_table.app.watching.resuming import ResumeTokens
from upcard_table.app.watching.sources import Sources
from upcard_table.domain import events as t
from upcard_table.domain.words import table_stream
from upcard_table.entrypoints.grpc.access import TableServicer, exposed_table
from upcard_table.entrypoints.grpc.errors import TABLE_ERRORS
from upcard_table.entrypoints.grpc.shown import ENCODING
from upcard_table.entrypoints.grpc.watching import WatchDesk
from upcard_table.migrations import prepare_tables
from upcard_table.projections.table_list import TABLE_LIST, PostgresTableIndex

KEYRING: Final = Keyring({"k1": b"1" * 32}, writes_with="k1")
KEY: Final = Ed25519PrivateKey.generate()
SIGNER: Final = ContextSigner("gateway-1", KEY)
KINDS: Final = frozenset({ActorKind.PLAYER, ActorKind.STAFF, ActorKind.PLATFORM})

Prepare = Callable[[asyncpg.Connection], Awaitable[object]]


@dataclass
class History:
    """The one call of the history that the lobby makes; can be away."""

    results: dict[str, list[history_pb2.TableResult]] = field(default_factory=dict)
    asked: int = 0

    async def ListResults(  # noqa: N802 - the name of the call
        self,
        request: history_pb2.ListResultsRequest,
        timeout: float,  # noqa: ASYNC109 - as a stub takes it
    ) -> history_pb2.ListResultsResponse:
        """The last results of a table."""
        assert timeout > 0
        self.asked += 1
        return history_pb2.ListResultsResponse(results=self.results.get(request.table, [])[: request.limit])


@dataclass
class Behind:
    """What stands behind the gateway, and what happens there."""

    store: PostgresEventStore
    index: PostgresTableIndex
    bonus: BonusWorld
    history: History
    services: Services
    calls: list[str]
    """Calls to the table service that were made."""
    stop_table: Callable[[], Awaitable[None]]

    async def open(self, *events: t.TableEvent, table: str) -> None:
        """Record a new table's first events."""
        stream = table_stream(table)
        await self.store.append(stream, [new_event(stream, one) for one in events], expected=Expect.NONE)

    async def open_table(self, table: str, ruleset: str = "classic@1", *, dealer: str = "d1") -> None:
        """Open a table where a dealer is signed in."""
        await self.open(t.TableOpened(table, config(ruleset), 1), t.DealerSignedIn(dealer), table=table)

    async def play(self, round_: Played, events: int) -> None:
        """Record the first so many events of a round of table t1."""
        await append(self.store, round_.stream, round_.events[:events])

    async def listed(self, table: str, *, step: str = "", last_round: int = 0) -> None:
        """Wait until the table's list knows so much."""

        async def there() -> bool:
            known = await self.index.find(table)
            return known.position > 0 and (known.step, known.last_round) == (step, last_round)

        await until(there, what=f"the list has {table}")


@pytest.fixture(scope="session")
def templates(stack: Stack) -> dict[str, str]:
    """Databases of the services behind, to be copied."""
    made = {"table": fresh_name("lobby_table"), "bonus": fresh_name("lobby_bonus")}
    prepare: dict[str, Prepare] = {"table": prepare_tables, "bonus": prepare_bonus}

    async def make() -> None:
        for name, database in made.items():
            connection = await asyncpg.connect(await stack.databases.create(database))
            try:
                await prepare_event_log(connection)
                await prepare_messaging(connection)
                await prepare[name](connection)
            finally:
                await connection.close()

    run_apart(make)
    return made


class _Counting:
    """A stub that remembers which calls were made."""

    def __init__(self, stub: Any, calls: list[str]) -> None:
        self._stub = stub
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        self._calls.append(name)
        return getattr(self._stub, name)


def _server(exposed: Exposed, name: str, errors: Any) -> GrpcServer:
    verifier = ContextVerifier(name, [TrustedKey("gateway-1", KEY.public_key(), KINDS)])
    return GrpcServer(ServerSettings(grace_s=0.2), [exposed], verifier=verifier, known_errors=errors)


@pytest.fixture
async def behind(stack: Stack, templates: dict[str, str]) -> AsyncIterator[Behind]:
    """A table and a bonus service with nothing in them yet."""
    async with contextlib.AsyncExitStack() as opened:

        async def log(name: str, keyring: Keyring | None) -> tuple[Any, PostgresEventStore]:
            copy = fresh_name(f"lobby_{name}_of")
            opened.push_async_callback(stack.databases.drop, copy)
            dsn = await stack.databases.create(copy, template=templates[name])
            pool = await opened.enter_async_context(await open_pool(dsn, application_name=name, max_size=8))
            store = PostgresEventStore(pool, keyring=keyring)
            return pool, await opened.enter_async_context(store)

        pool, store = await log("table", KEYRING)
        index = PostgresTableIndex(pool)
        hubs = Hubs(
            Sources(store, PostgresPrivateReader(pool, KEYRING), index),
            ENCODING,
            ResumeTokens(b"k" * 32),
            Watching(updates_per_s=50),
        )
        nothing: Any = None  # the calls of players and dealers are not made here
        servicer = TableServicer(nothing, nothing, nothing, WatchDesk(hubs, 10.0))
        table = _server(exposed_table(servicer), "table", TABLE_ERRORS)
        bonus = BonusWorld(*await log("bonus", None))
        desk = Desk(
            bonus.office,
            Answering("bonus", bonus.pool, bonus.store.announce),
            dt.timedelta(minutes=5),
        )
        tables = await opened.enter_async_context(table)
        bonuses = await opened.enter_async_context(_server(exposed_bonus(desk), "bonus", ANSWER_ERRORS))
        ending = asyncio.Event()
        working = [
            asyncio.create_task(hubs.run(ending)),
            asyncio.create_task(run_projection(store, pool, TABLE_LIST)),
        ]

        async def end() -> None:
            ending.set()
            working[1].cancel()
            await asyncio.gather(*working, return_exceptions=True)

        opened.push_async_callback(end)
        settings = ClientSettings(default_timeout_s=20.0)
        to_table = await opened.enter_async_context(
            open_channel(tables.address, audience="table", services=[TABLE], settings=settings, signer=SIGNER)
        )
        to_bonus = await opened.enter_async_context(
            open_channel(
                bonuses.address, audience="bonus", services=[BONUS], settings=settings, signer=SIGNER
            )
        )
        calls: list[str] = []
        history = History()
        stub: Any = _Counting(TableServiceStub(to_table), calls)
        results: Any = history
        services = Services(stub, nothing, BonusServiceStub(to_bonus), results)
        yield Behind(store, index, bonus, history, services, calls, tables.stop)


@pytest.fixture
def services(behind: Behind) -> Services:
    """What the gateway of `world` calls."""
    return behind.services
