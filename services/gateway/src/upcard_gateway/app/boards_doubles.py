"""Which two combinations can be paid together, found by asking the rules for every kind of six cards.

Nobody writes this table by hand: houses that do leave rows out that their own hands can make (RULES.md
section 9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Final

from rules_core.cards import Card
from rules_core.hands import CATEGORY, evaluate
from rules_core.rulesets.model import PairedStraight

Pair = tuple[str, str]
"""The names of both, the higher first."""

_RANKS: Final = (12, 11, 10, 9, 8, 7, 4, 3, 2, 1, 0)
"""Ace to nine and six to two: both ends, where an ace is high and low, and runs of six from each. No other
rank adds a pair of combinations: a test asks for all thirteen."""
_SUITS: Final = 4
_CARDS: Final = 6
_FLUSH: Final = 5


@cache
def double_combinations(paired_straight: PairedStraight) -> tuple[Pair, ...]:
    """Every pair of combinations that some six cards are paid for, the highest first.

    Takes about a second the first time: ask for it away from the event loop.
    """
    return doubles_among(_RANKS, paired_straight)


def doubles_among(ranks: Sequence[int], paired_straight: PairedStraight) -> tuple[Pair, ...]:
    """The same of the hands that can be made of these ranks alone, 0..12 for 2..A."""
    found: set[Pair] = set()
    for cards in _every_kind_of_hand(ranks):
        match evaluate(cards, paired_straight).combinations:
            case (first, second):
                found.add((first, second))
            case _:
                pass
    return tuple(sorted(found, key=lambda pair: (CATEGORY[pair[0]], CATEGORY[pair[1]]), reverse=True))


def _every_kind_of_hand(of_ranks: Sequence[int]) -> Iterator[tuple[Card, ...]]:
    """Six cards of each multiset of ranks: without a flush, and with each choice of suited ranks.

    What a hand is worth depends on nothing else: suits are equal.
    """
    for ranks in combinations_with_replacement(of_ranks, _CARDS):
        counts = {rank: ranks.count(rank) for rank in ranks}
        if max(counts.values()) > _SUITS:
            continue
        yield _unsuited(ranks)
        if len(counts) < _FLUSH:
            continue
        for left_out in range(_CARDS):
            suited = ranks[:left_out] + ranks[left_out + 1 :]
            if len(set(suited)) == _FLUSH:
                yield (*(_card(rank, 0) for rank in suited), _card(ranks[left_out], 1))
        if len(counts) == _CARDS:
            yield tuple(_card(rank, 0) for rank in ranks)


def _unsuited(ranks: tuple[int, ...]) -> tuple[Card, ...]:
    """The ranks in suits of which none comes five times, equal ranks in different ones."""
    return tuple(_card(rank, place % _SUITS) for place, rank in enumerate(ranks))


def _card(rank: int, suit: int) -> Card:
    return Card(rank * _SUITS + suit)
