"""Hand ranking (RULES.md section 2), for five and six cards."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.cards import DECK, SUITS, Card, card_text, parse_card, parse_cards, rank_of, suit_of
from rules_core.hands import (
    CATEGORY,
    HAND_NAMES,
    InvalidHand,
    RepeatedCard,
    WrongNumberOfCards,
    evaluate,
    evaluate_many,
)
from rules_core.rulesets.model import PairedStraight
from tests.oracle import hands as oracle
from tests.rules_core.hand_kinds import suited_hands, unsuited_hands

HANDS = st.integers(5, 6).flatmap(
    lambda size: st.lists(st.sampled_from(DECK), min_size=size, max_size=size, unique=True)
)

HIGH_TO_LOW = [
    ("royal_flush", "Ah Kh Qh Jh Th"),
    ("straight_flush", "9c 8c 7c 6c 5c"),
    ("four_of_a_kind", "2c 2d 2h 2s 3c"),
    ("full_house", "2c 2d 2h 3s 3c"),
    ("flush", "7d 5d 4d 3d 2d"),
    ("straight", "5h 4c 3d 2s Ah"),
    ("three_of_a_kind", "2c 2d 2h 4s 3c"),
    ("two_pair", "3c 3d 2h 2s 4c"),
    ("one_pair", "2c 2d 5h 4s 3c"),
    ("ace_king", "Ah Kc 4d 3s 2h"),
    ("nothing", "Ah Qc Jd Ts 8h"),
]


def strength(text: str) -> int:
    return evaluate(parse_cards(text)).strength


def oracle_strength(cards: tuple[Card, ...] | list[Card]) -> tuple[int, tuple[int, ...]]:
    return oracle.strength(frozenset(map(card_text, cards)))


# ------------------------------------------------------------------------------------ high to low


def test_the_names_stand_high_to_low() -> None:
    assert [name for name, _ in HIGH_TO_LOW] == list(HAND_NAMES)
    assert [CATEGORY[name] for name in HAND_NAMES] == list(range(10, -1, -1))


@pytest.mark.parametrize(("name", "cards"), HIGH_TO_LOW)
def test_each_hand_has_its_name(name: str, cards: str) -> None:
    assert evaluate(parse_cards(cards)).best == name


def test_every_hand_beats_those_named_below_it() -> None:
    strengths = [strength(cards) for _, cards in HIGH_TO_LOW]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == len(strengths)


@pytest.mark.parametrize("cards", ["Ah Kc 4d 3s 2h", "2c 2d 5h 4s 3c", "Ah Kh Qh Jh Th", "Ac 2d Kh 9s 4c 6h"])
def test_ace_king_or_better_qualifies(cards: str) -> None:
    assert evaluate(parse_cards(cards)).qualifies


@pytest.mark.parametrize("cards", ["Ah Qc Jd Ts 8h", "Kh Qc Jd Ts 8h", "7h 5c 4d 3s 2h", "Ah Qc Jd Ts 8h 2c"])
def test_less_does_not_qualify(cards: str) -> None:
    assert not evaluate(parse_cards(cards)).qualifies


# ------------------------------------------------------------------------------------ suits are equal


@given(HANDS, st.permutations(range(4)))
def test_suits_are_equal(cards: list[Card], new_suits: list[int]) -> None:
    moved = [DECK[rank_of(card) * 4 + new_suits[suit_of(card)]] for card in cards]
    assert evaluate(moved) == evaluate(cards)


@given(HANDS.flatmap(lambda cards: st.tuples(st.just(cards), st.permutations(cards))))
def test_the_order_of_cards_does_not_matter(both: tuple[list[Card], list[Card]]) -> None:
    cards, shuffled = both
    assert evaluate(shuffled) is evaluate(cards)


# ------------------------------------------------------------------------------------ the ace


def test_ace_is_high_in_the_highest_straight() -> None:
    assert evaluate(parse_cards("Ah Kc Qd Js Th")).best_ranks == (12, 11, 10, 9, 8)


def test_ace_is_low_in_ace_to_five_only() -> None:
    wheel = evaluate(parse_cards("Ah 2c 3d 4s 5h"))
    assert (wheel.best, wheel.best_ranks) == ("straight", (3, 2, 1, 0, 12))
    assert strength("2c 3d 4s 5h 6h") > wheel.strength


@pytest.mark.parametrize("cards", ["Kh Ac 2d 3s 4h", "Qh Kc Ad 2s 3h", "Jh Qc Kd As 2h"])
def test_no_straight_goes_round_the_ace(cards: str) -> None:
    assert evaluate(parse_cards(cards)).best == "ace_king"


def test_the_steel_wheel_is_the_lowest_straight_flush() -> None:
    wheel = evaluate(parse_cards("Ah 2h 3h 4h 5h"))
    assert (wheel.best, wheel.best_ranks) == ("straight_flush", (3, 2, 1, 0, 12))
    assert strength("2h 3h 4h 5h 6h") > wheel.strength > strength("As Ah Ad Ac Ks")


# ------------------------------------------------------------------------------------ rank, then kickers


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("9c 8c 7c 6c 5c", "8d 7d 6d 5d 4d"),
        ("3c 3d 3h 3s 2c", "2c 2d 2h 2s Ac"),
        ("2c 2d 2h 2s 4c", "2c 2d 2h 2s 3c"),
        ("3c 3d 3h 2s 2c", "2c 2d 2h As Ac"),
        ("2c 2d 2h 4s 4c", "2c 2d 2h 3s 3c"),
        ("Kd 6d 4d 3d 2d", "Qd Jd Td 9d 7d"),
        ("7d 6d 5d 4d 2d", "7d 6d 5d 3d 2d"),
        ("6h 5c 4d 3s 2h", "5h 4c 3d 2s Ah"),
        ("3c 3d 3h 4s 2c", "2c 2d 2h As Kc"),
        ("2c 2d 2h 5s 3c", "2c 2d 2h 4s 3c"),
        ("2c 2d 2h 5s 4c", "2c 2d 2h 5s 3c"),
        ("4c 4d 2h 2s 3c", "3c 3d 2h 2s Ac"),
        ("4c 4d 3h 3s 2c", "4c 4d 2h 2s Ac"),
        ("3c 3d 2h 2s 5c", "3c 3d 2h 2s 4c"),
        ("3c 3d 5h 4s 2c", "2c 2d Ah Ks Qc"),
        ("2c 2d 6h 4s 3c", "2c 2d 5h 4s 3c"),
        ("2c 2d 6h 5s 3c", "2c 2d 6h 4s 3c"),
        ("2c 2d 6h 5s 4c", "2c 2d 6h 5s 3c"),
        ("Ah Kc 5d 3s 2h", "Ah Kc 4d 3s 2h"),
        ("Ah Kc 5d 4s 2h", "Ah Kc 5d 3s 2h"),
        ("Ah Kc 5d 4s 3h", "Ah Kc 5d 4s 2h"),
        ("Ah 5c 4d 3s 7h", "Kh Qc Jd Ts 8h"),
        ("9h 7c 5d 4s 3h", "9h 7c 5d 4s 2h"),
    ],
)
def test_equal_categories_compare_by_rank_then_kickers(better: str, worse: str) -> None:
    assert evaluate(parse_cards(better)).best == evaluate(parse_cards(worse)).best
    assert strength(better) > strength(worse)


def test_a_complete_tie_has_the_same_strength() -> None:
    assert strength("Ah Ad Kc 7s 3d") == strength("Ac As Kd 7h 3c")


@pytest.mark.parametrize(
    ("cards", "ranks"),
    [
        ("3d 7s Kc Ad Ah", (12, 12, 11, 5, 1)),
        ("2c 8d 8h As Ac", (12, 12, 6, 6, 0)),
        ("2c 9d 7h 7s 7c", (5, 5, 5, 7, 0)),
        ("As 7d 7h 7s 7c", (5, 5, 5, 5, 12)),
        ("As 7d 7h 7s Ac", (5, 5, 5, 12, 12)),
        ("2d 5d 9d Jd Kd", (11, 9, 7, 3, 0)),
        ("2d 5c 9d Jd Kd", (11, 9, 7, 3, 0)),
        ("4d 5c 6d 7d 8d", (6, 5, 4, 3, 2)),
    ],
)
def test_the_best_ranks_come_most_significant_first(cards: str, ranks: tuple[int, ...]) -> None:
    assert evaluate(parse_cards(cards)).best_ranks == ranks


# ------------------------------------------------------------------------------------ six cards


@pytest.mark.parametrize(
    ("six", "five"),
    [
        ("As Ad 8s 8d 2s 2d", "As Ad 8s 8d 2s"),
        ("As Ad 8s 8d 2s 3d", "As Ad 8s 8d 3d"),
        ("7s 7h 7d As Ad Kc", "7s 7h 7d As Ad"),
        ("As Ah Ad Ks Kh Kd", "As Ah Ad Ks Kh"),
        ("7s 7h 7d 7c Ad Ac", "7s 7h 7d 7c Ad"),
        ("4s 5h 6d 7c 8s 9d", "5h 6d 7c 8s 9d"),
        ("As 2h 3d 4c 5s 6d", "2h 3d 4c 5s 6d"),
        ("Ah 2h 3h 4h 6h 5s", "Ah 2h 3h 4h 6h"),
        ("Kh 2h 3h 4h 6h 9h", "Kh 3h 4h 6h 9h"),
        ("9h Th Jh Qh Kh Ah", "Th Jh Qh Kh Ah"),
        ("2c 2d Ah Ks Qc 9d", "2c 2d Ah Ks Qc"),
        ("Ah Kc 5d 4s 3h 9c", "Ah Kc 5d 4s 9c"),
        ("Qh Jc 9d 4s 3h 2c", "Qh Jc 9d 4s 3h"),
    ],
)
def test_a_six_card_hand_plays_its_best_five(six: str, five: str) -> None:
    best_of_six, best_of_five = evaluate(parse_cards(six)), evaluate(parse_cards(five))
    assert (best_of_six.best, best_of_six.strength, best_of_six.best_ranks) == (
        best_of_five.best,
        best_of_five.strength,
        best_of_five.best_ranks,
    )


@given(st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True))
def test_the_best_five_are_the_strongest_of_the_six_choices(cards: list[Card]) -> None:
    fives = [evaluate(cards[:place] + cards[place + 1 :]).strength for place in range(6)]
    assert evaluate(cards).strength == max(fives)


# ------------------------------------------------------------------------------------ the whole order


def test_all_kinds_of_five_cards_stand_in_the_order_that_brute_force_finds() -> None:
    hands = [*unsuited_hands(5), *suited_hands(5)]
    ours = {evaluate(cards).strength: (evaluate(cards).best, evaluate(cards).best_ranks) for cards in hands}
    theirs = sorted(map(oracle_strength, hands))
    assert len(ours) == len(hands) == 7462
    assert [ours[number] for number in sorted(ours)] == [
        (oracle.LOW_FIRST[level], tuple(12 if rank == 1 else rank - 2 for rank in ranks))
        for level, ranks in theirs
    ]


@given(HANDS, HANDS)
def test_two_hands_compare_as_brute_force_compares_them(one: list[Card], other: list[Card]) -> None:
    ours = evaluate(one).strength, evaluate(other).strength
    theirs = oracle_strength(one), oracle_strength(other)
    assert (ours[0] > ours[1], ours[0] == ours[1]) == (theirs[0] > theirs[1], theirs[0] == theirs[1])


# ------------------------------------------------------------------------------------ what is no hand


@pytest.mark.parametrize("count", [0, 1, 4, 7, 52])
def test_only_five_or_six_cards_are_a_hand(count: int) -> None:
    with pytest.raises(WrongNumberOfCards, match=rf"^a hand has five or six cards, not {count}$"):
        evaluate(DECK[:count])
    with pytest.raises(WrongNumberOfCards):
        evaluate_many([DECK[:5], DECK[:count]])


@pytest.mark.parametrize("size", [5, 6])
@pytest.mark.parametrize("suits", ["hhhhhh", "cdhscd"])
def test_no_card_may_come_twice(size: int, suits: str) -> None:
    hand = [parse_card(rank + suit) for rank, suit in zip("A8642J"[:size], suits, strict=False)]
    for first in range(size):
        for again in range(first + 1, size):
            cards = list(hand)
            cards[again] = cards[first]
            with pytest.raises(RepeatedCard, match=r"^[A8642J][cdhs] comes twice in one hand$") as caught:
                evaluate(cards)
            assert caught.value.card == cards[first]
            with pytest.raises(RepeatedCard):
                evaluate_many([hand, cards])


@given(st.lists(st.sampled_from(DECK[:9]), min_size=5, max_size=6))
def test_a_hand_is_judged_or_refused_never_mistaken(cards: list[Card]) -> None:
    if len(set(cards)) < len(cards):
        with pytest.raises(RepeatedCard):
            evaluate(cards)
    else:
        assert evaluate(cards).best == oracle.best(list(map(card_text, cards)))


def test_a_refused_hand_is_a_value_error() -> None:
    assert issubclass(WrongNumberOfCards, InvalidHand)
    assert issubclass(RepeatedCard, InvalidHand)
    assert issubclass(InvalidHand, ValueError)


# ------------------------------------------------------------------------------------ many hands at once


@given(st.lists(HANDS, max_size=8), st.sampled_from(["two_straights", "straight_and_pair"]))
def test_many_hands_are_each_judged_as_alone(
    hands: list[list[Card]], paired_straight: PairedStraight
) -> None:
    together = evaluate_many(hands, paired_straight)
    assert together == [evaluate(cards, paired_straight) for cards in hands]


def test_an_evaluation_cannot_be_changed() -> None:
    evaluation = evaluate(parse_cards("Ah Ad Kc 7s 3d"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        evaluation.odds = 100  # type: ignore[misc]  # that it is refused is the point


@pytest.mark.parametrize("suit", SUITS)
def test_a_flush_is_five_or_six_of_one_suit(suit: str) -> None:
    suited = [parse_card(rank + suit) for rank in "QJ9742"]
    other = [
        parse_card(rank + different) for rank, different in zip("A8", SUITS.replace(suit, ""), strict=False)
    ]
    assert [evaluate(suited).best, evaluate(suited[:5]).best] == ["flush", "flush"]
    assert evaluate([*suited[:5], other[0]]).best == "flush"
    assert [evaluate([*suited[:4], *other]).best, evaluate([*suited[:4], other[0]]).best] == ["nothing"] * 2
