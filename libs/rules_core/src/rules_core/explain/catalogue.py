"""From sentences to text: the same steps for every language. A language is a `Catalogue` of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules_core.cards import Card
from rules_core.characters import printable
from rules_core.explain.sentence import (
    BoxExplanation,
    Cards,
    Explanation,
    Holding,
    Money,
    Rank,
    Sentence,
    Value,
    Wager,
    sentence,
)
from rules_core.settlement.model import WagerName

SCALE_MAX = 8
"""Most digits after the point that an amount is shown with."""


@dataclass(frozen=True, slots=True)
class Unit:
    """How amounts are shown: in minor units, or with `scale` digits after the point and a currency's code."""

    scale: int | None = None
    currency: str = ""

    def __post_init__(self) -> None:
        if self.scale is not None and not 0 <= self.scale <= SCALE_MAX:
            raise ValueError(f"scale must be 0 to {SCALE_MAX}, not {self.scale}")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The words of one language."""

    sentences: Mapping[str, str]
    """Template by slug, with the names of the values in braces."""
    holding: Callable[[Holding], str]
    """A hand or combination, as it stands inside a sentence."""
    rank: Callable[[int], str]
    """A rank, 0..12."""
    card: Callable[[Card], str]
    """A card."""
    listed: Callable[[Sequence[str]], str]
    """Several cards, as a list inside a sentence."""
    wagers: Mapping[WagerName, str]
    """The wagers' names, as they begin a sentence."""
    amount: Callable[[int, Unit], str]
    """A sum of minor units in the unit to be shown."""


def text_of(explanation: Explanation, catalogue: Catalogue, unit: Unit) -> str:
    """The whole explanation: a paragraph for the table and one for each box, a line for each sentence."""
    table = [line_of(said, catalogue, unit) for said in explanation.table]
    if unit.scale is None:
        table.append(line_of(sentence("amounts_in_minor_units"), catalogue, unit))
    paragraphs = [table, *(list(_box_lines(box, catalogue, unit)) for box in explanation.boxes)]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines) + "\n"


def _box_lines(box: BoxExplanation, catalogue: Catalogue, unit: Unit) -> Iterator[str]:
    yield line_of(box.heading, catalogue, unit)
    for said in box.sentences:
        yield line_of(said, catalogue, unit)


def line_of(said: Sentence, catalogue: Catalogue, unit: Unit) -> str:
    """One sentence in words."""
    words = {name: _words(value, catalogue, unit) for name, value in said.values.items()}
    return catalogue.sentences[said.slug].format_map(words)


def _words(value: Value, catalogue: Catalogue, unit: Unit) -> str:
    if isinstance(value, Money):
        return catalogue.amount(value.minor, unit)
    if isinstance(value, Cards):
        return catalogue.listed([catalogue.card(card) for card in value.cards])
    if isinstance(value, Rank):
        return catalogue.rank(value.rank)
    if isinstance(value, Holding):
        return catalogue.holding(value)
    if isinstance(value, Wager):
        return catalogue.wagers[value.name]
    # A text, say a player's id, may hold what begins a line or moves a cursor.
    return printable(value) if isinstance(value, str) else str(value)
