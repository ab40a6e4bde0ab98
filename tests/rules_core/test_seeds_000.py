"""Every worked example and every rule about money in seed text 000 (live, shared boxes), settled.

Where the text contradicts itself or is silent, RULES.md section 9 says what was decided. Its tables are in
test_seeds_payouts.py.
"""

from __future__ import annotations

import pytest

from rules_core.cards import parse_cards
from rules_core.hands import evaluate
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.insurance import Bounds, insurance_bounds
from tests.rules_core.settling import (
    NO_GAME,
    QUEENS,
    Json,
    blind,
    box,
    case,
    code_of,
    one,
    outcome_of,
    returned,
    settled,
)

LIVE, DARK, CLASSIC, THREE, FOUR = (
    "live-shared@1",
    "dark-boxes@1",
    "classic@1",
    "three-box@1",
    "four-box@1",
)
TRIPS = "9s 9h 9d 4c 2d"
BEATS_TRIPS = "Ts Td Th 4h 4d"
NOTHING = "Ks Jh 9d 4c 2d"


def test_bet_is_twice_the_ante_and_an_option_costs_one_ante() -> None:
    for option in ("sixth", "exchange"):
        entry = one(LIVE, QUEENS, box(TRIPS, option, "Kd", (4,), ante=50))
        assert {line["wager"]: line["stake"] for line in entry["lines"]} == {
            "ante": 50,
            "bet": 100,
            "option_fee": 50,
        }


def test_blind_box_stakes_ante_and_bet_together() -> None:
    assert one(LIVE, QUEENS, blind(TRIPS, ante=50))["staked"] == 150


def test_fold_loses_the_ante_and_after_buying_the_price_as_well() -> None:
    assert one(LIVE, NO_GAME, box(TRIPS, "fold"))["net"] == -100
    assert one(LIVE, NO_GAME, box(TRIPS, "sixth", "Kd", final="fold"))["net"] == -200


def test_up_to_five_cards_are_exchanged_for_the_first_switch_cards_in_order() -> None:
    entry = box("3c 4c 7d 9h Jc", "exchange", "As Ks Qs Js Ts", (4, 3, 2, 1, 0))
    assert one(LIVE, "Qh Qd 9c 5h 2c", entry)["best"] == "royal_flush"


def test_a_sixth_card_is_the_first_switch_card() -> None:
    exchanged = box("9s 9h 7d 4c 2d", "exchange", "Kd 7s", (3, 4), player="p2")
    right, wrong = (box("9s 9h 7d 4c 2d", "sixth", card) for card in ("Kd", "7s"))
    assert len(settled(LIVE, QUEENS, exchanged, right)) == 2
    assert code_of(LIVE, QUEENS, exchanged, wrong) == "switch_cards_differ"


def test_passing_leaves_bet_or_fold() -> None:
    assert one(LIVE, QUEENS, box(TRIPS, "none"))["outcome"] == "win"
    assert one(LIVE, QUEENS, box(TRIPS, "none", final="fold"))["outcome"] == "folded"
    assert code_of(LIVE, QUEENS, box(TRIPS, "none", insurance=100)) == "insurance_passed"


def test_example_insurance_of_a_flush_with_an_ante_of_ten_dollars() -> None:
    flush = evaluate(parse_cards("2h 5h 9h Jh Kh"))
    assert insurance_bounds(shipped(LIVE), flush, 10_00, None) == Bounds(10_00, 50_00)


def test_insurance_is_of_three_of_a_kind_or_better_and_within_the_maximum_payout() -> None:
    assert code_of(LIVE, QUEENS, box("9s 9h 4d 4c 2d", insurance=100)) == "insurance_hand_too_low"
    flush = evaluate(parse_cards("2h 5h 9h Jh Kh"))
    assert insurance_bounds(shipped(LIVE), flush, 10_00, 60_00) == Bounds(10_00, 30_00)


def test_insurance_wins_one_to_one_without_game_and_is_lost_with_one() -> None:
    assert returned(one(LIVE, NO_GAME, box(TRIPS, insurance=300)))["insurance"] == 600
    assert returned(one(LIVE, QUEENS, box(TRIPS, insurance=300)))["insurance"] == 0


