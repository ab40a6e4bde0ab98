"""Two combinations (RULES.md section 3), for five and six cards."""

from __future__ import annotations

import doctest
import json
import operator
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rules_core.hands
from rules_core.cards import DECK, SUITS, Card, card_text, parse_card, parse_cards
from rules_core.hands import CATEGORY, HAND_NAMES, ODDS, Evaluation, evaluate, evaluate_many, lookup
from rules_core.hands.combinations import combinations_of
from rules_core.rulesets.model import PairedStraight
from tests.oracle import hands as oracle
from tests.rules_core.hand_kinds import suited_hands, unsuited_hands

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "evaluations.json").read_text(encoding="utf-8")
)
MODES: tuple[PairedStraight, ...] = get_args(PairedStraight)

HANDS = st.integers(5, 6).flatmap(
    lambda size: st.lists(st.sampled_from(DECK), min_size=size, max_size=size, unique=True)
)


def paid(text: str, paired_straight: PairedStraight = "two_straights") -> tuple[tuple[str, ...], int]:
    evaluation = evaluate(parse_cards(text), paired_straight)
    return evaluation.combinations, evaluation.odds


def brute_force(cards: list[Card] | tuple[Card, ...], paired_straight: PairedStraight) -> Evaluation:
    """The whole evaluation as the slow implementation sees it, in the words of the fast one."""
    texts = list(map(card_text, cards))
    level, ranks = oracle.strength(frozenset(texts))
    combinations = oracle.paid(texts, paired_straight)
    return Evaluation(
        best=oracle.LOW_FIRST[level],
        strength=evaluate(cards).strength,  # has no meaning of its own; test_ranking compares the order
        best_ranks=numbered(ranks),
        combinations=tuple(combination.name for combination in combinations),
        combination_ranks=tuple(map(defining_ranks, combinations)),
        odds=oracle.odds(texts, paired_straight),
    )


