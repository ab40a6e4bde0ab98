from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import Refusal
from tests.rules_core.round.scripted import Scripted, ante, bonus_b, bonus_d
from upcard_table.app.funding import NOTHING, Needed, funds_of, may_stake_money, wagers_to_hold
from upcard_table.app.ports import HoldsAnswer

TRIPS = "9s 9h 9d 4c 2d"
NO_GAME = "Qs Jd 8h 5c 3d"


def shared() -> Scripted:
    return Scripted("live-shared@1", {"box.2": TRIPS, "dealer": NO_GAME}).open()


def needed(table: Scripted, command: Any, *, reserve: bool = False) -> tuple[e.DeclinedStake, ...]:
    # The script's ids have dots in them, which the wallet would not take.
    command = replace(command, bet_id=command.bet_id.replace(".", "-"))
    found = wagers_to_hold(command, table.state, table.sealed, reserve=reserve)
    assert isinstance(found, Needed), found
    assert found == NOTHING or found.currency == "EUR"
    return found.wagers


def refused(table: Scripted, command: Any) -> str:
    found = wagers_to_hold(command, table.state, table.sealed, reserve=False)
    assert isinstance(found, Refusal), found
    return found.code


def stake(box: int, wager: Any, amount: int, *, blind: bool = False) -> e.DeclinedStake:
    return e.DeclinedStake(box, wager, amount, blind)


def test_a_bets_stakes_are_held_a_blind_boxs_bet_with_them() -> None:
    table = shared()
    command = table.place_command("p1", ante(2), bonus_b(2, 50), bonus_d(2, 50), ante(1, 200, blind=True))
    stakes = (
        stake(2, "ante", 100),
        stake(2, "bonus_player", 50),
        stake(2, "bonus_dealer", 50),
        stake(1, "ante", 200, blind=True),
        stake(1, "bet", 400, blind=True),
    )
    assert needed(table, command) == stakes
    assert needed(table, command, reserve=True) == (*stakes, stake(2, "bet", 200))


def test_a_free_bet_pays_its_wager_and_never_the_reserve() -> None:
    table = shared()
    command = table.place_command("p1", ante(2, funding="free-1"))
    paid = e.DeclinedStake(2, "ante", 100, funding="free-1")
    assert needed(table, command) == (paid,)
    assert needed(table, command, reserve=True) == (paid, stake(2, "bet", 200))


def test_what_comes_with_double_and_repeat_is_held_and_no_more() -> None:
    table = shared().place("p1", ante(2, 300))
    double = c.DoubleBets("p1", "double-1", table.now)
    assert needed(table, double) == (stake(2, "ante", 300),)
    assert needed(table, double, reserve=True) == (stake(2, "ante", 300), stake(2, "bet", 600))
    repeat = c.RepeatBets("p2", "EUR", "repeat-1", (ante(3, blind=True),), table.now)
    assert needed(table, repeat) == (stake(3, "ante", 100, blind=True), stake(3, "bet", 200, blind=True))


def test_what_would_be_refused_is_never_asked_for() -> None:
    table = shared()
    assert refused(table, table.place_command("p1", ante(2, 150_000))) == "above_maximum"
    assert refused(table, c.DoubleBets("p1", "double-1", table.now)) == "no_bets"
    command = replace(table.place_command("p1", ante(2)), bet_id="bet:1")
    assert refused(table, command) == "word_invalid", "the rules would take it, the wallet would not"
    command = table.place_command("p1", ante(2))
    table.do(command)
    assert refused(table, command) == "bet_id_used"


def test_after_twenty_declined_the_wallet_is_not_asked() -> None:
    table = shared()
    for number in range(20):
        command = replace(table.place_command("p1", ante(2)), bet_id=f"poor-{number}", funds="refused")
        table.do(command)
    assert refused(table, table.place_command("p1", ante(2))) == "too_many_declined"


def test_what_comes_late_is_declined_without_asking() -> None:
    table = shared().place("p1", ante(2))
    table.close_betting()
    found = wagers_to_hold(table.place_command("p2", ante(2)), table.state, table.sealed, reserve=False)
    assert isinstance(found, e.BetDeclined)
    assert found.reason == "betting_closed"


@pytest.mark.parametrize(
    ("kind", "positions", "wager", "amount"),
    [("bet", (), "bet", 200), ("sixth", (), "option_fee", 100), ("exchange", (3, 4), "option_fee", 100)],
)
def test_options_cost_a_bet_or_a_fee(kind: Any, positions: Any, wager: str, amount: int) -> None:
    table = shared().place("p1", ante(2)).deal()
    command = table.option_command("p1", 2, kind, *positions)
    assert needed(table, command) == (stake(2, wager, amount),)
    kept = () if wager == "bet" else (stake(2, wager, amount),)
    assert needed(table, command, reserve=True) == kept
    assert needed(table, table.option_command("p1", 2, "fold")) == ()


def test_a_final_bet_and_its_insurance_are_held_together() -> None:
    table = shared().place("p1", ante(2)).deal().option("p1", 2, "sixth")
    table.close_options()
    table.lay().confirm()
    command = table.final_command("p1", 2, "bet", 100)
    assert needed(table, command) == (stake(2, "bet", 200), stake(2, "insurance", 100))
    assert needed(table, command, reserve=True) == (stake(2, "insurance", 100),)
    assert needed(table, table.final_command("p1", 2, "fold")) == ()


def test_insurance_alone_is_held_where_the_bet_stands() -> None:
    table = shared().place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.lay().confirm()
    assert needed(table, table.final_command("p1", 2, "stand", 100)) == (stake(2, "insurance", 100),)
    found = wagers_to_hold(table.final_command("p1", 2, "stand"), table.state, table.sealed, reserve=False)
    assert found == NOTHING


def test_a_purchase_costs_an_ante() -> None:
    table = shared().place("p1", ante(2)).deal().option("p1", 2, "bet")
    table.close_options()
    table.lay().confirm()
    table.close_finals()
    while table.state.step != "purchase":
        table.proceed()
    assert needed(table, table.buy_command("p1", 2), reserve=True) == (stake(2, "purchase_fee", 100),)


def test_commands_without_money_are_not_asked_about() -> None:
    now = shared().now
    assert may_stake_money(c.DoubleBets("p1", "b", now))
    for command in (c.UndoBet("p1", now), c.ClearBets("p1", now), c.DeclinePurchase("p1", 2, now)):
        assert not may_stake_money(command)


@pytest.mark.parametrize(
    ("outcome", "reason", "funds"),
    [
        ("held", "", "held"),
        ("refused", "funds_refused", "refused"),
        ("refused", "player_refused", "refused"),
        ("refused", "account_unknown", "refused"),
        ("refused", "wallet_unavailable", "unavailable"),
        ("refused", "hold_answered_late", "unavailable"),
        ("refused", "round_ended", "unavailable"),
        ("unknown", "deadline", "unavailable"),
    ],
)
def test_the_wallets_answer_is_what_the_command_is_decided_with(
    outcome: Any, reason: str, funds: str
) -> None:
    assert funds_of(HoldsAnswer(outcome, reason)) == funds
