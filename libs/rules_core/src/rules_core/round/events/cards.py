"""Events of the cards (RULES.md sections 4.2, 4.4, 4.8 and 7; CONTRACTS.md section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rules_core.round.events.fields import CardText, Commitment, ConfirmedBy, PlaceName, ScanId, Source


@dataclass(frozen=True, slots=True)
class CardScanned:
    """A card was laid in its place: face up with its card, face down with its commitment alone.

    In manual mode a face-down card has neither; it is recorded when it is opened.
    """

    place: PlaceName
    scan_id: ScanId
    source: Annotated[Source, "Read by the shoe, or typed in by the dealer."]
    card: Annotated[CardText | None, "The card, when it lies face up."] = None
    commitment: Annotated[Commitment | None, "Of a card that lies face down."] = None


@dataclass(frozen=True, slots=True)
class CardRescanned:
    """A misread card was read again before the cards were confirmed; an old commitment stays (section 7)."""

    place: PlaceName
    scan_id: ScanId
    source: Source
    card: Annotated[CardText | None, "The card, when it lies face up."] = None
    commitment: Annotated[Commitment | None, "Of a card that lies face down."] = None


@dataclass(frozen=True, slots=True)
class CardBurned:
    """A card came out but was not laid in a place; it is gone from the deck (RULES.md section 7)."""

    scan_id: ScanId
    card: Annotated[CardText | None, "The card if it was read; null: it counts only as gone."] = None


@dataclass(frozen=True, slots=True)
class CardOpening:
    """A face-down card made public, with what proves that it is the one that was laid."""

    place: PlaceName
    card: CardText
    committed: Annotated[
        bool, "False in manual mode: the card was first recorded here, nothing proves it."
    ] = True
    salt: Annotated[str | None, "The card salt, 32 hex digits; absent where not committed."] = None
    commitment: Annotated[
        Commitment | None, "The commitment that this opens; absent where not committed."
    ] = None
    superseded: Annotated[bool, "True for a misread that a rescan replaced."] = False


@dataclass(frozen=True, slots=True)
class CardsRevealed:
    """Face-down cards were opened: blind or private boxes at the showdown, all the rest at the end."""

    openings: Annotated[tuple[CardOpening, ...], "In the order of the places."]
    final: Annotated[bool, "True for the last one of a round: everything not yet opened."]
    confirmed_by: ConfirmedBy = None


@dataclass(frozen=True, slots=True)
class DealerRevealed:
    """The dealer's hand was opened (RULES.md section 4.7)."""

    openings: Annotated[tuple[CardOpening, ...], "The dealer's four face-down cards."]
    hand: Annotated[str, "Name of the dealer's hand (CONTRACTS.md section 1)."]
    qualified: Annotated[bool, "Whether it is a game: Ace-King or better."]
    confirmed_by: ConfirmedBy = None


@dataclass(frozen=True, slots=True)
class DealerRequalified:
    """The dealer's highest card was replaced after a purchase; also when it stayed no game (section 4.8)."""

    cards: Annotated[tuple[str, ...], "The dealer's five in the order dealt, after the replacement."]
    hand: Annotated[str, "Name of the hand now."]
    qualified: Annotated[bool, "Whether it is a game now, for the boxes that bought."]
    confirmed_by: Annotated[str, "Who confirmed the draws: `dealer:<id>` or `system`."]
