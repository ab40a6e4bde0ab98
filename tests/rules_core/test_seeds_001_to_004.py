"""Every rule about money and every example in seed texts 001 to 004, settled.

Where a text contradicts itself or is silent, RULES.md section 9 says what was decided. Their tables are in
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
    blind,
    box,
    code_of,
    one,
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
STRAIGHT = "9s 8h 7d 6c 5s"
SAME_STRAIGHT = "9h 8d 7h 6d 5c"
NOTHING = "Ks Jh 9d 4c 2d"


class TestSeed001:
    """Light and dark boxes."""

    def test_one_to_five_cards_or_one_more_for_an_ante(self) -> None:
        entry = box(NOTHING, "exchange", "As Ah Ad Ac 3c", (0, 1, 2, 3, 4))
        assert returned(one(DARK, QUEENS, entry)) == {"ante": 100, "bet": 4200, "option_fee": 0}

    def test_dark_box_neither_buys_nor_insures_nor_purchases(self) -> None:
        codes = [
            code_of(DARK, NO_GAME, box(TRIPS, "sixth", "Kd", blind=True, final=None)),
            code_of(DARK, NO_GAME, blind(TRIPS, insurance=100)),
            code_of(DARK, NO_GAME, blind(TRIPS, purchase=True), draws="8s"),
        ]
        assert codes == ["blind_box_option", "insurance_blind_box", "purchase_blind"]

    def test_dark_box_may_stake_a_bonus(self) -> None:
        entry = one(DARK, QUEENS, blind(TRIPS, bonus_player=10))
        assert returned(entry) == {"ante": 100, "bet": 800, "bonus_player": 80}

    def test_insurance_from_one_ante_to_all_of_the_expected_win_within_the_maximum_payout(self) -> None:
        trips = evaluate(parse_cards(TRIPS))
        assert insurance_bounds(shipped(DARK), trips, 100, None) == Bounds(100, 600)
        assert insurance_bounds(shipped(DARK), trips, 100, 450) == Bounds(100, 450)

    def test_combination_and_insurance_together_stay_within_the_maximum_payout(self) -> None:
        entry = one(DARK, NO_GAME, box(TRIPS, insurance=200, purchase=True), "8s", cap=500)
        assert returned(entry) == {"ante": 100, "bet": 200 + 300, "insurance": 400, "purchase_fee": 0}

    @pytest.mark.parametrize(
        ("dealer", "cards", "back"),
        [
            (NO_GAME, TRIPS, 600),
            (QUEENS, TRIPS, 0),
            (BEATS_TRIPS, TRIPS, 300),
            (SAME_STRAIGHT, STRAIGHT, 300),
        ],
    )
    def test_insurance_pays_is_lost_or_is_given_back(self, dealer: str, cards: str, back: int) -> None:
        assert returned(one(DARK, dealer, box(cards, insurance=300)))["insurance"] == back

    def test_both_combinations_are_paid_when_one_beats_the_dealer(self) -> None:
        dealer = "Qs Qd 9c 5h 2c"  # beats ace-king, not kings
        entry = one(DARK, dealer, box("Ks Kd Ac 7s 3d"))
        assert (entry["combinations"], returned(entry)["bet"]) == (["one_pair", "ace_king"], 600)

    def test_second_combination_is_not_paid_when_the_first_does_not_win(self) -> None:
        assert returned(one(DARK, "As Ad 9c 5h 2c", box("Ks Kd Ac 7s 3d")))["bet"] == 0

    def test_of_five_cards_only_ace_king_is_second(self) -> None:
        assert one(DARK, QUEENS, box("7s 7h 7d 4c 4d"))["combinations"] == ["full_house"]
        assert one(DARK, QUEENS, box("7s 7h 7d Ac Kd"))["combinations"] == ["three_of_a_kind", "ace_king"]

    def test_win_pays_the_bet_and_not_the_ante(self) -> None:
        assert returned(one(DARK, QUEENS, box(TRIPS))) == {"ante": 100, "bet": 800}

    def test_no_game_pays_the_ante_or_the_dealers_card_is_bought(self) -> None:
        assert returned(one(DARK, NO_GAME, box(TRIPS)))["ante"] == 200
        assert returned(one(DARK, NO_GAME, box(NOTHING, purchase=True), "2c"))["ante"] == 100

    @pytest.mark.parametrize(
        ("draws", "outcome"), [("Qh 8s", "win"), ("Qh 7s", "no_game"), ("Qh Qd", "no_game"), ("8s", "win")]
    )
    def test_same_card_again_is_exchanged_once_more_and_only_once(self, draws: str, outcome: str) -> None:
        assert one(DARK, NO_GAME, box(TRIPS, purchase=True), draws)["outcome"] == outcome
        assert code_of(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Qh") == "draws_missing"
        assert code_of(DARK, NO_GAME, box(TRIPS, purchase=True), draws="Qh Qd 8s") == "draws_too_many"

    def test_same_card_that_makes_a_game_is_not_exchanged_again(self) -> None:
        entry = box("9s 9d 9c 4c 3d", purchase=True)
        assert one(DARK, "Qs 9h 7h 4h 2h", entry, "Qh")["outcome"] == "lose"

    def test_bought_game_may_beat_the_box(self) -> None:
        entry = one(DARK, "Qs 9c 7h 6d 5c", box("As Kh Td 4c 2d", purchase=True), "8s")
        assert returned(entry) == {"ante": 0, "bet": 0, "purchase_fee": 0}

    def test_still_no_game_after_the_purchase_gives_the_bet_back(self) -> None:
        assert returned(one(DARK, NO_GAME, box(TRIPS, purchase=True), "2c"))["bet"] == 200

    def test_insured_box_may_purchase(self) -> None:
        assert one(DARK, NO_GAME, box(TRIPS, insurance=100, purchase=True), "8s")["outcome"] == "win"

    def test_same_combination_is_decided_by_the_highest_card_then_drawn(self) -> None:
        outcomes = [
            one(DARK, QUEENS, box(cards))["outcome"] for cards in ("Qh Qc Td 5s 2d", "Qh Qc 9d 5s 2d")
        ]
        assert outcomes == ["win", "tie"]

    def test_bonus_is_decided_before_anything_is_bought(self) -> None:
        entry = box("9s 9h 4d 4c 2d", "exchange", "9d", (4,), bonus_player=10)
        assert returned(one(DARK, QUEENS, entry))["bonus_player"] == 30


class TestSeed002:
    """Classic table."""

    def test_no_more_than_four_cards_are_exchanged(self) -> None:
        four = box(NOTHING, "exchange", "As Ah Ad Ac", (0, 1, 2, 3))
        five = box(NOTHING, "exchange", "As Ah Ad Ac 3c", (0, 1, 2, 3, 4))
        assert one(CLASSIC, QUEENS, four)["best"] == "four_of_a_kind"
        assert code_of(CLASSIC, QUEENS, five) == "exchange_too_many"

    def test_insurance_up_to_half_the_potential_win(self) -> None:
        trips = evaluate(parse_cards(TRIPS))
        assert insurance_bounds(shipped(CLASSIC), trips, 100, None) == Bounds(100, 300)

    def test_blind_box_buys_no_cards(self) -> None:
        bought = box(TRIPS, "sixth", "Kd", blind=True, final=None)
        assert code_of(CLASSIC, QUEENS, bought) == "blind_box_option"

    def test_game_loses_the_insurance_whatever_becomes_of_the_box(self) -> None:
        rows = [(QUEENS, TRIPS), (BEATS_TRIPS, TRIPS), (SAME_STRAIGHT, STRAIGHT)]
        back = [
            returned(one(CLASSIC, dealer, box(cards, insurance=300)))["insurance"] for dealer, cards in rows
        ]
        assert back == [0, 0, 0]

    def test_both_hands_are_paid_although_only_the_higher_beats_the_dealer(self) -> None:
        assert returned(one(CLASSIC, QUEENS, box("Ks Kd Ac 7s 3d")))["bet"] == 600

    def test_tie_returns_ante_and_bet_and_loses_the_extra_payment(self) -> None:
        entry = box("9s 8h 7d 6c 2s", "exchange", "5s", (4,))
        assert returned(one(CLASSIC, SAME_STRAIGHT, entry)) == {"ante": 100, "bet": 200, "option_fee": 0}

    def test_beaten_box_loses_everything(self) -> None:
        entry = one(CLASSIC, BEATS_TRIPS, box(TRIPS, "sixth", "6c", insurance=100))
        assert (entry["staked"], entry["returned"]) == (500, 0)

    def test_example_insurance_of_a_thousand_dollars_pays_a_thousand_more(self) -> None:
        entry = one(CLASSIC, NO_GAME, box(TRIPS, ante=400_00, insurance=1000_00))
        assert returned(entry)["insurance"] == 2000_00

    def test_uninsured_box_may_purchase_and_an_insured_one_may_not(self) -> None:
        assert one(CLASSIC, NO_GAME, box(TRIPS, purchase=True), "8s")["outcome"] == "win"
        insured = box(TRIPS, insurance=100, purchase=True)
        assert code_of(CLASSIC, NO_GAME, insured, draws="8s") == "purchase_insured"

    def test_boxes_that_did_not_purchase_are_paid_before_the_exchange(self) -> None:
        buyer, other = box(TRIPS), box("7s 7d 6c 4h 2s", box=3, player="p2")
        first, second = settled(CLASSIC, NO_GAME, buyer | {"purchase": True}, other, draws="8s")
        assert (first["outcome"], returned(second)) == ("win", {"ante": 200, "bet": 200})

    def test_one_card_is_drawn_for_all_who_purchased_and_one_more_if_its_rank_is_the_same(self) -> None:
        both = box(TRIPS, purchase=True), box("7s 7d 6c 4h 2s", box=3, player="p2", purchase=True)
        entries = settled(CLASSIC, NO_GAME, *both, draws="Qd 8s")
        assert [entry["outcome"] for entry in entries] == ["win", "lose"]

    def test_failed_purchase_is_paid_like_no_purchase(self) -> None:
        entry = one(CLASSIC, NO_GAME, box(TRIPS, purchase=True), "7s")
        assert returned(entry) == {"ante": 200, "bet": 200, "purchase_fee": 0}


class TestSeed003:
    """Three open boxes."""

    def test_one_to_five_cards_are_exchanged(self) -> None:
        entry = box(NOTHING, "exchange", "As Ah Ad Ac 3c", (0, 1, 2, 3, 4))
        assert one(THREE, QUEENS, entry)["best"] == "four_of_a_kind"

    def test_no_box_is_blind(self) -> None:
        assert code_of(THREE, QUEENS, blind(TRIPS)) == "box_not_blind"

    def test_insurance_from_one_ante_to_the_expected_win(self) -> None:
        trips = evaluate(parse_cards(TRIPS))
        assert insurance_bounds(shipped(THREE), trips, 100, None) == Bounds(100, 600)

    def test_win_pays_the_bet_only_and_loses_the_insurance(self) -> None:
        assert returned(one(THREE, QUEENS, box(TRIPS, insurance=600))) == {
            "ante": 100,
            "bet": 800,
            "insurance": 0,
        }

    def test_beaten_box_loses_ante_bet_and_insurance(self) -> None:
        assert one(THREE, BEATS_TRIPS, box(TRIPS, insurance=600))["returned"] == 0

    def test_equal_combinations_are_decided_by_the_next_card_then_stand_off(self) -> None:
        hands = ("Qh Qc 9d 5s 3d", "Qh Qc 9d 5s 2d", "Qh Qc 9d 4s 3d")
        assert [one(THREE, QUEENS, box(cards))["outcome"] for cards in hands] == ["win", "tie", "lose"]

    def test_no_game_pays_the_insurance_and_then_ante_or_purchase(self) -> None:
        assert returned(one(THREE, NO_GAME, box(TRIPS, insurance=600))) == {
            "ante": 200,
            "bet": 200,
            "insurance": 1200,
        }
        assert returned(one(THREE, NO_GAME, box(TRIPS, insurance=600, purchase=True), "8s")) == {
            "ante": 100,
            "bet": 800,
            "insurance": 1200,
            "purchase_fee": 0,
        }

    def test_bought_game_that_is_higher_takes_ante_and_bet(self) -> None:
        entry = one(THREE, NO_GAME, box("7s 7h 6d 4c 2d", purchase=True), "8s")
        assert returned(entry) == {"ante": 0, "bet": 0, "purchase_fee": 0}

    def test_lowest_combination_is_ace_king_of_any_suit(self) -> None:
        assert one(THREE, "As Kd 9c 5h 3c", box("Ah Kc Td 4s 2d"))["combinations"] == ["ace_king"]


class TestSeed004:
    """Four boxes."""

    def test_blind_box_neither_buys_nor_purchases(self) -> None:
        bought = box(TRIPS, "sixth", "Kd", blind=True, final=None)
        assert code_of(FOUR, NO_GAME, bought) == "blind_box_option"
        assert code_of(FOUR, NO_GAME, blind(TRIPS, purchase=True), draws="8s") == "purchase_blind"

    def test_ace_king_can_be_second(self) -> None:
        assert one(FOUR, QUEENS, box("Ks Kd Ac 7s 3d"))["combinations"] == ["one_pair", "ace_king"]

    def test_one_of_two_combinations_that_is_higher_pays_both_on_the_bet(self) -> None:
        assert returned(one(FOUR, QUEENS, box("Ks Kd Ac 7s 3d"))) == {"ante": 100, "bet": 600}

    def test_no_game_pays_the_ante_and_a_failed_purchase_does_not(self) -> None:
        assert returned(one(FOUR, NO_GAME, box(TRIPS)))["ante"] == 200
        assert returned(one(FOUR, NO_GAME, box(TRIPS, purchase=True), "7s"))["ante"] == 100

    @pytest.mark.parametrize("draws", ["8s", "Qh 8s", "Qh Qd 8s", "Qh Qd Qc 8s"])
    def test_the_same_card_is_exchanged_again_until_it_differs(self, draws: str) -> None:
        assert one(FOUR, NO_GAME, box(TRIPS, purchase=True), draws)["outcome"] == "win"

    def test_ace_is_low_in_a_straight_only(self) -> None:
        assert one(FOUR, QUEENS, box("As 2d 3c 4s 5d"))["best"] == "straight"
        assert one(FOUR, "As Jd 8h 5c 3d", box(TRIPS, purchase=True), "8s")["outcome"] == "win"

    def test_equal_hands_stand_off(self) -> None:
        assert returned(one(FOUR, QUEENS, box("Qh Qc 9d 5s 2d"))) == {"ante": 100, "bet": 200}

    def test_insurance_from_one_ante_to_half_the_win_of_both_combinations(self) -> None:
        trips = evaluate(parse_cards("9s 9h 9d Ac Kd"))
        assert insurance_bounds(shipped(FOUR), trips, 100, None) == Bounds(100, 400)

    @pytest.mark.parametrize(
        ("dealer", "cards", "back"),
        [
            (NO_GAME, TRIPS, 600),
            (QUEENS, TRIPS, 0),
            (SAME_STRAIGHT, STRAIGHT, 300),
            (BEATS_TRIPS, TRIPS, 300),
        ],
    )
    def test_insurance_pays_is_lost_or_is_not_lost(self, dealer: str, cards: str, back: int) -> None:
        assert returned(one(FOUR, dealer, box(cards, insurance=300)))["insurance"] == back

    def test_insurance_and_both_combinations_together_stay_within_the_maximum_payout(self) -> None:
        entry = box("9s 9h 9d Ac Kd", insurance=300, purchase=True)
        assert returned(one(FOUR, NO_GAME, entry, "8s", cap=700)) == {
            "ante": 100,
            "bet": 200 + 400,
            "insurance": 600,
            "purchase_fee": 0,
        }
