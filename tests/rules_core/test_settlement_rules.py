"""RULES.md section 5: the table, a test a row and in it each column; how hands compare."""

from __future__ import annotations

import pytest

from rules_core.rulesets.shipped import shipped
from tests.rules_core.settling import (
    NO_GAME,
    QUEENS,
    blind,
    box,
    case,
    fates,
    outcome_of,
    settled,
)

TRIPS = "9s 9h 9d 4c 2d"
"""Three nines: beats QUEENS, can be insured."""
FULL_HOUSE = "Ts Td Th 4h 4d"
"""The dealer beats TRIPS with it."""
STRAIGHT = "9s 8h 7d 6c 5s"
SAME_STRAIGHT = "9h 8d 7h 6d 5c"
"""The dealer ties STRAIGHT with it."""


@pytest.mark.parametrize("option", ["fold", "none", "sixth", "exchange"])
def test_folded_loses_ante_and_option_fee_and_has_no_bet(option: str) -> None:
    bought = {"sixth": "Ah", "exchange": "Ah"}.get(option, "")
    final = {} if option == "fold" else {"final": "fold"}
    entry = box(TRIPS, option, bought, (4,), **final)
    fee = {"option_fee": (0, f"option_fee_{'sixth_card' if option == 'sixth' else option}")}
    assert fates("live-shared@1", NO_GAME, entry) == {
        "outcome": "folded",
        "ante": (0, "ante_folded"),
        **(fee if bought else {}),
    }


def test_no_game_not_bought_not_insured() -> None:
    assert fates("live-shared@1", NO_GAME, box("2s 4h 6d 9c Jh", "sixth", "Kd")) == {
        "outcome": "no_game",
        "ante": (200, "ante_no_game_one_to_one"),
        "bet": (200, "bet_no_game_returned"),
        "option_fee": (0, "option_fee_sixth_card"),
    }


@pytest.mark.parametrize(
    ("ruleset", "ante"),
    [
        ("live-shared@1", (100, "ante_no_game_insured_returned")),
        ("dark-boxes@1", (200, "ante_no_game_insured_one_to_one")),
        ("classic@1", (200, "ante_no_game_insured_one_to_one")),
        ("three-box@1", (200, "ante_no_game_insured_one_to_one")),
        ("four-box@1", (200, "ante_no_game_insured_one_to_one")),
    ],
)
def test_no_game_not_bought_insured(ruleset: str, ante: tuple[int, str]) -> None:
    assert fates(ruleset, NO_GAME, box(TRIPS, insurance=250)) == {
        "outcome": "no_game",
        "ante": ante,
        "bet": (200, "bet_no_game_returned"),
        "insurance": (500, "insurance_paid"),
    }


FAILED = {
    "live-shared@1": (100, "ante_purchase_failed_returned"),
    "dark-boxes@1": (100, "ante_purchase_failed_returned"),
    "classic@1": (200, "ante_purchase_failed_one_to_one"),
    "three-box@1": (100, "ante_purchase_failed_returned"),
    "four-box@1": (100, "ante_purchase_failed_returned"),
}


@pytest.mark.parametrize("ruleset", FAILED)
def test_no_game_bought_still_no_game(ruleset: str) -> None:
    assert fates(ruleset, NO_GAME, box(TRIPS, purchase=True), "2c") == {
        "outcome": "no_game",
        "ante": FAILED[ruleset],
        "bet": (200, "bet_purchase_failed_returned"),
        "purchase_fee": (0, "purchase_fee_spent"),
    }


@pytest.mark.parametrize("ruleset", [name for name in FAILED if name != "classic@1"])
def test_no_game_insured_and_bought_still_no_game(ruleset: str) -> None:
    assert fates(ruleset, NO_GAME, box(TRIPS, insurance=100, purchase=True), "2c") == {
        "outcome": "no_game",
        "ante": FAILED[ruleset],
        "bet": (200, "bet_purchase_failed_returned"),
        "insurance": (200, "insurance_paid"),
        "purchase_fee": (0, "purchase_fee_spent"),
    }


def test_dealt_game_box_better() -> None:
    entry = box("9s 9h 4d 4c Kd", "exchange", "9d", (4,), insurance=100)
    assert fates("live-shared@1", QUEENS, entry) == {
        "outcome": "win",
        "ante": (100, "ante_won_returned"),
        "bet": (200 + 200 * 7, "bet_paid"),
        "option_fee": (0, "option_fee_exchange"),
        "insurance": (0, "insurance_lost"),
    }


@pytest.mark.parametrize(
    ("ruleset", "insurance"),
    [
        ("live-shared@1", (0, "insurance_tie_lost")),
        ("dark-boxes@1", (100, "insurance_tie_returned")),
        ("classic@1", (0, "insurance_tie_lost")),
        ("three-box@1", (0, "insurance_tie_lost")),
        ("four-box@1", (100, "insurance_tie_returned")),
    ],
)
def test_dealt_game_box_equal(ruleset: str, insurance: tuple[int, str]) -> None:
    assert fates(ruleset, SAME_STRAIGHT, box(STRAIGHT, insurance=100)) == {
        "outcome": "tie",
        "ante": (100, "ante_tie_returned"),
        "bet": (200, "bet_tie_returned"),
        "insurance": insurance,
    }


