"""Commands that come twice, at once, or at the last moment: one effect, and the stream shows which."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from eventstore.postgres import PostgresEventStore
from rules_core.round import events as e
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.end_to_end.table.play import (
    TIMEOUT_S,
    Table,
    Terms,
    account_of,
    answered,
    ante,
    bet_item,
    cards,
    deposit,
    fresh,
    open_account,
    player,
    until_balance,
)
from tests.end_to_end.table.processes import DEALER, MANAGER, PLATFORM, READER, SECOND, Casino
from tests.end_to_end.table.test_rounds import MONEY, agreed, players
from tests.messaging.waiting import until
from upcard.table.v1 import shoe_pb2
from upcard.table.v1 import table_pb2 as pb
from upcard.wallet.v1 import wallet_pb2

pytestmark = pytest.mark.asyncio(loop_scope="module")

RACERS: Final = 1_000
BATCH: Final = 20


async def finish(table: Table) -> None:
    """Deal until the round is over."""
    while not table.over():
        await table.deal(lambda _: None)


async def test_a_player_holds_exactly_what_there_is(casino: Casino, log: PostgresEventStore) -> None:
    """100 to spend, 50 bets of 10 at once: ten are accepted, forty declined or refused, and 0 is left."""
    name = f"p{fresh()[:10]}"
    await open_account(casino.calls, name, 100)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=10_000, window_ms=100))
    await table.open()
    await table.open_round()
    bets = [table.bet(player(name), [bet_item(ante(2, 10))]) for _ in range(50)]
    outcomes = [outcome for (outcome,) in await asyncio.gather(*bets)]
    accepted = [one for one in outcomes if one.HasField("accepted")]
    assert len(accepted) == 10, outcomes
    others = {one.declined.reason or one.refusal.reason for one in outcomes if one not in accepted}
    assert others <= {"funds_refused", "too_many_declined"}, others
    await until_balance(casino.calls, name, 0, 100)
    other = f"p{fresh()[:10]}"
    await open_account(casino.calls, other, 0)
    (poor,) = await table.bet(player(other), [bet_item(ante(2, 10))])
    assert poor.declined.reason == "funds_refused", poor
    await deposit(casino.calls, other, 10)
    (rich,) = await table.bet(player(other), [bet_item(ante(2, 10))])
    assert rich.HasField("accepted"), rich
    await finish(table)
    await agreed(table, log)


async def test_one_bet_from_two_callers_is_one_bet(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=3_000, window_ms=100))
    await table.open()
    await table.open_round()
    own = bet_item(ante(2, 100), who=name)
    callers = [player(name), PLATFORM] * 8
    same_id = fresh()
    bets = [table.bet(who, [own]) for who in callers]
    same = [table.bet(PLATFORM, [own], request_id=same_id) for _ in range(8)]
    outcomes = await asyncio.gather(*bets, *same)
    assert len({outcome.SerializeToString() for (outcome,) in outcomes}) == 1, outcomes
    await until_balance(casino.calls, name, MONEY - 100, 100)
    await finish(table)
    assert sum(isinstance(event, e.BetPlaced) for event in table.events) == 1
    await agreed(table, log)


async def test_a_thousand_bets_race_the_close(casino: Casino, log: PostgresEventStore) -> None:
    """Each is in before the close, or refused; who was accepted is in the stream before it, nobody else."""
    names = await players(casino, 40)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=3_000, window_ms=100))
    await table.open()
    await table.open_round()
    opened = table.state.window
    assert opened is not None
    items = [bet_item(ante(2, 1), who=names[number % len(names)]) for number in range(RACERS)]
    outcomes: dict[str, pb.ItemOutcome] = {}

    async def race(first: int) -> None:
        batch = items[first : first + BATCH]
        # Spread over the window and beyond, so that some are early, some late, and many at the close.
        await asyncio.sleep(2.0 + 2.0 * first / RACERS)
        request_id = fresh()
        found = await answered(lambda: table.bet(PLATFORM, batch, request_id=request_id))
        for item, outcome in zip(batch, found, strict=True):
            outcomes[item.bet_id] = outcome

    await asyncio.gather(*(race(first) for first in range(0, RACERS, BATCH)))
    await finish(table)
    placed = {event.bet_id: event for event in table.events if isinstance(event, e.BetPlaced)}
    declined = {event.bet_id for event in table.events if isinstance(event, e.BetDeclined)}
    kinds = [type(event) for event in table.events]
    closed = kinds.index(e.BettingClosed)
    assert len(outcomes) == RACERS
    accepted = {bet_id for bet_id, outcome in outcomes.items() if outcome.HasField("accepted")}
    assert accepted == set(placed), "an answer says what the stream says"
    assert {one for one, outcome in outcomes.items() if outcome.HasField("declined")} == declined
    assert all(kind is not e.BetPlaced for kind in kinds[closed:]), "no bet after the close"
    assert all(event.arrived_at < opened.closes_at for event in placed.values())
    settled = table.settled()
    for name in names:
        net = settled[name].net if name in settled else 0
        await until_balance(casino.calls, name, MONEY + net)
    await agreed(table, log)


async def test_a_scan_is_known_by_its_id(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("three-box@1", betting_ms=500, window_ms=100))
    await table.open()
    await table.open_round()
    await table.bet(player(name), [bet_item(ante(1, 100))])
    await table.until("the deal", lambda: table.step == "lay_card")
    request = shoe_pb2.ScanCardRequest(
        request_id=fresh(), table=table.name, round=1, scan_id=fresh(), card="Ah", card_salt=bytes(16)
    )
    other = shoe_pb2.ScanCardRequest(
        request_id=fresh(), table=table.name, round=1, scan_id=request.scan_id, card="Kd", card_salt=bytes(16)
    )
    with acting_as(READER):
        first = await casino.calls.shoe.ScanCard(request, timeout=TIMEOUT_S)
        again = await casino.calls.shoe.ScanCard(request, timeout=TIMEOUT_S)
        request.request_id = fresh()
        anew = await casino.calls.shoe.ScanCard(request, timeout=TIMEOUT_S)
        reused = await casino.calls.shoe.ScanCard(other, timeout=TIMEOUT_S)
    assert first == again == anew, "one scan"
    assert first.laid.place == "box.1.0"
    assert reused.refusal.reason == "scan_id_reused"
    await table.look()
    assert sum(isinstance(event, e.CardScanned) for event in table.events) == 1


async def test_a_settled_round_is_corrected_by_two_people(casino: Casino, log: PostgresEventStore) -> None:
    """A refund after the winner has withdrawn everything: what is missing is owed."""
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=800, window_ms=4_000, bonus=False))
    await table.open()
    await table.open_round()
    table.reserve(cards(["As", "Ah", "Kd", "7c", "2s", "Qc", "Jd", "8h", "5c", "3d"]))
    plan = {f"box.1.{i}": card for i, card in enumerate(cards(["As", "Ah", "Kd", "7c", "2s"]))}
    plan |= {f"dealer.{i}": card for i, card in enumerate(cards(["Qc", "Jd", "8h", "5c", "3d"]))}
    await table.bet(player(name), [bet_item(ante(1, 100, blind=True))])
    while not table.over():
        await table.deal(plan.get)
    net = table.settled()[name].net
    assert net == 100, "no game: the ante is paid 1:1"
    await until_balance(casino.calls, name, MONEY + net)
    with acting_as(PLATFORM):
        gone = await casino.calls.wallet.Withdraw(
            wallet_pb2.WithdrawRequest(
                request_id=fresh(), account=account_of(name), amount=MONEY + net, currency="EUR"
            ),
            timeout=TIMEOUT_S,
        )
    assert gone.moved.balance.cash == 0, gone
    with acting_as(MANAGER):
        proposed = await casino.calls.table.ProposeResettlement(
            pb.ProposeResettlementRequest(
                request_id=fresh(), table=table.name, round=1, reason="wrong_result", refund=True
            ),
            timeout=TIMEOUT_S,
        )
    word = pb.DecideResettlementRequest(
        request_id=fresh(),
        table=table.name,
        resettlement=proposed.resettlement.resettlement,
        approve=True,
    )
    with acting_as(SECOND):
        approved = await casino.calls.table.DecideResettlement(word, timeout=TIMEOUT_S)
        assert await casino.calls.table.DecideResettlement(word, timeout=TIMEOUT_S) == approved
    assert approved.resettlement.state == pb.RESETTLEMENT_STATE_APPROVED, approved

    async def owes() -> bool:
        asked = wallet_pb2.GetBalanceRequest(account=account_of(name))
        found = (await casino.calls.wallet.GetBalance(asked, timeout=TIMEOUT_S)).found.balance
        return (found.cash, found.held, found.owed) == (0, 0, net)

    await until(owes, what="what the correction took is owed")
    await table.look()
    assert sum(isinstance(event, e.CorrectionDecided) for event in table.events) == 1
    await agreed(table, log)


async def test_a_tip_leaves_the_players_cash(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1, 1_000)
    table = Table(casino.calls, log, Terms("classic@1"))
    await table.open()
    request = pb.TipRequest(request_id=fresh(), table=table.name, currency="EUR", amount=300)
    with acting_as(player(name)):
        given = await casino.calls.table.Tip(request, timeout=TIMEOUT_S)
        assert await casino.calls.table.Tip(request, timeout=TIMEOUT_S) == given
        request.request_id, request.amount = fresh(), 701
        refused = await casino.calls.table.Tip(request, timeout=TIMEOUT_S)
    assert given.given.transaction, given
    assert refused.refusal.reason == "funds_refused"
    await until_balance(casino.calls, name, 700)
    events = await log.read_stream(f"table-{table.name}")
    assert [event.type for event in events].count("TipGiven") == 1


async def test_the_wallet_is_told_what_became_of_a_hold(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=2_000, window_ms=100))
    await table.open()
    await table.open_round()
    item = bet_item(ante(2, 100))
    await table.bet(player(name), [item])
    question = pb.ResolveHoldRequest(
        request_id=fresh(),
        round=table.round_name,
        player=name,
        currency="EUR",
        bet_id=item.bet_id,
        wagers=item.placements,
    )
    staked = await casino.calls.table.ResolveHold(question, timeout=TIMEOUT_S)
    assert staked.resolved.answer == pb.HOLD_ANSWER_STAKED, staked
    question.request_id, question.bet_id = fresh(), fresh()
    declined = await casino.calls.table.ResolveHold(question, timeout=TIMEOUT_S)
    assert declined.resolved.answer == pb.HOLD_ANSWER_DECLINED, declined
    (late,) = await table.bet(
        player(name),
        [pb.PlaceBetsItem(currency="EUR", bet_id=question.bet_id, placements=item.placements)],
    )
    assert late.HasField("declined"), "what was declined once is declined for ever"
    await finish(table)
    await until_balance(casino.calls, name, MONEY + table.settled()[name].net)
    await agreed(table, log)


async def test_cards_are_laid_by_hand_when_the_reader_fails(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=500, window_ms=100))
    await table.open()
    with acting_as(DEALER):
        manual = await casino.calls.table.EnterManualMode(
            pb.EnterManualModeRequest(request_id=fresh(), table=table.name, reason="reader_failed"),
            timeout=TIMEOUT_S,
        )
    assert manual.changed.position, manual
    await table.open_round()
    await table.bet(player(name), [bet_item(ante(2, 100))])
    await table.until("the deal", lambda: table.step == "lay_card")
    refused = await table.scan(cards(["As"])[0])
    assert refused.HasField("refusal"), refused
    with acting_as(DEALER):
        laid = await casino.calls.table.LayCardByHand(
            pb.LayCardByHandRequest(request_id=fresh(), table=table.name, round=1, scan_id=fresh(), card=""),
            timeout=TIMEOUT_S,
        )
    assert laid.changed.position, laid


async def test_a_dealer_of_another_table_deals_nothing_here(casino: Casino, log: PostgresEventStore) -> None:
    (name,) = await players(casino, 1)
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=1_500, window_ms=100))
    await table.open()
    await table.open_round()
    (placed,) = await table.bet(player(name), [bet_item(ante(2, 100))])
    assert placed.HasField("accepted"), placed
    stranger = Actor(ActorKind.DEALER, "d9")
    cancel = pb.CancelRoundRequest(request_id=fresh(), table=table.name, round=1, reason="dealer_mistake")
    opening = pb.OpenRoundRequest(request_id=fresh(), table=table.name)
    with acting_as(stranger):
        cancelled = await casino.calls.table.CancelRound(cancel, timeout=TIMEOUT_S)
        opened = await casino.calls.table.OpenRound(opening, timeout=TIMEOUT_S)
    assert (cancelled.refusal.reason, opened.refusal.reason) == ("dealer_differs", "dealer_differs")
    await finish(table)
    assert table.state.step == "settled"
