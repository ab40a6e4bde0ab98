"""Face-down cards and their salts: beside the events, never in them, until they are opened.

Keyed by commitment, so that a superset does no harm: whoever asks must know the commitment from the events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_core.cards import Card, card_text
from rules_core.commitment import commitment


@dataclass(frozen=True, slots=True)
class SealedCard:
    """A face-down card and its salt (32 hex digits). Its repr shows neither."""

    card: Card = field(repr=False)
    salt: str = field(repr=False)


class SealMissingError(LookupError):
    """A decision needs a face-down card whose opening is not at hand: a broken invariant of the caller."""


def commitment_of(card: Card, salt: str) -> str:
    """The commitment to a card under its salt, 32 hex digits (CONTRACTS.md section 2)."""
    return commitment(card_text(card), bytes.fromhex(salt))


class Sealed:
    """The face-down cards of a round that the holder may know."""

    __slots__ = ("_cards",)

    def __init__(self) -> None:
        self._cards: dict[str, SealedCard] = {}

    def add(self, card: Card, salt: str) -> str:
        """Keep a card; returns its commitment."""
        made = commitment_of(card, salt)
        self._cards[made] = SealedCard(card, salt)
        return made

    def open(self, commitment: str) -> SealedCard:
        """The card behind a commitment; SealMissingError if it is not known here."""
        found = self._cards.get(commitment)
        if found is None:
            msg = f"no opening for commitment {commitment[:8]}…; give the sealed cards of this round"
            raise SealMissingError(msg)
        return found

    def cards_of(self, commitments: Iterable[str]) -> list[Card]:
        """The cards behind these commitments; SealMissingError if one is not known here."""
        try:
            return [self._cards[commitment].card for commitment in commitments]
        except KeyError as error:
            return [self.open(error.args[0]).card]

    def knows(self, commitment: str) -> bool:
        """Whether the card behind a commitment is known here."""
        return commitment in self._cards

    def __len__(self) -> int:
        return len(self._cards)

    def __repr__(self) -> str:
        return f"Sealed({len(self._cards)} cards)"
