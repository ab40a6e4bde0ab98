"""What the wallet reports to an operator: lines that can be traced, and sums that agree with them."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from servicekit.grpc import acting_as
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, refused
from tests.wallet.edges.processes import staff
from tests.wallet.edges.serving import served
from tests.wallet.edges.test_parked import APPROVED, OWED, decide, listed, propose, win_that_is_gone
from tests.wallet.ledger.world import (
    ROUND_CANCELLED,
    bet,
    declined,
    round_resettled,
    round_settled,
    settled,
)
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import SeamlessWorld, seamless_world
from upcard.wallet.v1 import operator_reports_pb2 as pb
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.withdraw import Withdraw, withdraw

BET, WIN = pb.PARTNER_CALL_KIND_BET, pb.PARTNER_CALL_KIND_WIN
BACK, TAKEN = pb.PARTNER_CALL_KIND_ROLLBACK_OF_BET, pb.PARTNER_CALL_KIND_ROLLBACK_OF_WIN
DONE = pb.PARTNER_CALL_STATE_DONE


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    async with await open_pool(service_database, application_name="wallet", max_size=12) as opened:
        yield opened


@pytest.fixture
async def world(pool: Pool) -> AsyncIterator[SeamlessWorld]:
    async with PostgresEventStore(pool) as store, seamless_world(pool, store, "op1") as world:
        world.start_work()
        yield world


@pytest.fixture
async def client(world: SeamlessWorld) -> AsyncIterator[Client]:
    async with served(world.wallet, world.pool) as client:
        yield client


def instant(seconds: float) -> Timestamp:
    """So many seconds from now."""
    made = Timestamp()
    made.FromDatetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds))
    return made


async def page(client: Client, operator: str = "op1", **wanted: Any) -> pb.ListOperatorTransactionsResponse:
    request = pb.ListOperatorTransactionsRequest(
        **{"operator": operator, "since": instant(-3_600), "until": instant(3_600), **wanted}
    )
    return await client.stub.ListOperatorTransactions(request, timeout=TIMEOUT_S)


async def lines(client: Client, operator: str = "op1", limit: int = 3) -> list[pb.OperatorTransaction]:
    """All lines, by pages."""
    found: list[pb.OperatorTransaction] = []
    after = ""
    while True:
        answer = (await page(client, operator, after=after, limit=limit)).page
        assert len(answer.transactions) <= limit
        found += answer.transactions
        after = answer.next
        if not after:
            return found


async def totals(client: Client, operator: str = "op1", **wanted: Any) -> pb.GetOperatorTotalsResponse:
    request = pb.GetOperatorTotalsRequest(
        **{"operator": operator, "since": instant(-3_600), "until": instant(3_600), **wanted}
    )
    return await client.stub.GetOperatorTotals(request, timeout=TIMEOUT_S)


async def stakes(client: Client, operator: str = "op1", **wanted: Any) -> pb.ListOperatorStakesResponse:
    request = pb.ListOperatorStakesRequest(operator=operator, **wanted)
    return await client.stub.ListOperatorStakes(request, timeout=TIMEOUT_S)


def four(change: pb.MoneyChange) -> tuple[int, int, int, int]:
    return change.cash, change.held, change.promo, change.owed


def called(line: pb.OperatorTransaction) -> list[tuple[int, int, int]]:
    return [(one.kind, one.state, one.amount) for one in line.calls]


async def life_of_a_guest(world: SeamlessWorld) -> None:
    """Two bets, one declined; a win; a correction downward and one upward; a cancelled round; a credit."""
    await world.guest(money=1_000)
    await world.place(bet((1, "ante", 30), (2, "ante", 20)), bet((1, "bet", 7), bet_id="b2"))
    await world.hear(("t1.1", declined((1, "bet", 7), bet_id="b2")))
    first = settled((1, "ante", 30, 80), (2, "ante", 20, 0))
    await world.hear(("t1.1", first), ("t1.1", round_settled(first)))
    await world.quiet()
    lower = settled((1, "ante", 30, 50), (2, "ante", 20, 0), revision=2)
    await world.hear(("t1.1", lower), ("t1.1", round_resettled(1, lower)))
    higher = settled((1, "ante", 30, 90), (2, "ante", 20, 0), revision=3)
    await world.hear(("t1.1", higher), ("t1.1", round_resettled(2, higher)))
    await world.place(bet((1, "ante", 11), round_name="t1.2", bet_id="b3"))
    await world.hear(("t1.2", ROUND_CANCELLED))
    goodwill = Adjust("p1-EUR", 5, "cash", "house", "sorry", "staff:anna", "staff:bert", "k1", None)
    assert isinstance(await world.do(adjust, goodwill), Moved)
    await world.quiet()


async def test_each_line_has_the_calls_that_it_stands_for(client: Client, world: SeamlessWorld) -> None:
    await life_of_a_guest(world)
    found = await lines(client)
    assert [(line.kind, line.changes.cash, called(line)) for line in found] == [
        ("hold", -50, [(BET, DONE, 50)]),
        ("hold", -7, [(BET, DONE, 7)]),
        ("release", 7, [(BACK, DONE, 7)]),
        ("settlement", 80, [(WIN, DONE, 80)]),
        ("correction", -30, [(TAKEN, DONE, 80), (WIN, DONE, 50)]),
        ("correction", 40, [(WIN, DONE, 40)]),
        ("hold", -11, [(BET, DONE, 11)]),
        ("release", 11, [(BACK, DONE, 11)]),
        ("adjustment", 5, [(WIN, DONE, 5)]),
    ]
    told = [one.call for line in found for one in line.calls]
    assert len(set(told)) == len(told) == await world.value("SELECT count(*) FROM wallet.partner_calls")
    assert found[0].calls[0].transactions, "the ids that the partner was told"
    assert all(line.event for line in found)
    assert [bool(line.cause_event) for line in found[3:6]] == [True, True, True]


async def test_sums_agree_with_lines_and_with_the_balances(client: Client, world: SeamlessWorld) -> None:
    await life_of_a_guest(world)
    await world.do(open_account, OpenAccount("p2-EUR", "p2", "op1", "EUR", "internal"))
    await world.do(deposit, Deposit("p2-EUR", 500, "d1"))
    await world.do(withdraw, Withdraw("p2-EUR", 120, "w1"))
    await world.place(bet((1, "ante", 40), player="p2", round_name="t2.1", bet_id="b9"))
    found = await lines(client)
    sums = (await totals(client)).totals
    by_kind: dict[tuple[str, bool], list[pb.OperatorTransaction]] = {}
    for line in found:
        by_kind.setdefault((line.kind, line.seamless), []).append(line)
    assert {(one.kind, one.seamless): (one.transactions, *four(one.changes)) for one in sums.totals} == {
        key: (
            len(those),
            sum(one.changes.cash for one in those),
            sum(one.changes.held for one in those),
            sum(one.changes.promo for one in those),
            sum(one.changes.owed for one in those),
        )
        for key, those in by_kind.items()
    }
    balances = {one.seamless: one for one in sums.balances}
    assert four(balances[False].opening) == (0, 0, 0, 0)
    assert four(balances[False].closing) == (340, 40, 0, 0)
    for seamless, balance in balances.items():
        moved = [four(one.changes) for one in sums.totals if one.seamless is seamless]
        changes = tuple(map(sum, zip(*moved, strict=True)))
        opening, closing = four(balance.opening), four(balance.closing)
        assert tuple(map(sum, zip(opening, changes, strict=True))) == closing
    signs = {BET: -1, WIN: 1, BACK: 1, TAKEN: -1}
    done = sum(signs[one.kind] * one.amount for one in sums.calls if one.state == DONE)
    assert done == balances[True].closing.cash == -world.server.owed_to_us("EUR")


async def test_a_bet_without_an_end_is_no_line_and_yet_counted(client: Client, world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.BROKEN_DONE)
    await world.place(bet((1, "ante", 30)))
    await world.quiet()
    assert await lines(client) == []
    found = (await totals(client)).totals
    assert {(one.kind, one.state, one.amount) for one in found.calls} == {
        (BET, pb.PARTNER_CALL_STATE_UNKNOWN, 30),
        (BACK, DONE, 30),
    }


async def test_of_a_round_also_calls_that_moved_nothing(client: Client, world: SeamlessWorld) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.REFUSES)
    await world.place(bet((1, "ante", 30)))
    world.server.script("bet", Trick.BROKEN_DONE)
    await world.place(bet((1, "ante", 20), bet_id="b2"))
    await world.place(bet((1, "ante", 10), bet_id="b3"))
    await world.quiet()
    found = (await page(client, round="t1.1", limit=1)).page
    assert [called(line) for line in found.transactions] == [[(BET, DONE, 10)]]
    refused_, unknown, back = found.lone_calls
    states = [(one.call.kind, one.call.state, one.call.amount) for one in found.lone_calls]
    assert states == [
        (BET, pb.PARTNER_CALL_STATE_REFUSED, 30),
        (BET, pb.PARTNER_CALL_STATE_UNKNOWN, 20),
        (BACK, DONE, 20),
    ]
    assert (refused_.call.reason, back.call.reason) == ("player_refused", "")
    assert {(one.account, one.player, one.currency) for one in found.lone_calls} == {("p1-EUR", "p1", "EUR")}
    for wanted in ({"round": "t1.2"}, {"operator": "op2", "round": "t1.1"}, {}):
        assert not (await page(client, **wanted)).page.lone_calls
    assert not (await page(client, round="t1.1", since=instant(60))).page.lone_calls
    assert unknown.call.changed_at.ToMicroseconds() >= unknown.call.recorded_at.ToMicroseconds()


async def test_a_period_has_its_beginning_and_not_its_end(client: Client, world: SeamlessWorld) -> None:
    await world.player(money=10)
    (line,) = await lines(client)
    exact, later = Timestamp(), Timestamp()
    exact.CopyFrom(line.recorded_at)
    later.FromMicroseconds(exact.ToMicroseconds() + 1)
    assert len((await page(client, since=exact, until=later)).page.transactions) == 1
    assert not (await page(client, since=later)).page.transactions
    assert not (await page(client, until=exact)).page.transactions
    (before,) = (await totals(client, since=later)).totals.balances
    assert (before.opening.cash, before.closing.cash) == (10, 10)


async def test_operators_never_see_each_other(client: Client, world: SeamlessWorld) -> None:
    await world.player(money=10)
    await world.do(open_account, OpenAccount("q1-EUR", "q1", "op2", "EUR", "internal"))
    await world.do(deposit, Deposit("q1-EUR", 77, "d2"))
    await world.place(bet((1, "ante", 5), player="q1", round_name="t3.1", bet_id="b7"))
    assert {line.player for line in await lines(client)} == {"p1"}
    assert {line.player for line in await lines(client, "op2")} == {"q1"}
    assert [one.player for one in (await stakes(client, "op2")).stakes] == ["q1"]
    assert not (await stakes(client)).stakes
    assert [one.closing.cash for one in (await totals(client, "op2")).totals.balances] == [72]
    assert await lines(client, "op9") == []
    assert not (await totals(client, "op9")).totals.balances


async def test_one_round_alone(client: Client, world: SeamlessWorld) -> None:
    await life_of_a_guest(world)
    await world.player("p2", 100)
    await world.do(open_account, OpenAccount("q1-EUR", "q1", "op2", "EUR", "internal"))
    await world.do(deposit, Deposit("q1-EUR", 77, "d2"))
    await world.place(
        bet((1, "ante", 5), round_name="t1.3", bet_id="b6"),
        bet((1, "ante", 5), player="p2", round_name="t1.3", bet_id="b7"),
        bet((1, "ante", 5), player="q1", round_name="t1.3", bet_id="b8"),
    )
    await world.hear(("t1.3", ROUND_CANCELLED))
    await world.quiet()
    first = (await page(client, round="t1.3", limit=3)).page
    rest = (await page(client, round="t1.3", limit=3, after=first.next)).page
    shown = [(line.player, line.kind) for line in (*first.transactions, *rest.transactions)]
    assert shown == [("p1", "hold"), ("p1", "release"), ("p2", "hold"), ("p2", "release")]
    assert not rest.next
    assert called(first.transactions[1]) == [(BACK, DONE, 5)]


async def test_a_win_that_is_owed_is_the_corrections_and_the_debts(
    client: Client, world: SeamlessWorld
) -> None:
    await win_that_is_gone(world)
    (parked,) = await listed(client)
    proposal = (await propose(client, parked.call, OWED)).proposal
    assert (await decide(client, proposal.proposal)).proposal.state == APPROVED
    await world.quiet()
    found = {(line.kind, line.revision): line for line in await lines(client)}
    assert [one.call for one in found["debt", 0].calls] == [parked.call]
    assert parked.call in [one.call for one in found["correction", 2].calls]
    assert found["debt", 0].changes.owed == 80


async def test_what_is_at_stake_comes_in_pages(client: Client, world: SeamlessWorld) -> None:
    await world.player("p1", 100)
    await world.player("p2", 100)
    await world.place(
        bet((1, "ante", 10), (2, "ante", 5)),
        bet((3, "ante", 7), player="p2", bet_id="b2"),
        bet((1, "ante", 9), round_name="t1.2", bet_id="b3"),
    )
    seen: list[tuple[str, str, int, int]] = []
    after = ""
    while True:
        answer = await stakes(client, after=after, limit=1)
        seen += [(one.player, one.round, one.holds, one.held) for one in answer.stakes]
        after = answer.next
        if not after:
            break
    assert seen == [("p1", "t1.1", 2, 15), ("p1", "t1.2", 1, 9), ("p2", "t1.1", 1, 7)]
    result = settled((1, "ante", 10, 0), (2, "ante", 5, 0))
    await world.hear(("t1.1", result), ("t1.1", round_settled(result)))
    assert [one.round for one in (await stakes(client)).stakes] == ["t1.2"]


async def test_a_stake_that_the_partner_has_not_answered_is_unsure(
    client: Client, world: SeamlessWorld
) -> None:
    await world.guest(money=100)
    world.server.script("bet", Trick.BROKEN)
    world.server.always("rollback", Trick.BROKEN)
    await world.place(bet((1, "ante", 30)))
    (found,) = (await stakes(client)).stakes
    assert (found.held, found.unsure, found.seamless) == (0, 30, True)


@pytest.mark.parametrize("after", ["x", "a/b/c", "a/1/zz", "a/999999999999999999999999/" + "0" * 32])
async def test_a_token_of_nobody_is_refused(client: Client, after: str) -> None:
    assert await refused(page(client, after=after)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "invalid_argument",
    )


async def test_periods_are_bounded(client: Client) -> None:
    assert (await page(client, until=instant(-7_200))).refusal.reason == "period_invalid"
    assert (await totals(client, since=instant(-33 * 86_400))).refusal.reason == "period_invalid"
    assert await refused(page(client, "")) == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_staff_need_a_role(client: Client) -> None:
    with acting_as(staff(fresh(), "dealer")):
        assert await refused(page(client)) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
    with acting_as(staff(fresh(), "auditor")):
        assert (await page(client)).HasField("page")


async def test_the_floor_sees_lines_and_no_sums(client: Client) -> None:
    with acting_as(staff(fresh(), "floor")):
        assert (await page(client)).HasField("page")
        assert await refused(totals(client)) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")
        assert await refused(stakes(client)) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")


async def test_a_call_says_why_it_waits_and_since_when(client: Client, world: SeamlessWorld) -> None:
    await win_that_is_gone(world)
    (parked,) = await listed(client)
    calls = {call.call: call for line in await lines(client) for call in line.calls}
    waiting = calls.pop(parked.call)
    assert waiting.state == pb.PARTNER_CALL_STATE_PARKED
    assert waiting.reason == parked.reason != ""
    assert waiting.changed_at.ToMicroseconds() >= waiting.recorded_at.ToMicroseconds() > 0
    assert {call.reason for call in calls.values()} == {""}
