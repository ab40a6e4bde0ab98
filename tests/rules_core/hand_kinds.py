"""One hand of every kind: its ranks, and which of them share a suit, decide what a hand is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

from rules_core.cards import RANKS, SUITS, Card, parse_card


def unsuited_hands(size: int) -> Iterator[tuple[Card, ...]]:
    """A hand of each multiset of `size` ranks, no five cards of one suit."""
    for ranks in combinations_with_replacement(RANKS, size):
        times = Counter(ranks)
        if max(times.values()) <= len(SUITS):
            yield tuple(
                parse_card(rank + suit)
                for place, (rank, count) in enumerate(times.items())
                for suit in (SUITS[:count] if count > 1 else "hs"[place % 2])
            )


def suited_hands(size: int) -> Iterator[tuple[Card, ...]]:
    """A hand of each kind with five or six hearts."""
    for ranks in combinations(RANKS, size):
        yield tuple(parse_card(rank + "h") for rank in ranks)
    if size == 6:
        for ranks in combinations(RANKS, 5):
            for other in RANKS:
                yield (*(parse_card(rank + "h") for rank in ranks), parse_card(other + "s"))
