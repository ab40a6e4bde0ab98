"""A player's rounds, stakes, accounts and statement over gRPC: their own alone, and staff by role."""

from __future__ import annotations

import json
import uuid
from typing import Any

import grpc
import pytest

from rules_core.round.codec import payload_of
from rules_core.round.events import OptionChosen
from servicekit.grpc import Actor, ActorKind, acting_as
from tests.history.desk.asking import all_of, refused
from tests.history.desk.world import OPERATIONS, ROUND_S, TIMEOUT_S, World, at, money, player, staff
from upcard.history.v1 import history_pb2 as pb

BETS = 6
"""So many events of a round are its opening and bets."""


async def player_rounds(world: World, who: Actor, **wanted: Any) -> pb.ListPlayerRoundsResponse:
    """A page of a player's rounds."""
    with acting_as(who):
        request = pb.ListPlayerRoundsRequest(**wanted)
        return await world.stub.ListPlayerRounds(request, timeout=TIMEOUT_S)


async def statement(world: World, who: Actor, **wanted: Any) -> pb.GetStatementResponse:
    """A page of a statement of the first hour."""
    request = pb.GetStatementRequest(**{"since": at(0), "until": at(3_600), **wanted})
    with acting_as(who):
        return await world.stub.GetStatement(request, timeout=TIMEOUT_S)


def of_account(account: str) -> pb.StatementOf:
    """By the account's id."""
    return pb.StatementOf(account=account)


def of_player(name: str = "", currency: str = "EUR") -> pb.StatementOf:
    """By player and currency."""
    return pb.StatementOf(player=pb.PlayerCurrency(player=name, currency=currency))


def hold(amount: int, *, stream: str = "t1.1") -> dict[str, object]:
    """The payload of a hold."""
    held = {"hold": str(uuid.uuid4()), "box": 2, "wager": "ante", "amount": amount}
    return {"round": stream, "bet_id": uuid.uuid4().hex, "transaction": str(uuid.uuid4()), "holds": [held]}


async def test_a_players_rounds_are_what_was_settled(world: World) -> None:
    made = await world.play(players=("p1", "p2"))
    await world.apply()
    answer = await player_rounds(world, player("p1"))
    (found,) = answer.page.rounds
    (settled,) = [
        payload_of(event)
        for event in made.events
        if type(event).__name__ == "PlayerSettled" and payload_of(event)["player"] == "p1"
    ]
    assert (found.staked, found.returned, found.net) == (
        settled["staked"],
        settled["returned"],
        settled["net"],
    )
    assert json.loads(found.boxes) == settled["boxes"]
    assert (found.player, found.round, found.revision) == ("p1", "t1.1", 1)
    assert found.state == pb.ROUND_STATE_SETTLED


async def test_pages_of_a_players_rounds(world: World) -> None:
    for number in range(1, 6):
        await world.play(number=number)
    await world.apply()
    seen: list[int] = []
    after = ""
    while True:
        page = (await player_rounds(world, player("p1"), after=after, limit=2)).page
        seen += [one.number for one in page.rounds]
        after = page.next
        if not after:
            break
    assert seen == [5, 4, 3, 2, 1]
    period = pb.Period(since=at(ROUND_S), until=at(3 * ROUND_S))
    page = (await player_rounds(world, player("p1"), opened=period)).page
    assert [one.number for one in page.rounds] == [3, 2]
    assert not (await player_rounds(world, player("p1"), currency="USD")).page.rounds


async def test_an_open_round_has_no_result_yet(world: World) -> None:
    made = await world.play(table="t2", seed=4, events=BETS)
    assert {type(event).__name__ for event in made.events[1:BETS]} >= {"BetPlaced"}
    await world.apply()
    page = (await player_rounds(world, player("p1"))).page
    found = {one.round: one for one in page.rounds}["t2.1"]
    assert found.state == pb.ROUND_STATE_OPEN
    assert not found.HasField("returned")
    assert not found.HasField("ended_at")
    assert found.boxes == "[]"


