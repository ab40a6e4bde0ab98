"""The hands, their order and their odds (RULES.md sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

HAND_NAMES: Final = (
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
    "three_of_a_kind",
    "two_pair",
    "one_pair",
    "ace_king",
    "nothing",
)
"""The names of the hands, highest first (RULES.md section 2, CONTRACTS.md section 1)."""

ODDS: Final[Mapping[str, int]] = {
    "royal_flush": 100,
    "straight_flush": 50,
    "four_of_a_kind": 20,
    "full_house": 7,
    "flush": 5,
    "straight": 4,
    "three_of_a_kind": 3,
    "two_pair": 2,
    "one_pair": 1,
    "ace_king": 1,
    "nothing": 0,
}
"""What each combination pays on the bet, to one (RULES.md section 3)."""

CATEGORY: Final[Mapping[str, int]] = {name: number for number, name in enumerate(reversed(HAND_NAMES))}
"""The place of each hand in the order: higher is better, nothing is 0."""

ODDS_OF_CATEGORY: Final = tuple(ODDS[name] for name in reversed(HAND_NAMES))
"""`ODDS` by category."""

NAME_OF_CATEGORY: Final = tuple(reversed(HAND_NAMES))
"""The name of each category."""

_RANKS: Final = 13
_WEAKEST_OF_A_CATEGORY: Final = (0, 0, 0, 0, 0)


def strength(category: int, best_ranks: Sequence[int]) -> int:
    """One number for a best five: greater is better, equal only for a complete tie, kickers included.

    `best_ranks` are the five ranks, most significant first; they are read as the digits of a number to the
    base of 13 below the category, so that numbers compare as RULES.md section 2 compares hands.
    """
    number = category
    for rank in best_ranks:
        number = number * _RANKS + rank
    return number


GAME_STRENGTH: Final = strength(CATEGORY["ace_king"], _WEAKEST_OF_A_CATEGORY)
"""No weaker hand is a game: Ace-King or better qualifies (RULES.md section 1, game)."""
