"""Every combination that some cards hold, and the one or two that are paid (RULES.md section 3).

Written to be read beside the rule, not for speed: `evaluation` asks here once for each kind of hand and then
remembers the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Final, NamedTuple

from rules_core.cards import ACE, KING, Card, rank_of, suit_of
from rules_core.hands.ranking import CATEGORY, ODDS_OF_CATEGORY

if TYPE_CHECKING:  # rulesets name hands, so that only the type is taken from there
    from rules_core.rulesets.model import PairedStraight

_WHEEL: Final = (ACE, 3, 2, 1, 0)
"""A-5-4-3-2, the one straight with a low ace; its top is the five."""

_STRAIGHTS: Final = frozenset(CATEGORY[name] for name in ("royal_flush", "straight_flush", "straight"))

_Groups = dict[int, list[Card]]
"""The cards of each rank."""


class Combination(NamedTuple):
    """Some of a hand's cards that are paid together. Tuples compare category first, then ranks."""

    category: int
    """As in `ranking.CATEGORY`."""
    ranks: tuple[int, ...]
    """What tells it from another one of its category, most significant first: the rank of a pair, three or
    four of a kind; both ranks of two pair, the higher first; of a full house, three of a kind first; the top
    of a straight; the five of a flush; ace and king."""
    cards: frozenset[Card]
    """Its own cards only: the pair, not its kickers."""

    @property
    def odds(self) -> int:
        """What it pays on the bet, to one."""
        return ODDS_OF_CATEGORY[self.category]


def combinations_of(cards: Sequence[Card]) -> list[Combination]:
    """All combinations among five or six distinct cards, the highest first."""
    groups: _Groups = {}
    for card in cards:
        groups.setdefault(rank_of(card), []).append(card)
    found = [*_of_a_kind(groups), *_ace_kings(groups)]
    if len(groups) >= 5:  # straights and flushes are five different ranks
        found += _straights_and_flushes(cards)
    return sorted(found, key=_height, reverse=True)


def best_ranks(cards: Sequence[Card], highest: Combination | None) -> tuple[int, ...]:
    """The ranks of the best five, most significant first: the highest combination, then its kickers.

    The five come from the rule itself (RULES.md section 2): category first, then ranks, then kickers, so the
    best five hold the highest combination and the highest of the other cards. A low ace comes last.
    """
    if highest is None:
        return tuple(sorted(map(rank_of, cards), reverse=True)[:5])
    if highest.category in _STRAIGHTS:
        top = highest.ranks[0]
        return tuple((top - step) % 13 for step in range(5))
    own = [rank_of(card) for card in highest.cards]
    kickers = sorted((rank_of(card) for card in cards if card not in highest.cards), reverse=True)
    ordered = [rank for rank in highest.ranks for _ in range(own.count(rank))]
    return tuple((ordered + kickers)[:5])


def paid_combinations(
    found: Sequence[Combination], paired_straight: PairedStraight
) -> tuple[Combination, ...]:
    """The choice that is paid, the highest first: none, one or two. `found` are all, the highest first.

    The greatest sum of odds; equal sums: the higher first combination, then the higher second.
    `paired_straight` decides whether two straights of the same five ranks are both payable.
    """
    if not found:
        return ()
    couples = (
        (first, second)
        for first, second in combinations(found, 2)
        if _different(first, second)
        and (paired_straight == "two_straights" or not _same_straight(first, second))
    )
    # Couples come in the order of their heights, and of equal sums `max` takes the first.
    return max([(found[0],), *couples], key=_sum_of_odds)


def _different(first: Combination, second: Combination) -> bool:
    """Each holds at least one card that the other lacks."""
    return not (first.cards <= second.cards or second.cards <= first.cards)


def _same_straight(first: Combination, second: Combination) -> bool:
    """Straights, straight flushes or royals of the same five ranks: a straight whose one rank is paired."""
    return first.category in _STRAIGHTS and second.category in _STRAIGHTS and first.ranks == second.ranks


def _height(combination: Combination) -> tuple[int, tuple[int, ...]]:
    return combination.category, combination.ranks


def _sum_of_odds(choice: tuple[Combination, ...]) -> int:
    return sum(combination.odds for combination in choice)


def _of_a_kind(groups: Mapping[int, Sequence[Card]]) -> Iterator[Combination]:
    """Pairs, three and four of a kind, and what two of them make together."""
    pairs = list(_equal_ranks("one_pair", groups, 2))
    threes = list(_equal_ranks("three_of_a_kind", groups, 3))
    yield from pairs
    yield from threes
    yield from _equal_ranks("four_of_a_kind", groups, 4)
    for one, other in combinations(pairs, 2):
        if one.ranks != other.ranks:
            high, low = max(one.ranks, other.ranks), min(one.ranks, other.ranks)
            yield Combination(CATEGORY["two_pair"], high + low, one.cards | other.cards)
    for three, pair in product(threes, pairs):
        if three.ranks != pair.ranks:
            yield Combination(CATEGORY["full_house"], three.ranks + pair.ranks, three.cards | pair.cards)


def _equal_ranks(name: str, groups: Mapping[int, Sequence[Card]], size: int) -> Iterator[Combination]:
    for rank, group in groups.items():
        for chosen in combinations(group, size):
            yield Combination(CATEGORY[name], (rank,), frozenset(chosen))


def _ace_kings(groups: Mapping[int, Sequence[Card]]) -> Iterator[Combination]:
    for ace, king in product(groups.get(ACE, ()), groups.get(KING, ())):
        yield Combination(CATEGORY["ace_king"], (ACE, KING), frozenset((ace, king)))


def _straights_and_flushes(cards: Sequence[Card]) -> Iterator[Combination]:
    for five in combinations(sorted(cards, reverse=True), 5):
        ranks = tuple(map(rank_of, five))
        top = _straight_top(ranks)
        flush = len(set(map(suit_of, five))) == 1
        if top is not None:
            name = "straight" if not flush else "straight_flush" if top < ACE else "royal_flush"
            yield Combination(CATEGORY[name], (top,), frozenset(five))
        elif flush:
            yield Combination(CATEGORY["flush"], ranks, frozenset(five))


def _straight_top(ranks: tuple[int, ...]) -> int | None:
    """The highest rank of the straight that five ranks, highest first, make; None when they make none."""
    if ranks == _WHEEL:
        return _WHEEL[1]
    return ranks[0] if ranks == tuple(range(ranks[0], ranks[0] - 5, -1)) else None