def test_insurance_comes_back_when_the_dealer_beats_the_insured_hand() -> None:
    assert returned(one(LIVE, BEATS_TRIPS, box(TRIPS, insurance=300))) == {
        "ante": 0,
        "bet": 0,
        "insurance": 300,
    }


@pytest.mark.parametrize("change", [{"option": {"kind": "fold"}}, {"insurance": 100}, {"final": "fold"}])
def test_blind_box_has_no_decision(change: Json) -> None:
    assert "error" in outcome_of(case(LIVE, QUEENS, blind(TRIPS) | change))


def test_blind_box_may_purchase_if_its_hand_has_a_combination() -> None:
    assert one(LIVE, NO_GAME, blind(TRIPS, purchase=True), "8s")["outcome"] == "win"
    refused = code_of(LIVE, NO_GAME, blind(NOTHING, purchase=True), draws="8s")
    assert refused == "purchase_needs_combination"


def test_purchase_costs_one_ante_and_is_offered_only_without_game() -> None:
    entry = one(LIVE, NO_GAME, box(TRIPS, purchase=True, ante=50), "8s")
    assert entry["lines"][2] == {
        "wager": "purchase_fee",
        "stake": 50,
        "returned": 0,
        "reason": "purchase_fee_spent",
    }
    refused = code_of(LIVE, QUEENS, box(TRIPS, purchase=True), draws="8s")
    assert refused == "purchase_dealer_qualifies"


def test_insured_box_may_purchase_and_win_with_its_bet_too() -> None:
    assert returned(one(LIVE, NO_GAME, box(TRIPS, insurance=300, purchase=True), "8s")) == {
        "ante": 100,
        "bet": 800,
        "insurance": 600,
        "purchase_fee": 0,
    }


def test_box_that_did_not_purchase_is_paid_its_ante_and_takes_no_further_part() -> None:
    buyer, other = box(TRIPS, purchase=True), box(TRIPS, player="p2")
    assert returned(settled(LIVE, NO_GAME, buyer, other, draws="8s")[1]) == {"ante": 200, "bet": 200}


def test_the_highest_card_of_the_dealer_gives_way_to_the_new_one() -> None:
    result = outcome_of(case(LIVE, "3d Jd 8h Qs 5c", box(TRIPS, purchase=True), draws="8s"))
    assert result["dealer"]["final_cards"] == ["3d", "Jd", "8h", "8s", "5c"]


def test_failed_purchase_loses_its_price_and_gives_ante_and_bet_back() -> None:
    entry = one(LIVE, NO_GAME, box(TRIPS, purchase=True), "7s")
    assert returned(entry) == {"ante": 100, "bet": 200, "purchase_fee": 0}


def test_bonus_b_ignores_what_was_bought_and_whether_the_box_wins() -> None:
    made = box("7s 7h 6d 4c 2d", "sixth", "7d", bonus_player=10)
    assert returned(one(LIVE, QUEENS, made))["bonus_player"] == 0
    beaten = box("7s 7h 7d 4c 2d", bonus_player=10)
    assert returned(one(LIVE, "Ts Td Th 5h 5d", beaten))["bonus_player"] == 210


def test_bonus_d_loses_without_a_combination_and_when_the_game_was_bought() -> None:
    assert returned(one(LIVE, NO_GAME, box(TRIPS, bonus_dealer=10)))["bonus_dealer"] == 0
    bought = one(LIVE, "As Jd 7h 5c 3d", box(TRIPS, purchase=True, bonus_dealer=10), "7s")
    assert (bought["outcome"], returned(bought)["bonus_dealer"]) == ("win", 0)


def test_bonus_of_two_combinations_pays_the_higher_or_the_one_in_the_table() -> None:
    both = box("7s 7h 7d Ac Kd", bonus_player=10)
    assert returned(one(LIVE, QUEENS, both))["bonus_player"] == 210
    single = box("8s 8d 8c Ac Kd", bonus_player=10)
    assert returned(one(LIVE, QUEENS, single))["bonus_player"] == 20


