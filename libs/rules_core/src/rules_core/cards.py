"""The 52 cards: a small integer each inside the program, two characters outside (CONTRACTS.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NewType

Card = NewType("Card", int)
"""`rank * 4 + suit`, 0..51; rank 0..12 stands for 2..A and suit 0..3 for clubs, diamonds, hearts, spades."""

RANKS: Final = "23456789TJQKA"
"""The ranks, lowest first; a rank's place in this text is its number."""

SUITS: Final = "cdhs"
"""The suits; they are equal, the order only numbers them."""

ACE: Final = 12
KING: Final = 11

_SHOWN_CHARACTERS_MAX: Final = 12

DECK: Final[tuple[Card, ...]] = tuple(Card(number) for number in range(52))
"""Every card once, in the order of its number."""

CARD_TEXTS: Final[tuple[str, ...]] = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""The two characters of each card, indexed by the card."""

CARD_OF: Final[Mapping[str, Card]] = {text: Card(number) for number, text in enumerate(CARD_TEXTS)}
"""The card of each two-character text."""


class InvalidCard(ValueError):
    """A text that is not a card; `text` is what was given."""

    def __init__(self, text: str) -> None:
        shown = repr(text[:_SHOWN_CHARACTERS_MAX]) + ("…" if len(text) > _SHOWN_CHARACTERS_MAX else "")
        super().__init__(f"{shown} is not a card: a rank of {RANKS} and a suit of {SUITS} are expected")
        self.text = text


def parse_card(text: str) -> Card:
    """The card written as `text`, for example `Ah`; exactly two characters, case matters.

    Raises InvalidCard for every other text.
    """
    card = CARD_OF.get(text)
    if card is None:
        raise InvalidCard(text)
    return card


def parse_cards(text: str) -> tuple[Card, ...]:
    """The cards written in `text` with white space between them, in their order; none for a blank text.

    Says nothing about how many there are, or whether one comes twice. Raises InvalidCard for the first
    word that is not a card.
    """
    return tuple(parse_card(word) for word in text.split())


def card_text(card: Card) -> str:
    """The two characters of `card`; `parse_card` gives the card back."""
    return CARD_TEXTS[card]


def rank_of(card: Card) -> int:
    """The rank of `card`, 0..12 for 2..A."""
    return card >> 2


def suit_of(card: Card) -> int:
    """The suit of `card`, 0..3 for clubs, diamonds, hearts, spades."""
    return card & 3