def numbered(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Ranks 0..12 of the oracle's 2..14, in which the low ace is 1."""
    return tuple(12 if rank == 1 else rank - 2 for rank in ranks)


def defining_ranks(combination: oracle.Combination) -> tuple[int, ...]:
    ranks = tuple(dict.fromkeys(numbered(oracle.ranks_by_weight(tuple(combination.cards)))))
    return ranks[:1] if combination.name in oracle.STRAIGHTS else ranks


# ------------------------------------------------------------------------------------ golden


@pytest.mark.parametrize("case", GOLDEN, ids=[case["id"] for case in GOLDEN])
def test_golden_evaluation(case: dict[str, Any]) -> None:
    evaluation = evaluate(parse_cards(case["cards"]))
    odds_straight_and_pair = evaluate(parse_cards(case["cards"]), "straight_and_pair").odds
    assert {
        "best": evaluation.best,
        "combinations": list(evaluation.combinations),
        "odds": evaluation.odds,
        "odds_straight_and_pair": odds_straight_and_pair,
    } == {key: case[key] for key in ("best", "combinations", "odds", "odds_straight_and_pair")}


def test_golden_evaluations_are_all_there() -> None:
    assert len(GOLDEN) == 20


# ------------------------------------------------------------------------------------ odds on the bet


def test_odds_of_each_combination() -> None:
    assert [(name, ODDS[name]) for name in HAND_NAMES] == [
        ("royal_flush", 100),
        ("straight_flush", 50),
        ("four_of_a_kind", 20),
        ("full_house", 7),
        ("flush", 5),
        ("straight", 4),
        ("three_of_a_kind", 3),
        ("two_pair", 2),
        ("one_pair", 1),
        ("ace_king", 1),
        ("nothing", 0),
    ]


@given(HANDS, st.sampled_from(MODES))
def test_a_double_pays_the_sum(cards: list[Card], paired_straight: PairedStraight) -> None:
    evaluation = evaluate(cards, paired_straight)
    assert evaluation.odds == sum(ODDS[name] for name in evaluation.combinations)


@given(HANDS, st.sampled_from(MODES))
def test_never_more_than_two_and_high_to_low(cards: list[Card], paired_straight: PairedStraight) -> None:
    evaluation = evaluate(cards, paired_straight)
    heights = [
        (CATEGORY[name], ranks)
        for name, ranks in zip(evaluation.combinations, evaluation.combination_ranks, strict=True)
    ]
    assert len(heights) <= 2
    assert heights == sorted(heights, reverse=True)
    assert (heights == []) == (evaluation.best == "nothing") == (not evaluation.qualifies)


# ------------------------------------------------------------------------------------ only its own cards


@pytest.mark.parametrize(
    ("name", "size", "text"),
    [
        ("ace_king", 2, "Ac Kd Jh 8s 3d"),
        ("one_pair", 2, "8h 8d Qc 7s 3d"),
        ("three_of_a_kind", 3, "8h 8d 8c 7s 3d"),
        ("two_pair", 4, "8h 8d 7c 7s 3d"),
        ("four_of_a_kind", 4, "8h 8d 8c 8s 3d"),
        ("straight", 5, "8h 7d 6c 5s 4d"),
        ("flush", 5, "8h 7h 6h 5h 3h"),
        ("full_house", 5, "8h 8d 8c 7s 7d"),
        ("straight_flush", 5, "8h 7h 6h 5h 4h"),
        ("royal_flush", 5, "Ah Kh Qh Jh Th"),
    ],
)
def test_a_combination_is_only_its_own_cards(name: str, size: int, text: str) -> None:
    highest = combinations_of(parse_cards(text))[0]
    assert (highest.category, highest.odds, len(highest.cards)) == (CATEGORY[name], ODDS[name], size)


def test_a_kicker_makes_no_second_combination() -> None:
    assert paid("8h 8d Ac 7s 3d 2c") == (("one_pair",), 1)


def test_a_combination_inside_another_is_not_different() -> None:
    assert paid("8h 8d 8c 7s 7d 2c") == (("full_house",), 7)
    assert paid("8h 8d 8c 8s 7d 2c") == (("four_of_a_kind",), 20)
    assert paid("Ah Kh Qh Jh Th 2c") == (("royal_flush",), 100)


def test_different_combinations_may_share_cards() -> None:
    assert paid("Ah Ad Kc 7s 3d") == (("one_pair", "ace_king"), 2)
    assert paid("4s 5h 6d 7c 8s 9d") == (("straight", "straight"), 8)


# ------------------------------------------------------------------------------------ the highest sum


def test_the_highest_sum_of_odds_is_paid() -> None:
    assert paid("Ah 2h 3h 4h Kh 5s") == (("flush", "straight"), 9)
    assert paid("7s 7h 7d 7c As Ad") == (("four_of_a_kind", "full_house"), 27)


def test_equal_sums_pay_the_higher_first_combination() -> None:
    assert paid("As Ah Kd Kc 8s") == (("two_pair",), 2)
    evaluation = evaluate(parse_cards("As Ad 8s 8d 2s 2d"))
    assert evaluation.combination_ranks == ((12, 6), (12, 0))


def test_equal_sums_pay_the_higher_second_combination() -> None:
    aces_full_twice = evaluate(parse_cards("As Ah Ad Ks Kh Kd"))
    assert aces_full_twice.combination_ranks == ((12, 11), (12, 11))
    assert paid("Ah Kh 9h 5h 2h As") == (("flush", "one_pair"), 6)
    evaluation = evaluate(parse_cards("Ah Jh 9h 7h 5h 3h"))
    assert evaluation.combination_ranks == ((12, 9, 7, 5, 3), (12, 9, 7, 5, 1))


def test_a_straight_flush_and_a_flush_of_six_suited_cards() -> None:
    assert paid("2h 3h 4h 5h 6h 9h") == (("straight_flush", "flush"), 55)
    assert paid("9h Th Jh Qh Kh Ah") == (("royal_flush", "straight_flush"), 150)


def test_what_defines_each_combination() -> None:
    assert {
        text: evaluate(parse_cards(text)).combination_ranks
        for text in (
            "7s 7h 7d As Ad Kc",
            "As Ah Ad Ks Kh Kd",
            "7s 7h 7d 7c As Ad",
            "Ah 2h 3h 4h 5h Kd",
            "9s Th Jh Qh Kh Ah",
            "Qs Jh 9d 5c 3s",
        )
    } == {
        "7s 7h 7d As Ad Kc": ((5, 12), (12, 11)),
        "As Ah Ad Ks Kh Kd": ((12, 11), (12, 11)),
        "7s 7h 7d 7c As Ad": ((5,), (5, 12)),
        "Ah 2h 3h 4h 5h Kd": ((3,), (12, 11)),
        "9s Th Jh Qh Kh Ah": ((12,), (11,)),
        "Qs Jh 9d 5c 3s": (),
    }


# ------------------------------------------------------------------------------------ a paired straight


@pytest.mark.parametrize(
    ("text", "two_straights", "straight_and_pair"),
    [
        ("4s 5h 6d 7c 8s 8d", (("straight", "straight"), 8), (("straight", "one_pair"), 5)),
        ("Ts Jh Qd Kc As Ad", (("straight", "straight"), 8), (("straight", "one_pair"), 5)),
        ("5h 6h 7h 8h 9h 9s", (("straight_flush", "straight"), 54), (("straight_flush", "one_pair"), 51)),
        ("Th Jh Qh Kh Ah As", (("royal_flush", "straight"), 104), (("royal_flush", "one_pair"), 101)),
        ("Ah 2h 3d 4c 5s 5d", (("straight", "straight"), 8), (("straight", "one_pair"), 5)),
    ],
)
def test_a_straight_whose_one_rank_is_paired(
    text: str, two_straights: tuple[tuple[str, ...], int], straight_and_pair: tuple[tuple[str, ...], int]
) -> None:
    assert paid(text, "two_straights") == two_straights
    assert paid(text, "straight_and_pair") == straight_and_pair


@pytest.mark.parametrize(
    "text",
    ["4s 5h 6d 7c 8s 9d", "As 9h Th Jh Qh Kh", "9s Th Jh Qh Kh Ah", "Ah 2h 3d 4c 5s 6d", "9h Th Jh Qh Kh Ah"],
)
def test_straights_of_different_ranks_are_two_straights_everywhere(text: str) -> None:
    assert paid(text, "straight_and_pair") == paid(text, "two_straights")
    assert len(paid(text)[0]) == 2


@given(st.lists(st.sampled_from(DECK), min_size=5, max_size=5, unique=True))
def test_five_cards_never_hold_a_paired_straight(cards: list[Card]) -> None:
    assert evaluate(cards, "straight_and_pair") == evaluate(cards, "two_straights")


# ------------------------------------------------------------------------------------ five cards


def test_five_cards_aces_full_of_kings_pay_7() -> None:
    assert paid("As Ah Ad Ks Kh") == (("full_house",), 7)


def test_five_cards_two_pair_of_aces_and_kings_pay_2() -> None:
    assert paid("As Ah Kd Kc 8s") == (("two_pair",), 2)


@pytest.mark.parametrize(
    ("text", "combinations", "odds"),
    [
        ("Ah Ad Kc 7s 3d", ("one_pair", "ace_king"), 2),
        ("8h 8d Ac Ks 5d", ("one_pair", "ace_king"), 2),
        ("7s 7h 7d Ac Kd", ("three_of_a_kind", "ace_king"), 4),
        ("As Ah Ad Kc 3d", ("three_of_a_kind", "ace_king"), 4),
        ("Ks Kh Kd Kc As", ("four_of_a_kind", "ace_king"), 21),
        ("Ts Jh Qd Kc As", ("straight",), 4),
        ("As Ks 9s 5s 2s", ("flush",), 5),
        ("Ac Kd Jh 8s 3d", ("ace_king",), 1),
    ],
)
def test_five_cards_ace_king_is_second_unless_both_its_cards_belong_to_the_first(
    text: str, combinations: tuple[str, ...], odds: int
) -> None:
    assert paid(text) == (combinations, odds)


def test_five_cards_only_ace_king_can_be_second() -> None:
    kinds = [evaluate(cards).combinations for cards in (*unsuited_hands(5), *suited_hands(5))]
    assert {second for _, *rest in filter(None, kinds) for second in rest} == {"ace_king"}
    assert max(map(len, kinds)) == 2


# ------------------------------------------------------------------------------------ brute force


@given(HANDS, st.sampled_from(MODES))
def test_any_hand_is_judged_as_brute_force_judges_it(
    cards: list[Card], paired_straight: PairedStraight
) -> None:
    assert evaluate(cards, paired_straight) == brute_force(cards, paired_straight)


@pytest.mark.parametrize("ranks", ["A23459", "TJQKA9", "AK7642", "456789"])
@pytest.mark.parametrize(("suit", "other"), list(permutations(SUITS, 2)))
def test_which_five_of_six_cards_share_a_suit_decides(ranks: str, suit: str, other: str) -> None:
    for odd in ranks:
        cards = [parse_card(rank + (other if rank == odd else suit)) for rank in ranks]
        assert evaluate(cards) == brute_force(cards, "two_straights")


@given(st.lists(st.sampled_from([card for card in DECK if card_text(card)[1] in "hs"]),
                min_size=6, max_size=6, unique=True), st.sampled_from(MODES))  # fmt: skip
def test_six_cards_of_two_suits_are_judged_as_brute_force_judges_them(
    cards: list[Card], paired_straight: PairedStraight
) -> None:
    assert evaluate(cards, paired_straight) == brute_force(cards, paired_straight)


def test_every_kind_of_five_cards_is_judged_as_brute_force_judges_it() -> None:
    hands = [*unsuited_hands(5), *suited_hands(5)]
    assert len(hands) == 7462
    assert [evaluate(cards) for cards in hands] == [brute_force(cards, "two_straights") for cards in hands]


@pytest.mark.exhaustive
@pytest.mark.parametrize("paired_straight", MODES)
def test_every_kind_of_six_cards_is_judged_as_brute_force_judges_it(paired_straight: PairedStraight) -> None:
    hands = [*unsuited_hands(6), *suited_hands(6)]
    assert len(hands) == 18_395 + 18_447
    for cards in hands:
        assert evaluate(cards, paired_straight) == brute_force(cards, paired_straight)


@pytest.mark.exhaustive
@pytest.mark.parametrize("paired_straight", MODES)
def test_each_kind_of_hand_is_remembered_once_so_memory_is_bounded(paired_straight: PairedStraight) -> None:
    hands = [cards for size in (5, 6) for kinds in (unsuited_hands, suited_hands) for cards in kinds(size)]
    once = evaluate_many(hands, paired_straight)
    assert all(map(operator.is_, once, evaluate_many(hands, paired_straight)))
    assert len(lookup._UNSUITED[paired_straight]) == 6_175 + 18_395
    assert len(lookup._SUITED[paired_straight]) == 1_287 + 18_447


# ------------------------------------------------------------------------------------ documentation


def test_the_example_in_the_documentation_is_true() -> None:
    result = doctest.testmod(rules_core.hands)
    assert (result.failed, result.attempted) == (0, 3)
