"""RULES.md 4.1: the close of betting, late bets, and a window without a bet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import StakingCommandName
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b


def table(ruleset: str = "live-shared@1") -> Scripted:
    return Scripted(ruleset).open()


def late(opened: Scripted, seconds: int = 15, funds: c.Funds = "held") -> c.PlaceBet:
    command = opened.place_command("p1", ante(2))
    return replace(command, arrived_at=at(seconds), funds=funds)


def declined(
    reason: str, seconds: int = 15, bet_id: str = "bet-1", command: StakingCommandName = "PlaceBet"
) -> e.BetDeclined:
    stakes = (e.DeclinedStake(2, "ante", 100),)
    return e.BetDeclined("p1", "EUR", bet_id, stakes, reason, at(seconds), command)


@pytest.mark.parametrize("now", [at(0), at(14), at(14, 999)])
def test_betting_never_closes_before_its_announced_time(now: str) -> None:
    opened = table().place("p1", ante(2))
    opened.when(c.CloseBetting(now)).refused("window_still_open", closes_at=at(15))


@pytest.mark.parametrize("now", [at(15), at(16, 500)])
def test_betting_closes_at_its_announced_time_or_after(now: str) -> None:
    opened = table().place("p1", ante(2))
    opened.when(c.CloseBetting(now)).then(e.BettingClosed(now, (1, 2, 3)))


def test_the_close_names_the_boxes_in_play_of_an_exclusive_table() -> None:
    opened = table("classic@1").place("p2", ante(5)).place("p1", ante(2), ante(3))
    opened.when(c.CloseBetting(at(15))).then(e.BettingClosed(at(15), (2, 3, 5)))


def test_betting_closes_once() -> None:
    closed = table().place("p1", ante(2)).close_betting()
    closed.when(c.CloseBetting(at(30))).refused("betting_closed")


@pytest.mark.parametrize("seconds", [15, 16])
def test_a_bet_at_the_cut_off_or_later_is_declined_in_full_though_betting_still_stands_open(
    seconds: int,
) -> None:
    opened = table()
    opened.when(late(opened, seconds)).then(declined("betting_closed", seconds))


def test_a_bet_just_in_time_is_taken() -> None:
    opened = table()
    opened.when(replace(opened.place_command("p1", ante(2)), arrived_at=at(14, 999))).then(
        e.BetPlaced("p1", "EUR", "bet-1", "place", (e.Stake(2, "ante", 100),), at(14, 999))
    )


@pytest.mark.parametrize("funds", ["held", "refused", "unavailable", "not_asked"])
def test_a_late_bet_is_declined_whatever_became_of_its_money(funds: c.Funds) -> None:
    closed = table().place("p2", ante(2)).close_betting()
    closed.when(late(closed, funds=funds)).then(declined("betting_closed", bet_id="bet-2"))


def test_a_late_bet_over_a_limit_is_declined_as_late_and_whole() -> None:
    opened = table()
    command = opened.place_command("p1", ante(2), ante(1, 9_000, blind=True), bonus_b(2, 50))
    opened.when(replace(command, arrived_at=at(15))).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "bet-1",
            (
                e.DeclinedStake(2, "ante", 100),
                e.DeclinedStake(1, "ante", 9_000, blind=True),
                e.DeclinedStake(1, "bet", 18_000, blind=True),
                e.DeclinedStake(2, "bonus_player", 50),
            ),
            "betting_closed",
            at(15),
            "PlaceBet",
        )
    )


def test_a_bet_in_time_whose_money_came_after_the_close_is_declined() -> None:
    closed = table().place("p2", ante(2)).close_betting()
    closed.when(late(closed, 14)).then(declined("hold_answered_late", 14, "bet-2"))


def test_a_late_double_and_a_late_rebet_are_declined() -> None:
    closed = table().place("p1", ante(2)).close_betting()
    closed.when(c.DoubleBets("p1", "double-1", at(15))).then(
        declined("betting_closed", bet_id="double-1", command="DoubleBets")
    )
    closed.when(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2),), at(15))).then(
        declined("betting_closed", bet_id="repeat-1", command="RepeatBets")
    )


def test_a_declined_bet_keeps_no_money_and_its_id_is_spent() -> None:
    opened = table()
    command = late(opened)
    opened.do(command)
    assert (opened.state.seats, opened.state.standing) == ({}, 0)
    opened.when(command).refused("bet_id_used")


def test_at_most_twenty_declined_bets_a_player_and_round() -> None:
    closed = table().place("p2", ante(2)).close_betting()
    for number in range(2, 22):
        command = late(closed)
        assert closed.do(command) == (declined("betting_closed", bet_id=f"bet-{number}"),)
    closed.when(late(closed)).refused("betting_closed")
    closed.when(replace(late(closed), player="p3")).then(
        replace(declined("betting_closed", bet_id="bet-23"), player="p3")
    )


@pytest.mark.parametrize("funds", ["refused", "unavailable"])
def test_after_twenty_declined_bets_more_are_refused_without_asking_the_wallet(funds: c.Funds) -> None:
    opened = table()
    for _ in range(20):
        opened.do(late(opened, 1, funds))
    opened.when(late(opened, 1, "not_asked")).refused("too_many_declined")
    opened.when(late(opened, 1, funds)).refused("too_many_declined")
    opened.when(replace(late(opened, 1, "not_asked"), player="p2")).refused("money_not_held")


def test_a_hold_that_may_have_been_placed_is_always_declined_on_the_record() -> None:
    closed = table().place("p2", ante(2)).close_betting()
    for _ in range(20):
        closed.do(late(closed))
    closed.when(late(closed, 14)).then(declined("hold_answered_late", 14, "bet-22"))
    stakes = (e.DeclinedStake(2, "ante", 100),)
    closed.when(c.DeclineBet("p1", "EUR", "hold-9", stakes, "wallet_unavailable", at(14))).then(
        declined("wallet_unavailable", 14, "hold-9", "DeclineBet")
    )


def test_a_hold_with_a_stake_is_not_declined() -> None:
    placed = table().place("p1", ante(2))
    stakes = (e.DeclinedStake(2, "ante", 100),)
    placed.when(c.DeclineBet("p1", "EUR", "bet-1", stakes, "above_maximum", at(1))).refused("bet_id_used")
    placed.when(c.DeclineBet("p1", "EUR", "bet-2", (), "above_maximum", at(1))).refused("stakes_missing")


def test_no_bet_at_the_close_starts_the_window_again() -> None:
    opened = table()
    opened.when(c.CloseBetting(at(15))).then(
        e.WindowExtended("betting", None, at(30), 15_000, "no_bets", at(15))
    )


def test_bets_taken_back_are_no_bets_at_the_close() -> None:
    opened = table().place("p1", ante(2), ante(1, blind=True))
    opened.do(c.ClearBets("p1", at(14)))
    opened.when(c.CloseBetting(at(15))).then(
        e.WindowExtended("betting", None, at(30), 15_000, "no_bets", at(15))
    )


def test_declined_bets_are_no_bets_at_the_close() -> None:
    opened = table()
    opened.do(late(opened, 1, "refused"))
    opened.when(c.CloseBetting(at(15))).then(
        e.WindowExtended("betting", None, at(30), 15_000, "no_bets", at(15))
    )


def test_a_window_that_started_again_is_a_whole_window() -> None:
    opened = table()
    opened.do(c.CloseBetting(at(15)))
    opened.when(c.CloseBetting(at(29, 999))).refused("window_still_open", closes_at=at(30))
    opened.when(replace(opened.place_command("p1", ante(2)), arrived_at=at(29, 999))).then(
        e.BetPlaced("p1", "EUR", "bet-1", "place", (e.Stake(2, "ante", 100),), at(29, 999))
    )
    opened.do(c.CloseBetting(at(30)))
    opened.when(c.CloseBetting(at(45))).then(
        e.WindowExtended("betting", None, at(60), 15_000, "no_bets", at(45))
    )
    opened.place("p1", ante(2))
    opened.when(c.CloseBetting(at(45))).then(e.BettingClosed(at(45), (1, 2, 3)))


def test_a_window_that_starts_again_late_still_lasts_a_whole_window() -> None:
    opened = table()
    event = opened.do(c.CloseBetting(at(16)))[0]
    assert isinstance(event, e.WindowExtended)
    assert event.closes_at == at(31)


def test_nothing_is_dealt_without_a_bet() -> None:
    opened = table()
    opened.do(c.CloseBetting(at(15)))
    opened.when(opened.scan_command("Ah", "scan-1")).refused("no_card_awaited")


def test_no_card_is_accepted_before_the_close() -> None:
    opened = table().place("p1", ante(2))
    opened.when(opened.scan_command("Ah", "scan-1")).refused("no_card_awaited")
    opened.when(c.BurnCard("burn-1")).refused("no_cards_dealt_now")