@pytest.mark.parametrize(
    ("ruleset", "insurance"),
    [
        ("live-shared@1", (100, "insurance_beaten_returned")),
        ("dark-boxes@1", (100, "insurance_beaten_returned")),
        ("classic@1", (0, "insurance_beaten_lost")),
        ("three-box@1", (0, "insurance_beaten_lost")),
        ("four-box@1", (100, "insurance_beaten_returned")),
    ],
)
def test_dealt_game_box_worse(ruleset: str, insurance: tuple[int, str]) -> None:
    entry = box("9s 9h 9d 4c 2d", "sixth", "6c", insurance=100)
    assert fates(ruleset, FULL_HOUSE, entry) == {
        "outcome": "lose",
        "ante": (0, "ante_beaten"),
        "bet": (0, "bet_beaten"),
        "option_fee": (0, "option_fee_sixth_card"),
        "insurance": insurance,
    }


@pytest.mark.parametrize(
    ("cards", "outcome", "ante", "bet"),
    [
        (TRIPS, "win", (100, "ante_won_returned"), (800, "bet_paid")),
        ("8d 8c Qd Jh 5h", "tie", (100, "ante_tie_returned"), (200, "bet_tie_returned")),
        ("7s 7h Qd Jh 4h", "lose", (0, "ante_beaten"), (0, "bet_beaten")),
    ],
)
def test_bought_game_compares_with_the_final_hand(
    cards: str, outcome: str, ante: tuple[int, str], bet: tuple[int, str]
) -> None:
    dealer = "Ks Jd 8h 5c Qc"  # the king goes, 8s comes: eights with queen, jack, five
    assert fates("three-box@1", dealer, box(cards, purchase=True), "8s") == {
        "outcome": outcome,
        "ante": ante,
        "bet": bet,
        "purchase_fee": (0, "purchase_fee_spent"),
    }


def test_insurance_is_decided_by_the_first_hand_even_when_a_bought_card_makes_a_game() -> None:
    beaten = fates("three-box@1", "Qs Jd Th 8c 3d", box(TRIPS, insurance=100, purchase=True), "9c")
    assert beaten == {
        "outcome": "no_game",
        "ante": (100, "ante_purchase_failed_returned"),
        "bet": (200, "bet_purchase_failed_returned"),
        "insurance": (200, "insurance_paid"),
        "purchase_fee": (0, "purchase_fee_spent"),
    }
    dealer = "Qs Jd Th 8c 7d"  # the queen goes, 9c comes: a straight
    assert fates("three-box@1", dealer, box(TRIPS, insurance=100, purchase=True), "9c") == {
        "outcome": "lose",
        "ante": (0, "ante_beaten"),
        "bet": (0, "bet_beaten"),
        "insurance": (200, "insurance_paid"),
        "purchase_fee": (0, "purchase_fee_spent"),
    }


def test_boxes_that_did_not_buy_stay_decided_on_no_game() -> None:
    buyer = box(TRIPS, player="p1", purchase=True)
    other = box(TRIPS, player="p2")
    first, second = settled("live-shared@1", NO_GAME, buyer, other, draws="8s")
    assert (first["outcome"], second["outcome"]) == ("win", "no_game")
    assert (first["net"], second["net"]) == (500, 100)


@pytest.mark.parametrize(
    ("dealer", "cards", "outcome"),
    [
        ("Qs Qd 9c 5h 2c", "Qh Qc 9d 5s 3d", "win"),
        ("Qs Qd 9c 5h 3c", "Qh Qc 9d 5s 2d", "lose"),
        ("Qs Qd 9c 5h 3c", "Qh Qc 9d 5s 3d", "tie"),
        ("As Kd 9c 5h 3c", "Ah Kc 9d 6s 2d", "win"),
        ("As Kd 9c 5h 3c", "Ks Jh 9d 4c 2d", "lose"),
    ],
)
def test_equal_and_better_are_the_full_comparison_kickers_included(
    dealer: str, cards: str, outcome: str
) -> None:
    assert settled("classic@1", dealer, box(cards))[0]["outcome"] == outcome


def test_blind_box_settles_like_an_open_one_that_bet() -> None:
    assert fates("live-shared@1", QUEENS, blind(TRIPS)) == {
        "outcome": "win",
        "ante": (100, "ante_won_returned"),
        "bet": (800, "bet_paid"),
    }


def test_result_entry_is_whole() -> None:
    entry = box("Ah Ad Kc 7s 3d", player="p-7", box=4, ante=33)
    assert outcome_of(case("four-box@1", QUEENS, entry)) == {
        "ruleset": "four-box@1",
        "ruleset_sha256": shipped("four-box@1").sha256,
        "engine": 1,
        "dealer": {
            "first": "one_pair",
            "final_cards": ["Qs", "Qd", "9c", "5h", "2c"],
            "final": "one_pair",
            "qualified": True,
            "purchased": False,
        },
        "boxes": [
            {
                "box": 4,
                "player": "p-7",
                "outcome": "win",
                "best": "one_pair",
                "combinations": ["one_pair", "ace_king"],
                "odds": 2,
                "lines": [
                    {"wager": "ante", "stake": 33, "returned": 33, "reason": "ante_won_returned"},
                    {"wager": "bet", "stake": 66, "returned": 198, "reason": "bet_paid"},
                ],
                "staked": 99,
                "returned": 231,
                "net": 132,
            }
        ],
    }
