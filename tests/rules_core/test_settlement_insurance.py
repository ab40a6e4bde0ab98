"""RULES.md section 5: Insurance and Cap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_cards
from rules_core.hands import evaluate
from rules_core.rulesets.model import Fraction
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.cap import bet_winnings, insurance_winnings
from rules_core.settlement.insurance import Bounds, insurance_bounds, insurance_refusal
from tests.rules_core.settling import (
    NO_GAME,
    QUEENS,
    box,
    code_of,
    fates,
    returned,
    settled,
)

TRIPS = "9s 9h 9d 4c 2d"
RULES = shipped("live-shared@1")


@pytest.mark.parametrize(
    ("cards", "ante", "bounds"),
    [
        ("As Kd 9c 5h 3c", 100, None),
        ("As Ad 9c 5h 3c", 100, None),
        ("As Ad 9c 9h 3c", 100, None),
        ("9s 9h 9d 4c 2d", 100, Bounds(100, 300)),
        ("9s 9h 9d Ac Kd", 100, Bounds(100, 400)),
        ("9s 9h 9d Ac Kd", 33, Bounds(33, 132)),
        ("9s 8h 7d 6c 5s", 1, Bounds(1, 4)),
        ("As Ks Qs Js Ts", 100, Bounds(100, 10_000)),
    ],
)
def test_three_of_a_kind_or_better_from_one_ante_to_the_fraction_of_the_expected_win(
    cards: str, ante: int, bounds: Bounds | None
) -> None:
    assert insurance_bounds(RULES, evaluate(parse_cards(cards)), ante, None) == bounds


def test_maximum_counts_both_combinations_and_is_rounded_down() -> None:
    assert RULES.insurance is not None
    third = replace(RULES, insurance=replace(RULES.insurance, fraction=Fraction(1, 3)))
    hand = evaluate(parse_cards("9s 9h 9d Ac Kd"))
    assert insurance_bounds(third, hand, 7, None) == Bounds(7, 18)  # a third of 4 x 14


@pytest.mark.parametrize(
    ("cap", "table_max", "bounds"),
    [
        (600, None, Bounds(100, 300)),
        (599, None, Bounds(100, 299)),
        (200, None, Bounds(100, 100)),
        (199, None, None),
        (0, None, None),
        (None, 299, Bounds(100, 299)),
        (None, 301, Bounds(100, 300)),
        (None, 100, Bounds(100, 100)),
        (None, 99, None),
        (400, 150, Bounds(100, 150)),
    ],
)
def test_cap_and_table_limit_lower_the_maximum_and_never_raise_it(
    cap: int | None, table_max: int | None, bounds: Bounds | None
) -> None:
    hand = evaluate(parse_cards(TRIPS))
    assert insurance_bounds(RULES, hand, 100, cap, table_max) == bounds


@pytest.mark.parametrize(
    ("amount", "refused"),
    [
        (1, "insurance_below_minimum"),
        (99, "insurance_below_minimum"),
        (100, None),
        (300, None),
        (301, "insurance_above_maximum"),
        (10**9, "insurance_above_maximum"),
    ],
)
def test_what_is_refused_is_what_lies_outside_the_bounds(amount: int, refused: str | None) -> None:
    hand = evaluate(parse_cards(TRIPS))
    refusal = insurance_refusal(RULES, hand, ante=100, amount=amount, max_payout=None)
    assert refusal == refused


def test_insurance_of_one_minor_unit_is_insurance() -> None:
    entry = box(TRIPS, ante=1, insurance=1)
    assert fates("live-shared@1", NO_GAME, entry) == {
        "outcome": "no_game",
        "ante": (1, "ante_no_game_insured_returned"),
        "bet": (2, "bet_no_game_returned"),
        "insurance": (2, "insurance_paid"),
    }
    refused = code_of("classic@1", NO_GAME, entry | {"purchase": True}, draws="8s")
    assert refused == "purchase_insured"


def test_house_without_insurance_offers_none() -> None:
    without = replace(RULES, insurance=None)
    hand = evaluate(parse_cards(TRIPS))
    assert insurance_bounds(without, hand, 100, None) is None
    refusal = insurance_refusal(without, hand, ante=100, amount=100, max_payout=None)
    assert refusal == "insurance_not_offered"


def test_six_cards_insure_what_they_are_worth_after_buying() -> None:
    entry = box("9s 9h 9d 8c 8d", "sixth", "8h", insurance=1400)
    (result,) = settled("live-shared@1", "Qs Jd 7h 5c 3d", entry)
    assert (result["odds"], returned(result)["insurance"]) == (14, 2800)


def test_bet_winnings_are_capped_without_the_stake() -> None:
    entry = box("9s 9h 9d 4c 2d", "exchange", "Ah Kd", (3, 4))
    assert fates("live-shared@1", QUEENS, entry, cap=700) == {
        "outcome": "win",
        "ante": (100, "ante_won_returned"),
        "bet": (900, "bet_paid_capped"),
        "option_fee": (0, "option_fee_exchange"),
    }


@pytest.mark.parametrize(
    ("cap", "bet", "reason"),
    [
        (None, 800, "bet_paid"),
        (600, 800, "bet_paid"),
        (599, 799, "bet_paid_capped"),
        (0, 200, "bet_paid_capped"),
    ],
)
def test_cap_reached_exactly_is_no_cap(cap: int | None, bet: int, reason: str) -> None:
    assert fates("live-shared@1", QUEENS, box(TRIPS), cap=cap)["bet"] == (bet, reason)


@pytest.mark.parametrize(("insurance", "bet"), [(100, 200 + 400), (300, 200 + 200), (500, 200), (499, 201)])
def test_insurance_counts_towards_the_cap_where_the_ruleset_says_so(insurance: int, bet: int) -> None:
    entry = box(TRIPS, insurance=insurance, purchase=True)
    fate = fates("dark-boxes@1", NO_GAME, entry, "8s", cap=500)
    assert (fate["insurance"], fate["bet"]) == (
        (2 * insurance, "insurance_paid"),
        (bet, "bet_paid_capped"),
    )


def test_insurance_that_was_lost_does_not_count_towards_the_cap() -> None:
    fate = fates("dark-boxes@1", QUEENS, box(TRIPS, insurance=500), cap=500)
    assert (fate["insurance"], fate["bet"]) == ((0, "insurance_lost"), (700, "bet_paid_capped"))


def test_insurance_stays_outside_the_cap_elsewhere() -> None:
    fate = fates("live-shared@1", NO_GAME, box(TRIPS, insurance=250, purchase=True), "8s", cap=500)
    assert (fate["insurance"], fate["bet"]) == ((500, "insurance_paid"), (700, "bet_paid_capped"))


def test_bonus_and_one_to_one_on_the_ante_ignore_the_cap() -> None:
    entry = box("7s 7h 7d 4c 2d", bonus_player=100, bonus_dealer=0)
    (result,) = settled("live-shared@1", NO_GAME, entry, cap=1)
    assert returned(result) == {"ante": 200, "bet": 200, "bonus_player": 2100}


def test_a_box_may_carry_its_own_cap_and_null_lifts_it() -> None:
    entries = [
        box(TRIPS, player="p1", max_payout=150),
        box(TRIPS, player="p2", max_payout=None),
        box(TRIPS, player="p3"),
    ]
    results = settled("live-shared@1", QUEENS, *entries, cap=300)
    assert [returned(entry)["bet"] for entry in results] == [350, 800, 500]


def test_winnings_are_never_below_zero() -> None:
    assert bet_winnings(odds=3, bet=200, max_payout=500, counted_insurance=501) == 0


def test_insurance_pays_at_most_the_cap_where_it_counts() -> None:
    assert insurance_winnings(stake=600, max_payout=500, counted=True) == 500
    assert insurance_winnings(stake=600, max_payout=500, counted=False) == 600
    assert insurance_winnings(stake=600, max_payout=None, counted=True) == 600
