"""The table service is killed at each of its points; the same call again ends what it began, once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc.aio
import pytest
import pytest_asyncio

from eventstore.postgres import PostgresEventStore, open_pool
from rules_core.round import events as e
from servicekit.grpc import Actor, acting_as
from stack import Stack
from stack.names import fresh_name
from stack.ports import free_ports
from tests.end_to_end.table.conftest import PASSWORD
from tests.end_to_end.table.play import (
    TIMEOUT_S,
    Table,
    Terms,
    answered,
    ante,
    bet_item,
    fresh,
    player,
    until_balance,
)
from tests.end_to_end.table.processes import (
    MANAGER,
    PLATFORM,
    SECOND,
    Calls,
    Casino,
    calls_to,
    open_casino,
    program,
    table_environment,
)
from tests.end_to_end.table.test_rounds import MONEY, agreed, players
from tests.eventstore.test_append_only import as_role
from tests.wallet.edges.processes import in_thread
from upcard.table.v1 import table_pb2 as pb
from upcard_table.entrypoints.faults import POINTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

WAIT_S: Final = 60.0
HIT: set[str] = set()
"""Points at which a process has died in this module."""


@dataclass
class Doomed:
    """A casino whose table service dies when it is told to."""

    casino: Casino
    log: PostgresEventStore
    named: Path

    def kill_at(self, point: str) -> None:
        """From now on the process dies at this point."""
        assert point in POINTS
        self.named.write_text(point, encoding="utf-8")

    async def died(self, point: str) -> None:
        """Wait until it has died there, and start it again."""
        code = await in_thread(lambda: self.casino.table.process.wait(WAIT_S))
        assert code == -9, self.casino.table.said
        HIT.add(point)
        self.named.write_text("", encoding="utf-8")
        await self.casino.restart_table()

    async def table(self, terms: Terms) -> Table:
        """A table with a round that is open for bets."""
        assert self.casino.table.process.poll() is None, self.casino.table.said
        table = Table(self.casino.calls, self.log, terms)
        await table.open()
        await table.open_round()
        return table


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doomed(
    stack: Stack,
    table_template: str,
    wallet_template: str,
    service_role: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Doomed]:
    """One for all tests of this module."""
    named = tmp_path_factory.mktemp("doomed") / "kill_at"
    named.write_text("", encoding="utf-8")

    async def database(template: str) -> tuple[str, str]:
        owner = await stack.databases.create(fresh_name("casino"), template)
        return owner, as_role(owner, service_role, PASSWORD)

    dsns = await database(table_template), await database(wallet_template)
    async with contextlib.AsyncExitStack() as exits:
        casino = await exits.enter_async_context(open_casino(stack, *dsns, kill_at=named))
        pool = await exits.enter_async_context(await open_pool(casino.table_dsn, application_name="tests"))
        log = await exits.enter_async_context(PostgresEventStore(pool))
        yield Doomed(casino, log, named)


async def finish(table: Table) -> None:
    """Deal until the round is over, whatever the table service was in the middle of."""
    while not table.over():
        await table.deal(lambda _: None)


@pytest.mark.parametrize("point", ["table.batch.before_commit", "table.batch.committed"])
async def test_killed_while_a_bet_is_stored(doomed: Doomed, point: str) -> None:
    casino = doomed.casino
    (name,) = await players(casino, 1)
    table = await doomed.table(Terms("live-shared@1", betting_ms=6_000, window_ms=100))
    request = pb.PlaceBetsRequest(
        request_id=fresh(), table=table.name, round=1, items=[bet_item(ante(2, 100), who=name)]
    )

    async def bet() -> pb.PlaceBetsResponse:
        with acting_as(PLATFORM):
            return await casino.calls.table.PlaceBets(request, timeout=5)

    doomed.kill_at(point)
    first = asyncio.ensure_future(answered(bet))
    await doomed.died(point)
    outcome = await first
    assert outcome == await bet(), "the answer is kept"
    (item,) = outcome.items
    if point == "table.batch.before_commit":
        # Its money was held, and the round knew nothing of it: the next owner has given it back.
        assert item.declined.reason == "hold_answered_late", item
        await until_balance(casino.calls, name, MONEY)
        (again,) = await table.bet(player(name), [bet_item(ante(2, 100))])
        assert again.HasField("accepted"), again
    else:
        assert item.HasField("accepted"), item
    await finish(table)
    assert sum(isinstance(event, e.BetPlaced) for event in table.events) == 1
    assert any(isinstance(event, e.WindowExtended) for event in table.events), "its time was lost"
    await until_balance(casino.calls, name, MONEY + table.settled()[name].net)
    await agreed(table, doomed.log)


@pytest.mark.parametrize("point", ["table.batch.before_commit", "table.batch.committed"])
async def test_killed_while_the_round_is_settled(doomed: Doomed, point: str) -> None:
    casino = doomed.casino
    (name,) = await players(casino, 1)
    table = await doomed.table(Terms("live-shared@1", betting_ms=600, window_ms=700))
    await table.bet(player(name), [bet_item(ante(1, 100, blind=True))])
    await table.deal(lambda _: None)
    await table.until("the switch cards", lambda: table.over() or table.step == "lay_card")
    for _ in range(5):
        await table.scan(table.spare())
    doomed.kill_at(point)
    with contextlib.suppress(grpc.aio.AioRpcError, AssertionError):
        await table.confirm()
    await doomed.died(point)
    await table.look()
    if table.step == "confirm_cards":
        await answered(table.confirm)
    await finish(table)
    assert table.state.step == "settled"
    assert sum(isinstance(event, e.PlayerSettled) for event in table.events) == 1
    await until_balance(casino.calls, name, MONEY + table.settled()[name].net)
    await agreed(table, doomed.log)


async def test_killed_with_a_tip_that_is_posted(doomed: Doomed) -> None:
    casino, point = doomed.casino, "table.tip.posted"
    (name,) = await players(casino, 1, 1_000)
    table = Table(casino.calls, doomed.log, Terms("classic@1"))
    await table.open()
    request = pb.TipRequest(request_id=fresh(), table=table.name, currency="EUR", amount=300)

    async def tip() -> pb.TipResponse:
        with acting_as(player(name)):
            return await casino.calls.table.Tip(request, timeout=5)

    doomed.kill_at(point)
    first = asyncio.ensure_future(answered(tip))
    await doomed.died(point)
    given = await first
    assert given.HasField("given"), given
    await until_balance(casino.calls, name, 700)
    events = await doomed.log.read_stream(f"table-{table.name}")
    assert [event.type for event in events].count("TipGiven") == 1


@pytest.mark.parametrize(
    "point",
    [
        "table.call.before_commit",
        "table.call.committed",
        "table.resettle.approved",
        "table.resettle.corrected",
    ],
)
async def test_killed_while_a_round_is_corrected(doomed: Doomed, point: str) -> None:
    casino = doomed.casino
    (name,) = await players(casino, 1)
    table = await doomed.table(Terms("live-shared@1", betting_ms=600, window_ms=100))
    await table.bet(player(name), [bet_item(ante(1, 100, blind=True))])
    await finish(table)
    await until_balance(casino.calls, name, MONEY + table.settled()[name].net)
    proposing = pb.ProposeResettlementRequest(
        request_id=fresh(), table=table.name, round=1, reason="wrong_result", refund=True
    )

    async def propose() -> pb.ProposeResettlementResponse:
        with acting_as(MANAGER):
            return await casino.calls.table.ProposeResettlement(proposing, timeout=5)

    if point.startswith("table.call."):
        doomed.kill_at(point)
        first = asyncio.ensure_future(answered(propose))
        await doomed.died(point)
        proposed = await first
        assert proposed == await propose(), "the answer is kept"
    else:
        proposed = await propose()
    deciding = pb.DecideResettlementRequest(
        request_id=fresh(),
        table=table.name,
        resettlement=proposed.resettlement.resettlement,
        approve=True,
    )

    async def decide() -> pb.DecideResettlementResponse:
        with acting_as(SECOND):
            return await casino.calls.table.DecideResettlement(deciding, timeout=5)

    if point.startswith("table.resettle."):
        doomed.kill_at(point)
        word = asyncio.ensure_future(answered(decide))
        await doomed.died(point)
        decided = await word
    else:
        decided = await answered(decide)
    assert decided.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED, decided
    await table.look()
    assert sum(isinstance(event, e.CorrectionDecided) for event in table.events) == 1
    await until_balance(casino.calls, name, MONEY)
    await agreed(table, doomed.log)


@contextlib.asynccontextmanager
async def another(doomed: Doomed, named: Path) -> AsyncIterator[tuple[Calls, Callable[[], int]]]:
    """A second instance, which may die; calls to it, and waiting for its death."""
    casino = doomed.casino
    (port,) = free_ports(1)
    settings = table_environment(
        casino.stack,
        casino.table_settings["UPCARD_DSN"],
        port=port,
        wallet=casino.table_settings["UPCARD_WALLET_ADDRESS"],
        namespace=casino.table_settings["UPCARD_KAFKA_NAMESPACE"],
        instance="table-b",
    )
    running = program(settings, "tests.end_to_end.table.program", kill_at=named)
    process = await in_thread(running.__enter__)
    wallet = casino.table_settings["UPCARD_WALLET_ADDRESS"]
    try:
        async with calls_to(f"127.0.0.1:{port}", wallet) as calls:
            yield calls, lambda: process.process.wait(WAIT_S)
    finally:
        running.__exit__(None, None, None)


@pytest.mark.parametrize("point", ["table.forward.before", "table.forward.answered"])
async def test_killed_while_a_call_is_passed_on(doomed: Doomed, point: str, tmp_path: Path) -> None:
    """The one who passes it on dies; the owner answers the same call as if nothing had been."""
    casino = doomed.casino
    (name,) = await players(casino, 1)
    named = tmp_path / "kill_at"
    named.write_text("", encoding="utf-8")
    table = await doomed.table(Terms("live-shared@1", betting_ms=30_000, window_ms=100))
    who: Actor = player(name)
    request = pb.PlaceBetsRequest(
        request_id=fresh(), table=table.name, round=1, items=[bet_item(ante(2, 100))]
    )
    async with another(doomed, named) as (calls, wait):
        with acting_as(who):
            undone = pb.ClearBetsRequest(
                request_id=fresh(), table=table.name, round=1, items=[pb.ClearBetsItem()]
            )
            passed = await calls.table.ClearBets(undone, timeout=TIMEOUT_S)
            assert passed.items[0].HasField("refusal"), "the owner was asked, and nothing was to be cleared"
            named.write_text(point, encoding="utf-8")
            with pytest.raises(grpc.aio.AioRpcError):
                await calls.table.PlaceBets(request, timeout=5)
        assert await in_thread(wait) == -9
        HIT.add(point)
    with acting_as(who):
        outcome = await casino.calls.table.PlaceBets(request, timeout=TIMEOUT_S)
    assert outcome.items[0].HasField("accepted"), outcome
    await table.look()
    assert sum(isinstance(event, e.BetPlaced) for event in table.events) == 1
    await until_balance(casino.calls, name, MONEY - 100, 100)


async def test_every_point_was_hit() -> None:
    assert HIT == POINTS