async def test_a_player_is_told_of_nobody_else(world: World) -> None:
    await world.play(players=("p1", "p2"))
    account = await world.account("p1", ("Deposited", 1, money(100)))
    await world.apply()
    other = player("p2")
    assert (await player_rounds(world, other, player="p1")).refusal.reason == "player_unknown"
    with acting_as(other):
        bets = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(player="p1"), timeout=TIMEOUT_S)
        accounts = await world.stub.ListAccounts(pb.ListAccountsRequest(player="p1"), timeout=TIMEOUT_S)
        exports = await all_of(
            world.stub.ExportPlayerRounds(pb.ExportPlayerRoundsRequest(player="p1"), timeout=TIMEOUT_S)
        )
        lines = await all_of(
            world.stub.ExportStatement(
                pb.ExportStatementRequest(of=of_account(account), since=at(0), until=at(60)),
                timeout=TIMEOUT_S,
            )
        )
    assert bets.refusal.reason == accounts.refusal.reason == "player_unknown"
    assert [one.refusal.reason for one in exports] == ["player_unknown"]
    assert [one.refusal.reason for one in lines] == ["account_unknown"]
    for asked in (of_account(account), of_player("p1")):
        answer = await statement(world, other, of=asked)
        assert answer.refusal.reason == "account_unknown"
        assert not answer.HasField("statement")


async def test_who_asks_has_to_be_vouched_for(world: World) -> None:
    calls = (
        world.stub.ListPlayerRounds(pb.ListPlayerRoundsRequest(player="p1"), timeout=TIMEOUT_S),
        world.stub.ListAccounts(pb.ListAccountsRequest(player="p1"), timeout=TIMEOUT_S),
        world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(player="p1"), timeout=TIMEOUT_S),
        world.stub.GetStatement(pb.GetStatementRequest(of=of_player("p1")), timeout=TIMEOUT_S),
        all_of(world.stub.GetBundle(pb.GetBundleRequest(round="t1.1"), timeout=TIMEOUT_S)),
    )
    for call in calls:
        assert await refused(call) == (grpc.StatusCode.UNAUTHENTICATED, "call_context_missing")


@pytest.mark.parametrize(
    "call",
    [
        "ListRounds",
        "ReplayRound",
        "ListDifferences",
        "GetStanding",
        "GetFigures",
        "ExportRounds",
        "ExportFigures",
    ],
)
@pytest.mark.parametrize(
    "who", [player("p1"), Actor(ActorKind.DEALER, "d1"), Actor(ActorKind.PLATFORM)], ids=str
)
async def test_what_is_for_staff_is_for_nobody_else(world: World, call: str, who: Actor) -> None:
    request = getattr(pb, f"{call}Request")()
    with acting_as(who):
        made = getattr(world.stub, call)(request, timeout=TIMEOUT_S)
        answer = await refused(all_of(made) if call.startswith("Export") else made)
    assert answer == (grpc.StatusCode.PERMISSION_DENIED, "actor_not_allowed")


async def test_staff_without_a_role_are_told_nothing(world: World) -> None:
    with acting_as(staff("cleaner")):
        for call in (
            world.stub.ListPlayerRounds(pb.ListPlayerRoundsRequest(player="p1"), timeout=TIMEOUT_S),
            world.stub.ListAccounts(pb.ListAccountsRequest(player="p1"), timeout=TIMEOUT_S),
            world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S),
            world.stub.GetStatement(
                pb.GetStatementRequest(of=of_player("p1"), since=at(0), until=at(1)), timeout=TIMEOUT_S
            ),
            all_of(world.stub.GetBundle(pb.GetBundleRequest(round="t1.1"), timeout=TIMEOUT_S)),
            world.stub.GetStanding(pb.GetStandingRequest(), timeout=TIMEOUT_S),
        ):
            assert await refused(call) == (grpc.StatusCode.PERMISSION_DENIED, "role_missing")


async def test_staff_have_to_name_a_player(world: World) -> None:
    answer = await refused(player_rounds(world, OPERATIONS))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")
    answer = await refused(statement(world, OPERATIONS, of=of_player()))
    assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")
    assert not (await player_rounds(world, OPERATIONS, player="nobody")).page.rounds


async def test_bets_in_play_are_of_rounds_that_are_open(world: World) -> None:
    made = await world.play(seed=3)
    await world.play(table="t2", seed=4, events=BETS)
    assert {type(event).__name__ for event in made.events[1:BETS]} >= {"BetPlaced"}
    await world.apply()
    with acting_as(player("p1")):
        own = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S)
    with acting_as(OPERATIONS):
        every = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S)
        table = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(table="t1"), timeout=TIMEOUT_S)
        one = await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(player="p1"), timeout=TIMEOUT_S)
    assert {bet.player for bet in own.bets.bets} == {"p1"}
    assert {bet.round for bet in every.bets.bets} == {"t2.1"}
    assert own.bets == one.bets
    assert {bet.player for bet in every.bets.bets} <= {"p1", "p2"}
    assert not table.bets.bets
    assert not every.bets.more


