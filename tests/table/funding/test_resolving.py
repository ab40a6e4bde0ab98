"""What open holds are to a round: the stream has their stake, or they are declined, and only then free."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from tests.rules_core.round.scripted import Scripted, ante, bonus_b
from tests.table.funding.test_defaults import ROUND, bets, passed
from upcard_table.app.funding import Standing, standing_of, to_decline
from upcard_table.app.ports import OpenHold

ANTE = e.DeclinedStake(2, "ante", 100)
BET = e.DeclinedStake(2, "bet", 200)
BONUS = e.DeclinedStake(2, "bonus_player", 50)
FEE = e.DeclinedStake(2, "option_fee", 100)


def recorded(table: Scripted) -> dict[str, e.RoundEvent]:
    found = {getattr(one, "bet_id", None): one for one in table.events}
    return {bet_id: one for bet_id, one in found.items() if bet_id is not None}


def standing(table: Scripted, bet_id: str, wager: e.DeclinedStake, player: str = "p1") -> Standing:
    hold = OpenHold(player, bet_id, (wager,))
    return standing_of(table.state, ROUND, recorded(table).get, hold, wager)


def declines(table: Scripted, *holds: OpenHold) -> tuple[c.DeclineBet, ...]:
    return to_decline(table.state, ROUND, recorded(table).get, holds)


def betting() -> Scripted:
    return Scripted("live-shared@1", {"box.2": "9s 9h Kd 4c 2d"}).open()


def test_a_stake_that_stands_is_staked_and_one_withdrawn_is_not() -> None:
    table = betting().place("p1", ante(2), bonus_b(2, 50))
    assert (standing(table, "bet-1", ANTE), standing(table, "bet-1", BONUS)) == ("staked", "staked")
    table.do(c.WithdrawBet("p1", 2, "bonus_player", table.now))
    assert (standing(table, "bet-1", ANTE), standing(table, "bet-1", BONUS)) == ("staked", "declined")


def test_a_reserve_stands_with_its_ante_and_falls_with_it() -> None:
    table = betting().place("p1", ante(2))
    assert standing(table, "bet-1", BET) == "staked"
    table.do(c.UndoBet("p1", table.now))
    assert (standing(table, "bet-1", ANTE), standing(table, "bet-1", BET)) == ("declined", "declined")


def test_of_two_placements_of_one_box_each_has_its_own_reserve() -> None:
    table = betting().place("p1", ante(2)).place("p1", ante(2))
    table.do(c.UndoBet("p1", table.now))
    assert (standing(table, "bet-1", BET), standing(table, "bet-2", BET)) == ("staked", "declined")


def test_a_choices_hold_is_a_stake_of_what_it_named_alone() -> None:
    table = betting().place("p1", ante(2)).deal().option("p1", 2, "sixth")
    assert standing(table, "p1.2.option.0", FEE) == "staked"
    assert standing(table, "p1.2.option.0", BET) == "declined"


def test_what_was_declined_is_declined() -> None:
    table = betting()
    table.do(c.PlaceBet("p1", "EUR", "bet-1", (ante(2),), table.now, "refused"))
    assert (standing(table, "bet-1", ANTE), standing(table, "bet-1", BET)) == ("declined", "declined")
    assert declines(table, OpenHold("p1", "bet-1", (ANTE, BET))) == ()


def test_a_new_owner_declines_what_no_event_knows_whole_commands_at_once() -> None:
    table = betting().place("p1", ante(2))
    found = declines(
        table,
        OpenHold("p1", "bet-1", (ANTE, BET)),
        OpenHold("p1", "lost-1", (ANTE, BET)),
        OpenHold("p2", "lost-2", (BONUS,), "EUR"),
        OpenHold("p3", "lost-3", (BONUS,)),
    )
    late = "hold_answered_late"
    assert found == (
        c.DeclineBet("p1", "EUR", "lost-1", (ANTE, BET), late, ""),
        c.DeclineBet("p2", "EUR", "lost-2", (BONUS,), late, ""),
        c.DeclineBet("p3", None, "lost-3", (BONUS,), late, ""),
    )
    for command in found:
        table.do(replace(command, arrived_at=table.now))
    assert declines(table, OpenHold("p1", "lost-1", (ANTE, BET))) == (), "once"


def test_a_declined_bet_of_a_late_hold_costs_no_try() -> None:
    table = betting()
    for number in range(25):
        (command,) = declines(table, OpenHold("p1", f"lost-{number}", (ANTE,)))
        table.do(replace(command, arrived_at=table.now))
    table.place("p1", ante(2))
    assert table.state.seats["p1"].plays[2].ante == 100


def test_after_the_rounds_end_late_holds_are_declined_too() -> None:
    table = betting().place("p1", ante(2))
    table.do(c.CancelRound("technical_failure", "system"))
    (command,) = declines(table, OpenHold("p2", "lost-1", (ANTE,)))
    (event,) = table.do(replace(command, arrived_at=table.now))
    assert isinstance(event, e.BetDeclined)


@pytest.mark.parametrize("wager", [e.DeclinedStake(7, "ante", 100), e.DeclinedStake(2, "ante", 2**53)])
def test_what_no_round_can_have_is_left_to_the_rounds_end(wager: e.DeclinedStake) -> None:
    assert declines(betting(), OpenHold("p1", "odd-1", (wager,))) == ()


def test_a_default_bets_hold_is_a_stake_although_no_event_names_it() -> None:
    table = passed()
    (bet,) = bets(table)
    assert bet.wanted is not None
    mine = OpenHold("p1", bet.wanted.bet_id, (BET,))
    assert standing(table, bet.wanted.bet_id, BET) == "open", "not yet: a new owner declines it"
    assert [one.bet_id for one in declines(table, mine)] == [bet.wanted.bet_id]
    table.close_finals()
    assert standing(table, bet.wanted.bet_id, BET) == "staked"
    assert declines(table, mine) == ()


def test_the_default_hold_of_a_box_that_chose_itself_is_declined() -> None:
    table = passed()
    (bet,) = bets(table)
    assert bet.wanted is not None
    table.final("p1", 2, "bet")
    table.close_finals()
    assert standing(table, bet.wanted.bet_id, BET) == "open"
    assert standing(table, "p1.2.final.0", BET) == "staked"


def test_the_default_hold_of_a_box_that_folded_for_want_of_an_answer_is_declined() -> None:
    table = passed()
    (bet,) = bets(table)
    assert bet.wanted is not None
    table.close_finals((2, "p1", "unavailable"))
    assert standing(table, bet.wanted.bet_id, BET) == "open"
