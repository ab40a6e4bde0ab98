"""Hands by brute force: every subset of the cards is tried (RULES.md sections 2 and 3).

A card is its text, "Ah". Ranks count from 2 to 14, the ace is 14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
RANK_OF = {card: 2 + RANKS.index(card[0]) for card in DECK}
REMEMBERED = 100_000  # hands and subsets: bounds the memory of long runs
ACE, KING, SEVEN, FIVE = 14, 13, 7, 5
LOW_FIRST = (
    "nothing",
    "ace_king",
    "one_pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)
ODDS = {
    "ace_king": 1,
    "one_pair": 1,
    "two_pair": 2,
    "three_of_a_kind": 3,
    "straight": 4,
    "flush": 5,
    "full_house": 7,
    "four_of_a_kind": 20,
    "straight_flush": 50,
    "royal_flush": 100,
}
STRAIGHTS = ("straight", "straight_flush", "royal_flush")


class Combination(NamedTuple):
    """Cards that make a combination, with nothing but its own cards."""

    name: str
    cards: frozenset[str]


def rank(card: str) -> int:
    """2 to 14."""
    return RANK_OF[card]


def level(name: str) -> int:
    """How high a hand's name stands; nothing is 0."""
    return LOW_FIRST.index(name)


def top_of_straight(cards: Sequence[str]) -> int | None:
    """The highest rank of five cards in a row (5 for A-2-3-4-5), or None."""
    ranks = sorted(map(rank, cards))
    if ranks == [2, 3, 4, 5, ACE]:
        return FIVE
    in_a_row = ranks == list(range(ranks[0], ranks[0] + 5))
    return ranks[-1] if in_a_row else None


@lru_cache(REMEMBERED)
def name_of(cards: tuple[str, ...]) -> str | None:
    """The combination that these cards make, every one of them belonging to it; None when they make none."""
    ranks = [rank(card) for card in cards]
    alike = sorted(Counter(ranks).values())
    if len(cards) < 5:
        if alike == [1, 1] and set(ranks) == {ACE, KING}:
            return "ace_king"
        names = {(2,): "one_pair", (3,): "three_of_a_kind", (4,): "four_of_a_kind", (2, 2): "two_pair"}
        return names.get(tuple(alike))
    if alike == [2, 3]:
        return "full_house"
    top = top_of_straight(cards)
    one_suit = len({card[1] for card in cards}) == 1
    if top and one_suit:
        return "royal_flush" if top == ACE else "straight_flush"
    if one_suit:
        return "flush"
    return "straight" if top else None


def every_combination(cards: Iterable[str]) -> list[Combination]:
    """Every subset of two to five cards that is a combination."""
    found = []
    cards = sorted(cards)  # the same subset always looks the same, which helps the cache
    for size in (2, 3, 4, 5):
        for subset in combinations(cards, size):
            name = name_of(subset)
            if name:
                found.append(Combination(name, frozenset(subset)))
    return found


def ranks_by_weight(cards: Sequence[str]) -> tuple[int, ...]:
    """The ranks in the order in which they are compared: pairs before kickers, high before low."""
    top = top_of_straight(cards) if len(cards) == 5 else None
    if top:
        return tuple(range(top, top - 5, -1))
    ranks = [rank(card) for card in cards]
    return tuple(sorted(ranks, key=lambda one: (ranks.count(one), one), reverse=True))


@lru_cache(REMEMBERED)
def strength_of_five(five: frozenset[str]) -> tuple[int, tuple[int, ...]]:
    """Comparable: the level of the best combination in these five cards, then the ranks, kickers included."""
    levels = [level(combination.name) for combination in every_combination(five)]
    return max(levels, default=0), ranks_by_weight(tuple(five))


@lru_cache(REMEMBERED)
def strength(hand: frozenset[str]) -> tuple[int, tuple[int, ...]]:
    """The strongest of all choices of five cards."""
    return max(strength_of_five(frozenset(five)) for five in combinations(hand, 5))


def best(hand: Sequence[str]) -> str:
    """The name of the best five cards."""
    return LOW_FIRST[strength(frozenset(hand))[0]]


def qualifies(hand: Sequence[str]) -> bool:
    """Ace-King or better: for a dealer, a game."""
    return best(hand) != "nothing"


def different(one: Combination, other: Combination, paired_straight: str) -> bool:
    """Each holds a card that the other lacks; two straights of the same ranks only where a house says so."""
    if paired_straight == "straight_and_pair" and one.name in STRAIGHTS and other.name in STRAIGHTS:
        same_ranks = {rank(card) for card in one.cards} == {rank(card) for card in other.cards}
        if same_ranks:
            return False
    return bool(one.cards - other.cards) and bool(other.cards - one.cards)


@lru_cache(REMEMBERED)
def height(combination: Combination) -> tuple[int, tuple[int, ...]]:
    """Comparable: which of two combinations is the higher."""
    return level(combination.name), ranks_by_weight(tuple(combination.cards))


@lru_cache(REMEMBERED)
def _paid(hand: frozenset[str], paired_straight: str) -> tuple[Combination, ...]:
    found = every_combination(hand)
    choices: list[tuple[Combination, ...]] = [()]
    choices += [(one,) for one in found]
    choices += [
        (one, other) for one, other in combinations(found, 2) if different(one, other, paired_straight)
    ]
    high_first = [tuple(sorted(choice, key=height, reverse=True)) for choice in choices]
    return max(
        high_first,
        key=lambda choice: (sum(ODDS[one.name] for one in choice), [height(one) for one in choice]),
    )


def paid(hand: Sequence[str], paired_straight: str = "two_straights") -> tuple[Combination, ...]:
    """The combinations that are paid, at most two, high to low."""
    return _paid(frozenset(hand), paired_straight)


def odds(hand: Sequence[str], paired_straight: str = "two_straights") -> int:
    """The sum of the odds of the paid combinations."""
    return sum(ODDS[one.name] for one in paid(hand, paired_straight))
