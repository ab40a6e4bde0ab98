"""What a dealer's console can ask of a table: each act, what has to be said with it, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from rules_core.cards import CARD_OF, RANKS, SUITS

ActName = Literal[
    "sign_in",
    "sign_out",
    "start_shift",
    "end_shift",
    "introduce_deck",
    "verify_deck",
    "shuffle_deck",
    "retire_deck",
    "enter_manual_mode",
    "leave_manual_mode",
    "open_round",
    "close_betting",
    "confirm_cards",
    "lay_card",
    "correct_card",
    "burn_card",
    "cancel_round",
]
Field = Literal["deck", "reason", "card", "place", "cards", "round", "shift"]

CANCEL_REASONS: Final = (
    "hidden_card_exposed",
    "wrong_card_read",
    "extra_card_dealt",
    "table_cleared_early",
    "card_dropped",
    "dealer_mistake",
    "technical_failure",
)
"""RULES.md section 7; a test holds that they are those of the rules."""
RETIRE_REASONS: Final = ("worn", "marked", "incomplete", "card_dropped", "replaced")
MANUAL_REASONS: Final = ("reader_failed", "reader_misreads", "reader_maintenance")
"""Offered by the console; any other slug of the studio's own is taken as well."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SLUG: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PLACE: Final = re.compile(r"(box|replacement)\.[1-9][0-9]?\.[0-4]|(dealer|switch)\.[0-4]|draw\.[0-9]{1,2}")
_MOST_CARDS: Final = 52
_MOST_ROUND: Final = 2**53 - 1
_SUIT_SIGNS: Final = str.maketrans("♣♦♥♠", "cdhs")


@dataclass(frozen=True, slots=True)
class ActKind:
    """An act: whose it is, and what is said with it."""

    needs: frozenset[Field] = frozenset()
    may: frozenset[Field] = frozenset()
    by_floor: bool = False
    """Whether staff of the floor does it, and no dealer."""


_ROUND: Final[frozenset[Field]] = frozenset({"round"})
_DECK: Final[frozenset[Field]] = frozenset({"deck"})
ACTS: Final[Mapping[ActName, ActKind]] = MappingProxyType(
    {
        "sign_in": ActKind(),
        "sign_out": ActKind(),
        "start_shift": ActKind(may=frozenset({"shift"}), by_floor=True),
        "end_shift": ActKind(by_floor=True),
        "introduce_deck": ActKind(_DECK),
        "verify_deck": ActKind(_DECK),
        "shuffle_deck": ActKind(_DECK),
        "retire_deck": ActKind(_DECK | {"reason"}),
        "enter_manual_mode": ActKind(frozenset({"reason"})),
        "leave_manual_mode": ActKind(),
        "open_round": ActKind(),
        "close_betting": ActKind(_ROUND),
        "confirm_cards": ActKind(_ROUND, frozenset({"cards"})),
        "lay_card": ActKind(_ROUND, frozenset({"card"})),
        "correct_card": ActKind(_ROUND | {"place", "card"}),
        "burn_card": ActKind(_ROUND, frozenset({"card"})),
        "cancel_round": ActKind(_ROUND | {"reason"}, frozenset({"cards"})),
    }
)
"""Acts about a round say which one, so that a late press never reaches the next round."""


class ActWrong(ValueError):
    """What is said with an act cannot be meant: the field, and what it has to be. Never repeats a card."""

    def __init__(self, field: str, wrong: str) -> None:
        super().__init__(f"{field}: {wrong}")
        self.field = field
        self.wrong = wrong


@dataclass(frozen=True, slots=True)
class Act:
    """One act at a table. Raises ActWrong for what cannot be meant."""

    name: ActName
    table: str
    request_id: str
    """New for each wish, the same in each try."""
    round: int = 0
    deck: str = ""
    reason: str = ""
    """A slug."""
    place: str = ""
    card: str = ""
    cards: tuple[tuple[str, str], ...] = ()
    """Place and card of face-down cards that were laid by hand and are opened now."""
    shift: str = ""

    def __post_init__(self) -> None:
        kind = ACTS[self.name]
        said = {field for field in _FIELDS if getattr(self, field)}
        for field in sorted(kind.needs - said):
            raise ActWrong(field, "it has to be said")
        for field in sorted(said - kind.needs - kind.may):
            raise ActWrong(field, "this act takes none")
        for name in ("table", "request_id", "deck", "shift"):
            if not _ID.fullmatch(getattr(self, name) or ("-" if name in _FIELDS else "")):
                raise ActWrong(name, "1 to 64 letters, digits, - and _")
        self._check()

    def _check(self) -> None:
        if self.reason and not _SLUG.fullmatch(self.reason):
            raise ActWrong("reason", "a word of small letters, digits and _, such as dealer_mistake")
        if not 0 <= self.round <= _MOST_ROUND:
            raise ActWrong("round", "a round's number, from 1")
        if len(self.cards) > _MOST_CARDS or len({place for place, _ in self.cards}) < len(self.cards):
            raise ActWrong("cards", f"each place once, at most {_MOST_CARDS}")
        places = [self.place] if self.place else []
        for place in (*places, *(place for place, _ in self.cards)):
            if not _PLACE.fullmatch(place):
                raise ActWrong("place", "such as box.2.0, dealer.4, switch.1 or draw.0")
        cards = [self.card] if self.card else []
        for card in (*cards, *(card for _, card in self.cards)):
            if card not in CARD_OF:
                raise ActWrong("card", _CARD_FORM)


_FIELDS: Final[tuple[Field, ...]] = ("deck", "reason", "card", "place", "cards", "round", "shift")
_CARD_FORM: Final = f"rank {RANKS} and suit {SUITS}, such as Ah or Td"


def card_typed(text: str) -> str:
    """The card that somebody typed, as it is written everywhere: `10h`, `tH`, `T♥` are `Th`; empty is none.

    Raises ActWrong, which does not repeat what was typed: it may lie face down.
    """
    typed = "".join(text.split()).translate(_SUIT_SIGNS)
    if not typed:
        return ""
    if typed.startswith("10"):
        typed = f"T{typed[2:]}"
    card = typed[:-1].upper() + typed[-1:].lower()
    if card not in CARD_OF:
        raise ActWrong("card", _CARD_FORM)
    return card


@dataclass(frozen=True, slots=True)
class ActDone:
    """It is done, now or when the same was asked before."""

    round: int
    """The round that it concerned, or opened; 0: none."""
    position: int
    """Of its last event, in the stream of the round, or of the table where it concerned none."""


@dataclass(frozen=True, slots=True)
class ActRefused:
    """The rules refuse it; nothing has changed."""

    reason: str
    """A slug (docs/table.md)."""
    message: str
    """In English, for a person; never with a card."""
    data: Mapping[str, str]
    """More of it, such as the `place` whose card is missing."""


ActOutcome = ActDone | ActRefused
