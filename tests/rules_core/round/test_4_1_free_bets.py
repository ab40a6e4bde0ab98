"""RULES.md 4.1 with a free bet's funding (CONTRACTS.md section 1): it pays for one whole wager."""

from __future__ import annotations

from dataclasses import replace

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.limits import AmountRange
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b, limits_for


def table() -> Scripted:
    return Scripted("live-shared@1").open()


def test_a_free_bet_funds_the_wager_that_names_it() -> None:
    opened = table()
    free = ante(1, 200, blind=True, funding="free-1")
    command = opened.place_command("p1", free, bonus_b(1, 50, blind=True))
    opened.when(command).then(
        e.BetPlaced(
            "p1",
            "EUR",
            "bet-1",
            "place",
            (
                e.Stake(1, "ante", 200, blind=True, funding="free-1"),
                e.Stake(1, "bet", 400, blind=True),
                e.Stake(1, "bonus_player", 50, blind=True),
            ),
            at(0),
        )
    )


def test_a_declined_free_bet_is_named() -> None:
    opened = table()
    command = replace(opened.place_command("p1", ante(2, funding="free-1")), funds="refused")
    opened.when(command).then(
        e.BetDeclined(
            "p1",
            "EUR",
            "bet-1",
            (e.DeclinedStake(2, "ante", 100, funding="free-1"),),
            "funds_refused",
            at(0),
            "PlaceBet",
        )
    )


def test_cash_is_not_added_to_a_free_bet_nor_a_free_bet_to_cash() -> None:
    opened = table().place("p1", ante(2, funding="free-1"), bonus_b(2, 50))
    opened.when(opened.place_command("p1", ante(2))).refused("funding_not_whole", box=2, wager="ante")
    opened.when(opened.place_command("p1", bonus_b(2, 50, funding="free-2"))).refused(
        "funding_not_whole", box=2, wager="bonus_player"
    )


def test_a_free_bet_is_not_doubled_and_so_nothing_is() -> None:
    opened = table().place("p1", ante(2, funding="free-1"), bonus_b(2, 50))
    opened.when(c.DoubleBets("p1", "bet-9", at(1))).refused("free_bet_not_doubled")


def test_a_free_bet_of_a_fixed_amount_stays_as_it_is_when_the_rest_is_doubled() -> None:
    limits = replace(limits_for(shipped("live-shared@1")), bonus_player=AmountRange(50, 50))
    opened = (
        Scripted("live-shared@1", limits=limits).open().place("p1", ante(2), bonus_b(2, 50, funding="free-1"))
    )
    opened.when(c.DoubleBets("p1", "bet-9", at(1))).then(
        e.BetPlaced("p1", "EUR", "bet-9", "double", (e.Stake(2, "ante", 100),), at(1))
    )


def test_a_withdrawn_free_bet_leaves_room_for_cash() -> None:
    opened = table().place("p1", ante(2), bonus_b(2, 50, funding="free-1"))
    opened.do(c.WithdrawBet("p1", 2, "bonus_player", at(1)))
    opened.when(opened.place_command("p1", bonus_b(2, 100))).then(
        e.BetPlaced("p1", "EUR", "bet-2", "place", (e.Stake(2, "bonus_player", 100),), at(0))
    )
    opened.place("p1", bonus_b(2, 100))
    assert opened.state.seats["p1"].plays[2].bonus_player_funding is None


def test_a_free_bets_line_carries_its_funding() -> None:
    cards = {"box.2": "Ah Kd 9c 7s 2h", "dealer": "Qs Qd 8h 5c 3d"}
    played = Scripted("live-shared@1", cards).open()
    played.place("p1", ante(2, funding="free-1"), bonus_b(2, 50, funding="free-2")).deal()
    played.option("p1", 2, "fold")
    played.close_options()
    played.lay()
    played.confirm()
    played.settle()
    lines = played.settled()["p1"].boxes[0].lines
    assert [(line.wager, line.funding) for line in lines] == [("ante", "free-1"), ("bonus_player", "free-2")]