def test_maximum_payout_is_for_a_box_both_combinations_together_without_insurance_and_bonus() -> None:
    entry = box("7s 7h 7d Ac Kd", "sixth", "7c", insurance=500, purchase=True, bonus_player=10)
    assert returned(one(LIVE, NO_GAME, entry, "8s", cap=1000)) == {
        "ante": 100,
        "bet": 200 + 1000,
        "option_fee": 0,
        "insurance": 1000,
        "purchase_fee": 0,
        "bonus_player": 210,
    }
    first, second = (box(TRIPS, player="p1"), blind("8s 8d 8c Kc 2h", player="p1"))
    both = settled(LIVE, QUEENS, first, second, cap=500)
    assert [returned(entry)["bet"] for entry in both] == [700, 700]


@pytest.mark.parametrize(
    ("dealer", "cards", "outcome"),
    [
        ("Qs Qd 9c 5h 2c", "Ks Kd 3c 5s 4d", "win"),
        ("Qs Qd 9c 5h 2c", "Qh Qc Ac 5s 2d", "win"),
        ("Qs Qd 9c 5h 2c", "Qh Qc 9d 5s 2d", "tie"),
        ("Qs Qd 9c 5h 2c", "Qh Qc 9d 4s 3d", "lose"),
        ("Qs Qd 9c 5h 2c", "Js Jd 9d 4s 3d", "lose"),
    ],
)
def test_higher_hand_then_higher_kickers_then_a_tie(dealer: str, cards: str, outcome: str) -> None:
    back = {"win": (100, 400), "tie": (100, 200), "lose": (0, 0)}[outcome]
    entry = one(LIVE, dealer, box(cards))
    assert (entry["outcome"], *returned(entry).values()) == (outcome, *back)


def test_example_full_house_and_ace_king_against_three_sevens() -> None:
    entry = one(LIVE, "7s 7h 7d Kd 2c", box("8s 8h 8d Ac Ad", "sixth", "Kh"))
    assert (entry["combinations"], returned(entry)["bet"]) == (["full_house", "ace_king"], 200 + 8 * 200)


def test_example_twice_two_pair_loses_to_three_of_a_kind() -> None:
    entry = one(LIVE, "3s 3h 3d Kd Jc", box("As Ad 8s 8d 2h", "sixth", "2d"))
    assert (entry["combinations"], entry["odds"]) == (["two_pair", "two_pair"], 4)
    assert (entry["outcome"], returned(entry)["bet"]) == ("lose", 0)


def test_example_sixth_card_does_not_help_against_the_same_straight() -> None:
    entry = one(LIVE, "9h 8d 7h 6c 5d", box("4s 5h 6d 7c 8s", "sixth", "9d"))
    assert (entry["combinations"], entry["odds"]) == (["straight", "straight"], 8)
    assert (entry["outcome"], returned(entry)["bet"]) == ("tie", 200)


def test_no_game_with_and_without_insurance() -> None:
    assert returned(one(LIVE, NO_GAME, box(TRIPS))) == {"ante": 200, "bet": 200}
    assert returned(one(LIVE, NO_GAME, box(TRIPS, insurance=300))) == {
        "ante": 100,
        "bet": 200,
        "insurance": 600,
    }


def test_the_lowest_game_is_ace_king() -> None:
    qualified = [
        outcome_of(case(LIVE, dealer, box(TRIPS)))["dealer"]["qualified"]
        for dealer in ("As Kd 7h 5c 3d", "As Qd 7h 5c 3d", "Ks Qd 7h 5c 3d")
    ]
    assert qualified == [True, False, False]


def test_two_combinations_differ_when_each_has_a_card_that_the_other_lacks() -> None:
    pairs = {
        "Ah Ad Kc 7s 3d": ["one_pair", "ace_king"],
        "As Ad Ks Kd 6c": ["two_pair"],
        "As Ad Ac Ks Kd": ["full_house"],
    }
    assert {cards: one(LIVE, QUEENS, box(cards))["combinations"] for cards in pairs} == pairs


def test_never_more_than_two_combinations() -> None:
    entry = one(LIVE, "Qs Qd 3c 5h 2c", box("Ah Jh 9h 7h 4h", "sixth", "Kh"))
    assert entry["combinations"] == ["flush", "flush"]


def test_the_dealer_has_one_combination_only() -> None:
    """A pair with ace-king does not beat a higher pair."""
    assert one(LIVE, "7s 7d Ah Kh 2c", box("8s 8d 5h 4c 3d"))["outcome"] == "win"
