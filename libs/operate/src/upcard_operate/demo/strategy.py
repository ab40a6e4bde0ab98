"""What a sensible player does: the tips that the first house gives its players, in our own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rules_core.cards import parse_card
from rules_core.hands import evaluate

_RANKS: Final = "23456789TJQKA"
_STRONG: Final = frozenset({"three_of_a_kind", "straight", "flush", "full_house", "four_of_a_kind"})


@dataclass(frozen=True, slots=True)
class Advice:
    """An option, and which of the five cards to exchange."""

    kind: Literal["bet", "sixth", "exchange", "fold"]
    positions: tuple[int, ...] = ()


BET: Final = Advice("bet")
SIXTH: Final = Advice("sixth")
FOLD: Final = Advice("fold")


def advise(cards: Sequence[str], up_card: str) -> Advice:
    """The option for a box's five cards against the dealer's up-card; texts such as `Qs`."""
    hand = evaluate(tuple(parse_card(card) for card in cards)).best
    ranks = [_RANKS.index(card[0]) for card in cards]
    seen = _RANKS.index(up_card[0])
    match hand:
        case "royal_flush" | "straight_flush" | "four_of_a_kind" | "two_pair":
            return BET
        case "straight" | "flush":
            return SIXTH
        case "full_house":
            return BET if seen in ranks else SIXTH
        case "three_of_a_kind":
            return _with_the_rest(ranks, seen, best=3)
        case "one_pair":
            return SIXTH if _draws(cards) else _with_the_rest(ranks, seen, best=2)
        case "ace_king":
            return SIXTH if _draws(cards) else Advice("exchange", _all_but(ranks, {11, 12}))
        case _:
            return SIXTH if _draws(cards) else FOLD


def bets_at_last(hand: str | None) -> bool:
    """Whether a box that bought cards bets: any combination will do."""
    return hand not in {None, "nothing"}


def worth_insuring(hand: str | None) -> bool:
    """Whether a hand would be a pity against a dealer without a game."""
    return hand in _STRONG


def _with_the_rest(ranks: list[int], seen: int, *, best: int) -> Advice:
    """Keep the pair or the three, and exchange the rest where the dealer shows nothing of it."""
    counts = Counter(ranks)
    kept = max((rank for rank, count in counts.items() if count == best), default=0)
    keeps_all = seen == kept if best == 3 else kept >= seen
    return BET if keeps_all else Advice("exchange", _all_but(ranks, {kept}))


def _all_but(ranks: list[int], kept: set[int]) -> tuple[int, ...]:
    return tuple(place for place, rank in enumerate(ranks) if rank not in kept)


def _draws(cards: Sequence[str]) -> bool:
    """Four to a flush, or four in a row that can grow at both ends."""
    if max(Counter(card[1] for card in cards).values()) == 4:
        return True
    ranks = {_RANKS.index(card[0]) for card in cards}
    return any(set(range(low, low + 4)) <= ranks and low > 0 and low + 4 < 13 for low in range(13))
