"""RULES.md 4.1: withdraw, undo, clear, double, rebet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import WithdrawKind
from rules_core.round.limits import AmountRange
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b, bonus_d, limits_for

LIVE = limits_for(shipped("live-shared@1"))
BACK = e.WithdrawnStake


def table() -> Scripted:
    return Scripted("live-shared@1").open()


def full_box() -> Scripted:
    """Box 2 with every wager it can have, and a blind box 1."""
    return table().place("p1", ante(2), bonus_b(2, 50), bonus_d(2, 150)).place("p1", ante(1, 200, blind=True))


def withdrawn(kind: WithdrawKind, *stakes: e.WithdrawnStake) -> e.BetWithdrawn:
    return e.BetWithdrawn("p1", kind, stakes, at(5))


def test_withdrawing_an_ante_withdraws_b_and_d_and_frees_the_box() -> None:
    placed = full_box()
    command = c.WithdrawBet("p1", 2, "ante", at(5))
    placed.when(command).then(
        withdrawn(
            "withdraw",
            BACK("bet-1", 2, "ante", 100),
            BACK("bet-1", 2, "bonus_player", 50),
            BACK("bet-1", 2, "bonus_dealer", 150),
        )
    )
    placed.do(command)
    assert list(placed.state.seats["p1"].plays) == [1]


def test_withdrawing_a_blind_ante_withdraws_its_bet() -> None:
    placed = full_box().place("p1", bonus_b(1, 50, blind=True))
    placed.when(c.WithdrawBet("p1", 1, "ante", at(5))).then(
        withdrawn(
            "withdraw",
            BACK("bet-2", 1, "ante", 200),
            BACK("bet-2", 1, "bet", 400),
            BACK("bet-3", 1, "bonus_player", 50),
        )
    )


@pytest.mark.parametrize(("wager", "amount"), [("bonus_player", 50), ("bonus_dealer", 150)])
def test_b_or_d_can_be_withdrawn_alone(wager: c.PlacedWager, amount: int) -> None:
    placed = full_box()
    command = c.WithdrawBet("p1", 2, wager, at(5))
    placed.when(command).then(withdrawn("withdraw", BACK("bet-1", 2, wager, amount)))
    placed.do(command)
    play = placed.state.seats["p1"].plays[2]
    left = {"bonus_player": 50, "bonus_dealer": 150} | {wager: 0}
    assert (play.ante, play.bonus_player, play.bonus_dealer) == (100, *left.values())


def test_a_withdrawal_gives_back_every_hold_of_the_wager_whole() -> None:
    placed = table().place("p1", ante(2)).place("p1", ante(2, 150))
    placed.do(c.DoubleBets("p1", "double-1", at(4)))
    placed.when(c.WithdrawBet("p1", 2, "ante", at(5))).then(
        withdrawn(
            "withdraw",
            BACK("bet-1", 2, "ante", 100),
            BACK("bet-2", 2, "ante", 150),
            BACK("double-1", 2, "ante", 250),
        )
    )


@pytest.mark.parametrize(
    ("player", "box", "wager", "code"),
    [
        ("p1", 3, "ante", "no_such_bet"),
        ("p1", 1, "bonus_player", "no_such_bet"),
        ("p2", 2, "ante", "no_bets"),
    ],
)
def test_only_what_was_placed_can_be_withdrawn(
    player: str, box: int, wager: c.PlacedWager, code: str
) -> None:
    figures = {"box": box} if code == "no_such_bet" else {}
    full_box().when(c.WithdrawBet(player, box, wager, at(5))).refused(code, **figures)


def test_undo_takes_the_latest_placement_whole() -> None:
    placed = table().place("p1", ante(2)).place("p1", bonus_b(2, 50), ante(1, blind=True))
    command = c.UndoBet("p1", at(5))
    placed.when(command).then(
        withdrawn(
            "undo",
            BACK("bet-2", 2, "bonus_player", 50),
            BACK("bet-2", 1, "ante", 100),
            BACK("bet-2", 1, "bet", 200),
        )
    )
    placed.do(command)
    placed.when(command).then(withdrawn("undo", BACK("bet-1", 2, "ante", 100)))
    placed.do(command)
    placed.when(command).refused("no_bets")


def test_undo_takes_what_was_added_not_the_wagers_total() -> None:
    placed = table().place("p1", ante(2)).place("p1", ante(2, 250))
    placed.do(c.UndoBet("p1", at(5)))
    assert placed.state.seats["p1"].plays[2].ante == 100


def test_undo_takes_a_double_back_whole() -> None:
    placed = full_box()
    placed.do(c.DoubleBets("p1", "double-1", at(4)))
    placed.when(c.UndoBet("p1", at(5))).then(
        withdrawn(
            "undo",
            BACK("double-1", 1, "ante", 200),
            BACK("double-1", 1, "bet", 400),
            BACK("double-1", 2, "ante", 100),
            BACK("double-1", 2, "bonus_player", 50),
            BACK("double-1", 2, "bonus_dealer", 150),
        )
    )


def test_undo_takes_a_rebet_back_whole() -> None:
    placed = table()
    placed.do(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2), ante(3, 200, blind=True)), at(4)))
    placed.when(c.UndoBet("p1", at(5))).then(
        withdrawn(
            "undo",
            BACK("repeat-1", 2, "ante", 100),
            BACK("repeat-1", 3, "ante", 200),
            BACK("repeat-1", 3, "bet", 400),
        )
    )


def test_undo_is_of_the_players_own_placement() -> None:
    placed = table().place("p1", ante(2)).place("p2", ante(2, 300))
    placed.when(c.UndoBet("p1", at(5))).then(withdrawn("undo", BACK("bet-1", 2, "ante", 100)))


def test_a_withdrawal_cannot_be_undone_undo_takes_the_latest_that_still_stands() -> None:
    placed = table().place("p1", ante(2)).place("p1", bonus_b(2, 50))
    placed.do(c.WithdrawBet("p1", 2, "bonus_player", at(4)))
    command = c.UndoBet("p1", at(5))
    placed.when(command).then(withdrawn("undo", BACK("bet-1", 2, "ante", 100)))
    placed.do(command)
    placed.when(command).refused("no_bets")


def test_undo_takes_what_a_withdrawal_left_of_a_placement() -> None:
    placed = table().place("p1", ante(2)).place("p1", bonus_b(2, 50), bonus_d(2, 50))
    placed.do(c.WithdrawBet("p1", 2, "bonus_player", at(4)))
    placed.when(c.UndoBet("p1", at(5))).then(withdrawn("undo", BACK("bet-2", 2, "bonus_dealer", 50)))


def test_clear_takes_everything_of_the_player_and_of_no_one_else() -> None:
    placed = full_box().place("p2", ante(2, 300))
    command = c.ClearBets("p1", at(5))
    placed.when(command).then(
        withdrawn(
            "clear",
            BACK("bet-1", 2, "ante", 100),
            BACK("bet-1", 2, "bonus_player", 50),
            BACK("bet-1", 2, "bonus_dealer", 150),
            BACK("bet-2", 1, "ante", 200),
            BACK("bet-2", 1, "bet", 400),
        )
    )
    placed.do(command)
    assert list(placed.state.seats) == ["p2"]
    placed.when(command).refused("no_bets")


def test_double_doubles_every_wager_and_a_blind_boxs_bet() -> None:
    full_box().when(c.DoubleBets("p1", "double-1", at(5))).then(
        e.BetPlaced(
            "p1",
            "EUR",
            "double-1",
            "double",
            (
                e.Stake(1, "ante", 200, blind=True),
                e.Stake(1, "bet", 400, blind=True),
                e.Stake(2, "ante", 100),
                e.Stake(2, "bonus_player", 50),
                e.Stake(2, "bonus_dealer", 150),
            ),
            at(5),
        )
    )


def test_double_leaves_a_wager_of_one_fixed_amount_as_it_is() -> None:
    placed = Scripted("live-shared@1", limits=replace(LIVE, bonus_player=AmountRange(50, 50))).open()
    placed.place("p1", ante(2), bonus_b(2, 50), bonus_d(2, 50))
    placed.when(c.DoubleBets("p1", "double-1", at(5))).then(
        e.BetPlaced(
            "p1",
            "EUR",
            "double-1",
            "double",
            (e.Stake(2, "ante", 100), e.Stake(2, "bonus_dealer", 50)),
            at(5),
        )
    )


def test_double_where_every_wager_is_fixed() -> None:
    placed = Scripted("live-shared@1", limits=replace(LIVE, ante=AmountRange(100, 100))).open()
    placed.place("p1", ante(2))
    placed.when(c.DoubleBets("p1", "double-1", at(5))).refused("nothing_to_double")


def test_double_is_all_or_nothing() -> None:
    placed = table().place("p1", ante(2), bonus_b(2, 600))
    placed.when(c.DoubleBets("p1", "double-1", at(5))).refused(
        "above_maximum", box=2, wager="bonus_player", total=1_200, maximum=1_000
    )
    placed.when(replace(c.DoubleBets("p1", "double-2", at(5)), funds="not_asked")).refused(
        "above_maximum", box=2, wager="bonus_player", total=1_200, maximum=1_000
    )


def test_a_double_without_money_is_declined_in_full() -> None:
    placed = table().place("p1", ante(1, blind=True))
    placed.when(c.DoubleBets("p1", "double-1", at(5), "refused")).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "double-1",
            (e.DeclinedStake(1, "ante", 100, blind=True), e.DeclinedStake(1, "bet", 200, blind=True)),
            "funds_refused",
            at(5),
            "DoubleBets",
        )
    )


def test_double_without_bets() -> None:
    table().when(c.DoubleBets("p1", "double-1", at(5))).refused("no_bets")


def test_rebet_places_the_previous_rounds_bets() -> None:
    previous = (ante(2, 300), bonus_d(2, 50), ante(3, blind=True))
    table().when(c.RepeatBets("p1", "EUR", "repeat-1", previous, at(5))).then(
        e.BetPlaced(
            "p1",
            "EUR",
            "repeat-1",
            "repeat",
            (
                e.Stake(2, "ante", 300),
                e.Stake(2, "bonus_dealer", 50),
                e.Stake(3, "ante", 100, blind=True),
                e.Stake(3, "bet", 200, blind=True),
            ),
            at(5),
        )
    )


def test_rebet_is_all_or_nothing() -> None:
    previous = (ante(2, 300), ante(3, 5_050, blind=True))
    table().when(c.RepeatBets("p1", "EUR", "repeat-1", previous, at(5))).refused(
        "above_maximum", box=3, wager="ante", total=5_050, maximum=5_000
    )


def test_rebet_on_an_exclusive_table_where_a_box_is_taken() -> None:
    placed = Scripted("four-box@1").open().place("p2", ante(1))
    placed.when(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2), ante(1)), at(5))).refused("box_taken", box=1)


def test_rebet_is_for_a_player_without_bets_and_becomes_double_after() -> None:
    placed = table().place("p1", ante(2))
    placed.when(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2),), at(5))).refused("bets_already_placed")
    placed.do(c.ClearBets("p1", at(5)))
    placed.when(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2),), at(5))).then(
        e.BetPlaced("p1", "EUR", "repeat-1", "repeat", (e.Stake(2, "ante", 100),), at(5))
    )


def test_a_rebet_without_money_is_declined_in_full() -> None:
    table().when(c.RepeatBets("p1", "EUR", "repeat-1", (ante(2),), at(5), "unavailable")).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "repeat-1",
            (e.DeclinedStake(2, "ante", 100),),
            "wallet_unavailable",
            at(5),
            "RepeatBets",
        )
    )


@pytest.mark.parametrize(
    "command", [c.WithdrawBet("p1", 2, "ante", at(15)), c.UndoBet("p1", at(15)), c.ClearBets("p1", at(15))]
)
def test_bets_change_only_during_the_betting_time(command: c.Command) -> None:
    placed = full_box()
    placed.when(command).refused("betting_closed")
    placed.close_betting()
    placed.when(command).refused("betting_closed")
