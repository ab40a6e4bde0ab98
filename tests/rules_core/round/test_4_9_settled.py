"""RULES.md 4.9: the round settles: whole results, in chunks, totals by currency, everything opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.limits import AmountRange, BoxLimits
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.model import BoxResult, DealerResult, Line
from tests.rules_core.round.scripted import Scripted, ante, at, bonus_b, bonus_d, limits_for
from tests.rules_core.round.settled_table import (
    ACE_KING,
    P1,
    P2_BLIND,
    P2_SIXTH,
    P3_FOLDED,
    decided,
    settled,
)

LIVE = limits_for(shipped("live-shared@1"))
DEALER_HAND = DealerResult("ace_king", parse_cards(ACE_KING), "ace_king", qualified=True, purchased=False)


def test_every_player_is_settled_whole_in_the_order_of_their_first_bet_and_the_round_last() -> None:
    table = decided()
    table.when(c.Settle()).then(
        e.CardsRevealed(table.openings("switch"), final=True),
        settled("p1", P1),
        settled("p2", P2_BLIND, P2_SIXTH),
        settled("p3", P3_FOLDED),
        e.RoundSettled(DEALER_HAND, (e.CurrencyTotal("EUR", 3, 1_500, 2_700),)),
    )


def test_in_chunks_everything_is_opened_first_and_the_round_settles_last() -> None:
    table = decided()
    assert table.settle(1) == (
        e.CardsRevealed(table.openings("switch"), final=True),
        settled("p1", P1),
    )
    assert table.settle(1) == (settled("p2", P2_BLIND, P2_SIXTH),)
    assert table.settle(1) == (
        settled("p3", P3_FOLDED),
        e.RoundSettled(DEALER_HAND, (e.CurrencyTotal("EUR", 3, 1_500, 2_700),)),
    )
    table.when(c.Settle()).refused("round_ended")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 500])
def test_chunks_of_any_size_settle_the_same(limit: int) -> None:
    whole, chunks = decided(), decided()
    whole.settle()
    while chunks.state.step != "settled":
        chunks.settle(limit)
    assert chunks.events == whole.events


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_chunk_is_of_one_to_five_hundred_players(limit: int) -> None:
    decided().when(c.Settle(limit)).refused("chunk_out_of_range", limit=limit)


def test_a_round_of_501_players_needs_two_chunks() -> None:
    table = Scripted("live-shared@1", {"dealer": ACE_KING}).open()
    for number in range(501):
        table.place(f"p{number}", ante(1, blind=True))
    table.close_betting().lay()
    table.confirm()
    assert [type(event) for event in table.settle()] == [e.PlayerSettled] * 500
    assert [type(event) for event in table.settle()] == [e.PlayerSettled, e.RoundSettled]


def test_the_case_of_the_contract_played_as_a_round() -> None:
    """CONTRACTS.md section 1: exchange, insurance, purchase and B in one box."""
    cards = {
        "box.2": "9s 9h 9d 4c 2d",
        "switch": "Kd 7s Ac Ad Ah",
        "dealer": "Qs Jd 8h 5c 3d",
        "draw": "8s",
    }
    limits = replace(LIVE, chip=10, bonus_player=AmountRange(10, 1_000), max_payout=1_000_000)
    table = Scripted("live-shared@1", cards, limits=limits).open()
    table.place("p1", ante(2), bonus_b(2, 10)).deal().option("p1", 2, "exchange", 3, 4)
    table.close_options()
    table.lay()
    table.confirm()
    table.final("p1", 2, "bet", 300)
    table.close_finals()
    table.proceed()
    table.proceed()
    table.buy("p1", 2)
    table.close_purchase()
    table.lay()
    table.confirm()
    box = BoxResult(
        2,
        "p1",
        "win",
        "three_of_a_kind",
        ("three_of_a_kind",),
        3,
        (
            Line("ante", 100, 100, "ante_won_returned"),
            Line("bet", 200, 800, "bet_paid"),
            Line("option_fee", 100, 0, "option_fee_exchange"),
            Line("insurance", 300, 600, "insurance_paid"),
            Line("purchase_fee", 100, 0, "purchase_fee_spent"),
            Line("bonus_player", 10, 0, "bonus_player_lost"),
        ),
        810,
        1_500,
        690,
    )
    dealer = DealerResult(
        "nothing", parse_cards("8s Jd 8h 5c 3d"), "one_pair", qualified=True, purchased=True
    )
    table.when(c.Settle()).then(
        e.CardsRevealed(table.openings("switch"), final=True),
        settled("p1", box),
        e.RoundSettled(dealer, (e.CurrencyTotal("EUR", 1, 810, 1_500),)),
    )


def test_totals_are_by_currency_in_alphabetical_order() -> None:
    ruleset = shipped("live-shared@1")
    cards = {"box.1": "9s 9h 9d 4c 2d", "dealer": "As Kd 8h 5c 3d"}
    table = Scripted(ruleset, cards, limits=(LIVE, limits_for(ruleset, "CHF"))).open()
    table.place("p1", ante(1, blind=True))
    for player, amount in (("p2", 200), ("p3", 300)):
        command = table.place_command(player, ante(1, amount, blind=True))
        table.do(replace(command, currency="CHF"))
    table.close_betting().lay()
    table.confirm()
    event = table.settle()[-1]
    assert isinstance(event, e.RoundSettled)
    assert event.totals == (
        e.CurrencyTotal("CHF", 2, 1_500, 4_500),
        e.CurrencyTotal("EUR", 1, 300, 900),
    )


def test_what_is_open_already_is_not_opened_again() -> None:
    table = Scripted("three-box@1", {"box.1": "9s 9h Kh 4c 2d", "dealer": "As Kd 8h 5c 3d"}).open()
    table.place("p1", ante(1)).deal().option("p1", 1, "bet")
    table.close_options()
    table.proceed()
    assert [type(event) for event in table.settle()] == [e.PlayerSettled, e.RoundSettled]


def test_a_folded_private_box_is_opened_at_the_end() -> None:
    cards = {"box.1": "9s 9h Kh 4c 2d", "box.2": "8s 8c Kc 4s 2h", "dealer": "As Kd 8h 5c 3d"}
    table = Scripted("three-box@1", cards).open().place("p1", ante(1), ante(2)).deal()
    table.option("p1", 1, "exchange", 0)
    table.close_options()
    table.lay()
    table.confirm()
    table.final("p1", 1, "fold")
    table.close_finals()
    table.proceed()
    table.option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    assert table.settle()[0] == e.CardsRevealed(table.openings("box.1", "replacement.1"), final=True)


def test_b_and_d_are_settled_with_the_round_folded_boxes_included() -> None:
    cards = {"box.2": "7s 7h 7d 4c 2d", "dealer": "As Kd 8h 5c 3d"}
    table = (
        Scripted("live-shared@1", cards).open().place("p1", ante(2), bonus_b(2, 50), bonus_d(2, 100)).deal()
    )
    table.option("p1", 2, "fold")
    table.close_options()
    table.lay()
    table.confirm()
    table.settle()
    assert table.settled()["p1"].boxes[0].lines == (
        Line("ante", 100, 0, "ante_folded"),
        Line("bonus_player", 50, 1_050, "bonus_player_paid"),
        Line("bonus_dealer", 100, 200, "bonus_dealer_paid"),
    )


def test_limits_are_those_that_the_round_opened_with() -> None:
    cards = {"box.1": "9s 9h 9d 9c 2d", "dealer": "As Kd 8h 5c 3d"}
    table = Scripted("live-shared@1", cards, limits=replace(LIVE, max_payout=700)).open()
    table.place("p1", ante(1, blind=True)).close_betting().lay()
    table.confirm()
    table.settle()
    assert table.settled()["p1"].boxes[0].lines[1] == Line("bet", 200, 900, "bet_paid_capped")


def test_a_boxs_own_cap_overrides_the_tables() -> None:
    cards = {"box.1": "9s 9h 9d 9c 2d", "box.3": "8s 8c 8d 7c 2c", "dealer": "As Kd 8h 5c 3d"}
    limits = replace(LIVE, max_payout=500, boxes=(BoxLimits(1, max_payout=700),))
    table = Scripted("live-shared@1", cards, limits=limits).open()
    table.place("p1", ante(1, blind=True), ante(3, blind=True)).close_betting().lay()
    table.confirm()
    table.settle()
    bets = [box.lines[1] for box in table.settled()["p1"].boxes]
    assert bets == [Line("bet", 200, 900, "bet_paid_capped"), Line("bet", 200, 700, "bet_paid_capped")]


def test_only_bet_declined_and_corrections_may_follow() -> None:
    table = decided()
    table.settle()
    late = c.PlaceBet("p1", "EUR", "late-1", (ante(2),), at(90))
    declined = e.BetDeclined(
        "p1", "EUR", "late-1", (e.DeclinedStake(2, "ante", 100),), "betting_closed", at(90), "PlaceBet"
    )
    table.when(late).then(declined)
    table.do(late)
    assert table.state.step == "settled"
    held = (e.DeclinedStake(2, "insurance", 300),)
    table.when(c.DeclineBet("p1", "EUR", "hold-1", held, "hold_answered_late", at(90))).then(
        e.BetDeclined("p1", "EUR", "hold-1", held, "hold_answered_late", at(90), "DeclineBet")
    )
    table.when(c.CancelRound("dealer_mistake", "staff:s1")).refused("round_ended")
