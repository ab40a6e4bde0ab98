"""What an explanation says, without a language: sentences as a slug and the values that they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rules_core.cards import Card
from rules_core.settlement.model import WagerName


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in minor units."""

    minor: int


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards, in the order in which they are to be named."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """A rank alone, 0..12 for 2..A."""

    rank: int


@dataclass(frozen=True, slots=True)
class Holding:
    """A hand or combination: its name (`HAND_NAMES`) and the ranks that tell it from others of that name.

    Ranks as in `Evaluation.combination_ranks`; of nothing, the highest card.
    """

    name: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Wager:
    """The name of a wager."""

    name: WagerName


Value: TypeAlias = int | str | Money | Cards | Rank | Holding | Wager
"""What a sentence speaks of: plain numbers and texts, and what each language writes in its own way."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing to say. `slug` is the key of its template in a catalogue, `values` fill that template."""

    slug: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class BoxExplanation:
    """All that is to be said about one player's box."""

    box: int
    player: str
    heading: Sentence
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A settlement, explained: what concerns the whole table, then box by box in the settlement's order."""

    table: tuple[Sentence, ...]
    boxes: tuple[BoxExplanation, ...]

    def for_player(self, player: str) -> Explanation:
        """The part that one player may be sent: the table and the player's own boxes."""
        return Explanation(self.table, tuple(box for box in self.boxes if box.player == player))


def sentence(slug: str, **values: Value) -> Sentence:
    """Short for a `Sentence`."""
    return Sentence(slug, values)