async def test_staff_see_no_choice_of_a_window_that_is_open(world: World) -> None:
    players = [f"p{number}" for number in range(1, 30)]
    made = await world.play(players=players, seed=1, events=1)
    kinds = [type(event).__name__ for event in made.events]
    closed = kinds.index("OptionsClosed")
    await world.keep(made, 1, closed)
    await world.apply()
    chosen = {
        event.player for event in made.events[:closed] if isinstance(event, OptionChosen) and event.amount
    }
    assert chosen
    for name in sorted(chosen):
        request = pb.ListBetsInPlayRequest(player=name)
        with acting_as(player(name)):
            own = (await world.stub.ListBetsInPlay(request, timeout=TIMEOUT_S)).bets.bets
        with acting_as(OPERATIONS):
            seen = (await world.stub.ListBetsInPlay(request, timeout=TIMEOUT_S)).bets.bets
        hidden = [bet for bet in own if bet not in seen]
        assert [(bet.box, bet.wager in {"bet", "option_fee"}) for bet in hidden] == [(2, True)]
        assert all(bet in own for bet in seen)
    with acting_as(OPERATIONS):
        (table,) = (await world.stub.ListTablesInPlay(pb.ListTablesInPlayRequest(), timeout=TIMEOUT_S)).rounds
        every = (await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S)).bets.bets
    assert (table.window, sum(bet.amount for bet in every)) == ("options", table.at_stake[0].amount)
    await world.keep(made, closed, closed + 1)
    await world.apply()
    with acting_as(OPERATIONS):
        later = (await world.stub.ListBetsInPlay(pb.ListBetsInPlayRequest(), timeout=TIMEOUT_S)).bets.bets
    assert len(later) > len(every)


async def test_a_statement_adds_up(world: World) -> None:
    settled = {
        "round": "t1.1",
        "revision": 1,
        "transaction": str(uuid.uuid4()),
        "staked": 30,
        "returned": 90,
        "paid": 90,
        "cash": 90,
    }
    account = await world.account(
        "p1",
        ("Deposited", 10, money(100)),
        ("Withdrawn", 20, money(40)),
        ("HoldPlaced", 30, hold(30)),
        ("WagersSettled", 40, settled),
        ("TipPosted", 50, {**money(5), "table": "t1", "dealer": "d1"}),
    )
    await world.apply()
    made = (await statement(world, player("p1"), of=of_player())).statement
    assert [(one.kind, one.cash, one.held) for one in made.lines] == [
        ("deposit", 100, 0),
        ("withdrawal", -40, 0),
        ("hold", -30, 30),
        ("settlement", 90, -30),
        ("tip", -5, 0),
    ]
    assert (made.opening, made.closing) == (pb.AccountBalance(), pb.AccountBalance(cash=115))
    assert [one.balance.cash for one in made.lines] == [100, 60, 30, 120, 115]
    assert (made.account.account, made.account.operator) == (account, "op1")
    part = (
        await statement(world, player("p1"), of=of_account(account), since=at(20), until=at(40))
    ).statement
    assert [one.kind for one in part.lines] == ["withdrawal", "hold"]
    assert (part.opening.cash, part.closing.cash, part.closing.held) == (100, 30, 30)
    assert made == (await statement(world, OPERATIONS, of=of_account(account))).statement


async def test_a_statement_comes_in_pages(world: World) -> None:
    await world.account("p1", *(("Deposited", number, money(number)) for number in range(1, 6)))
    await world.apply()
    seen: list[int] = []
    after = ""
    while True:
        made = (await statement(world, player("p1"), of=of_player(), after=after, limit=2)).statement
        seen += [one.cash for one in made.lines]
        assert (made.opening.cash, made.closing.cash) == (0, 15)
        after = made.next
        if not after:
            break
    assert seen == [1, 2, 3, 4, 5]


async def test_a_statement_that_cannot_be(world: World) -> None:
    await world.account("p1", ("Deposited", 1, money(100)))
    await world.apply()
    own = player("p1")
    assert (await statement(world, own, of=of_player(), until=at(0))).refusal.reason == "period_invalid"
    assert (await statement(world, own, of=of_player(currency="USD"))).refusal.reason == "account_unknown"
    assert (await statement(world, OPERATIONS, of=of_account("x"))).refusal.reason == "account_unknown"
    for wrong in ({"of": None}, {"of": of_player(), "since": None}, {"of": of_player(), "after": "x"}):
        answer = await refused(statement(world, own, **wrong))
        assert answer == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_argument")


async def test_a_player_lists_their_accounts(world: World) -> None:
    await world.account("p1")
    await world.apply()
    with acting_as(player("p1")):
        answer = await world.stub.ListAccounts(pb.ListAccountsRequest(), timeout=TIMEOUT_S)
    assert [(one.account, one.currency) for one in answer.accounts.accounts] == [("p1-EUR", "EUR")]
