"""RULES.md section 4: what options do to a hand, who may purchase, and what the dealer then draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.cards import parse_cards
from rules_core.hands import evaluate
from rules_core.rulesets.model import Redraw
from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.dealer import (
    dealer_hands,
    draws_needed,
    draws_refusal,
    final_dealer_cards,
    highest_card_index,
)
from rules_core.settlement.model import Option
from rules_core.settlement.option import exchange_refusal, final_cards
from rules_core.settlement.purchase import purchase_refusal
from tests.rules_core.settling import (
    QUEENS,
    box,
    case,
    outcome_of,
)


@pytest.mark.parametrize(
    ("cards", "place"),
    [("Qs Jd 8h 5c 3d", 0), ("3d 5c 8h Jd Qs", 4), ("3d Ac 8h Jd Qs", 1), ("2c 3d Kh 4c 5s", 2)],
)
def test_the_highest_card_goes_ace_high(cards: str, place: int) -> None:
    assert highest_card_index(parse_cards(cards)) == place


def test_the_drawn_card_lies_in_the_place_of_the_old_one() -> None:
    cards = parse_cards("3d Ac 8h Jd Qs")
    assert final_dealer_cards(cards, parse_cards("Ad 9c")) == parse_cards("3d 9c 8h Jd Qs")
    assert final_dealer_cards(cards, ()) == cards


@pytest.mark.parametrize(
    ("redraw", "dealer", "draws", "needed"),
    [
        ("never", "Qs 9c 7h 4d 2c", "", True),
        ("never", "Qs 9c 7h 4d 2c", "Qh", False),
        ("once", "Qs 9c 7h 4d 2c", "Qh", True),
        ("once", "Qs 9c 7h 4d 2c", "Jh", False),
        ("once", "Qs 9c 7h 4d 2c", "Qh Qd", False),
        ("once", "Qs 9h 7h 4h 2h", "Qh", False),  # same rank, but now a flush
        ("until_different", "Qs 9c 7h 4d 2c", "Qh Qd", True),
        ("until_different", "Qs 9c 7h 4d 2c", "Qh Qd Qc", True),
        ("until_different", "Qs 9c 7h 4d 2c", "Qh Qd Qc 3s", False),
        ("until_different", "Qs 9h 7h 4h 2h", "Qd Qh", False),
    ],
)
def test_redraws_follow_same_rank_redraw(*, redraw: Redraw, dealer: str, draws: str, needed: bool) -> None:
    rules = shipped("four-box@1")
    assert rules.purchase is not None
    rules = replace(rules, purchase=replace(rules.purchase, same_rank_redraw=redraw))
    cards, drawn = parse_cards(dealer), parse_cards(draws)
    assert draws_needed(rules, cards, drawn) is needed
    refusal = draws_refusal(rules, cards, drawn, purchased=True)
    assert refusal == ("draws_missing" if needed else None)


def test_reserve_is_the_most_cards_that_a_purchase_can_draw() -> None:
    reserves = {
        name: rules.reserve_cards
        for name in ("live-shared@1", "classic@1", "four-box@1")
        if (rules := shipped(name).purchase)
    }
    assert reserves == {"live-shared@1": 1, "classic@1": 2, "four-box@1": 4}


def test_final_dealer_hand_is_shown_with_the_draw_in_place() -> None:
    entry = box("Ts Th Td 5c 3d", purchase=True)
    result = outcome_of(case("dark-boxes@1", "9c 7h Qs 4d 2c", entry, draws="Qh 9d"))
    assert result["dealer"] == {
        "first": "nothing",
        "final_cards": ["9c", "7h", "9d", "4d", "2c"],
        "final": "one_pair",
        "qualified": True,
        "purchased": True,
    }


def test_dealer_hand_without_purchase_is_shown_as_dealt() -> None:
    result = outcome_of(case("dark-boxes@1", "9c 7h Qs 4d 2c", box("Ts Th Td 5c 3d")))
    assert result["dealer"] == {
        "first": "nothing",
        "final_cards": ["9c", "7h", "Qs", "4d", "2c"],
        "final": "nothing",
        "qualified": False,
        "purchased": False,
    }


def test_dealer_hands_take_a_known_first_hand() -> None:
    rules, cards = shipped("live-shared@1"), parse_cards("Ac Kd 9h 5c 3d")
    assert dealer_hands(rules, cards, (), evaluate(cards)) == dealer_hands(rules, cards, ())


@pytest.mark.parametrize(
    ("ruleset", "blind_box", "insured", "qualifies", "refusal"),
    [
        ("live-shared@1", False, False, True, None),
        ("live-shared@1", True, False, True, None),
        ("live-shared@1", True, False, False, "purchase_needs_combination"),
        ("live-shared@1", False, False, False, "purchase_needs_combination"),
        ("live-shared@1", False, True, True, None),
        ("dark-boxes@1", False, True, True, None),
        ("dark-boxes@1", False, False, False, None),
        ("dark-boxes@1", True, False, True, "purchase_blind"),
        ("classic@1", False, False, False, None),
        ("classic@1", True, False, False, None),
        ("classic@1", False, True, True, "purchase_insured"),
        ("three-box@1", False, True, True, None),
        ("three-box@1", False, False, False, None),
        ("four-box@1", False, True, True, None),
        ("four-box@1", False, False, False, None),
        ("four-box@1", True, False, True, "purchase_blind"),
    ],
)
def test_who_may_purchase(
    *, ruleset: str, blind_box: bool, insured: bool, qualifies: bool, refusal: str | None
) -> None:
    rules = shipped(ruleset)
    found = purchase_refusal(rules, blind=blind_box, insured=insured, folded=False, qualifies=qualifies)
    assert found == refusal
    folded = purchase_refusal(rules, blind=blind_box, insured=insured, folded=True, qualifies=qualifies)
    assert folded == "purchase_folded"


def test_house_without_purchase_refuses_it() -> None:
    rules = replace(shipped("three-box@1"), purchase=None)
    found = purchase_refusal(rules, blind=False, insured=False, folded=False, qualifies=True)
    assert found == "purchase_not_offered"


def test_exchange_replaces_in_the_order_of_the_positions_chosen() -> None:
    cards = parse_cards("9s 9h 5d 4c 2d")
    option = Option("exchange", (4, 2), parse_cards("Kd 7s"))
    assert final_cards(cards, option) == parse_cards("9s 9h 7s 4c Kd")


def test_sixth_card_makes_six_and_other_options_leave_five() -> None:
    cards = parse_cards("9s 9h 5d 4c 2d")
    assert final_cards(cards, Option("sixth", (), parse_cards("Kd"))) == (*cards, *parse_cards("Kd"))
    assert [final_cards(cards, Option(kind)) for kind in ("bet", "fold", "none")] == [cards] * 3


@pytest.mark.parametrize(
    ("positions", "most", "refusal"),
    [
        ([0, 1, 2, 3, 4], 5, None),
        ([3, 1], 2, None),
        ([], 5, "exchange_empty"),
        ([5], 5, "exchange_position_out_of_range"),
        ([-1], 5, "exchange_position_out_of_range"),
        ([1, 1], 5, "exchange_position_repeated"),
        ([0, 1, 2], 2, "exchange_too_many"),
    ],
)
def test_exchange_is_of_one_to_the_maximum_of_distinct_positions(
    positions: list[int], most: int, refusal: str | None
) -> None:
    assert exchange_refusal(positions, most=most) == refusal


def test_paired_straight_follows_the_ruleset() -> None:
    own = case("three-box@1", QUEENS, box("5s 6h 7d 8c 9s", "sixth", "9d"))
    assert outcome_of(own)["boxes"][0]["odds"] == 8
    own["ruleset"] = ruleset_object(shipped("three-box@1")) | {
        "id": "my-house@1",
        "paired_straight": "straight_and_pair",
    }
    assert outcome_of(own)["boxes"][0]["combinations"] == ["straight", "one_pair"]
    assert outcome_of(own)["boxes"][0]["odds"] == 5
