"""What a dealer's console shows of a table, and what is to be done next. Pure: nothing here asks or waits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rules_core.rulesets.model import Ruleset

ENDED: Final = frozenset({"settled", "cancelled", "resettling"})
"""Steps of a round after which the next one can be opened: a correction changes nothing at the table."""
LATE_S: Final = 5.0
"""A window that is open so long after its end waits for the floor: its owner changed in the middle of it."""
HIDDEN: Final = "hidden"
"""What stands in a view for a card that lies face down."""

NextKind = Literal[
    "table_closed",
    "take_table",
    "other_dealer",
    "bring_deck",
    "verify_deck",
    "shuffle_deck",
    "leave_manual",
    "open_round",
    "betting",
    "close_betting",
    "reader",
    "reader_missing",
    "lay_down",
    "lay_up",
    "confirm",
    "window",
    "window_late",
    "name_cards",
    "settling",
]
"""What the console says in large letters; each has its words in pages/english/dealer.json."""


@dataclass(frozen=True, slots=True)
class DeckFacts:
    """A deck at the table, as far as the next round is concerned."""

    deck: str
    verified: bool
    shuffled: bool
    """Since the last round was opened; so of a deck in play never."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table itself."""

    table: str
    name: str
    ruleset: str
    """`name@version`."""
    open: bool
    dealer: str | None
    """The opaque id of who is signed in."""
    round: int
    """Number of its latest round; 0: none yet."""
    step: str
    """About where that round is; empty: no round yet."""
    manual_mode: bool
    decks: tuple[DeckFacts, ...] = ()
    """In the order of their introduction."""
    confirm_cards_ms: int = 0
    """For how long after the last scan a card may be read again, before the table confirms by itself."""


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """The window that is open."""

    kind: str
    box: int | None
    """Of an exclusive table: whose turn it is."""
    closes_at: str
    extended_ms: int


@dataclass(frozen=True, slots=True)
class BoxFacts:
    """A box of the table."""

    box: int
    dealt: bool
    blind: bool
    """Whether it is played blind on an exclusive table; what a shared table's boxes are, the rules say."""
    hand: str | None
    """The name of the hand, as far as a dealer sees it."""
    folded: bool


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """The table's latest round as its dealer sees it: face-down cards are `hidden`."""

    number: int
    step: str
    window: WindowFacts | None
    progress: tuple[tuple[str, str], ...]
    """Each window of the round, and whether it is `ahead`, `open` or `over`."""
    cards: Mapping[str, str]
    """Place → card, in the table's order."""
    burned: tuple[str | None, ...]
    """Cards that were put aside; None: not read."""
    boxes: tuple[BoxFacts, ...]
    dealer_hand: str | None
    dealer_final: str | None
    undecided: int
    """How many boxes have still to decide."""
    awaited: str | None
    """The place of the next card."""
    to_lay: int
    confirm: bool

    @property
    def ended(self) -> bool:
        """Whether the next round may be opened."""
        return self.step in ENDED


@dataclass(frozen=True, slots=True)
class NextStep:
    """What is to be done now."""

    kind: NextKind
    deck: str | None = None
    place: str | None = None
    """Where the next card lies."""
    left: int = 0
    """Cards that are still to be laid, or boxes that have still to decide."""
    by_dealer: bool = True
    """Whether the dealer does it; else it is waited for."""


@dataclass(frozen=True, slots=True)
class DeskNow:
    """A table as its dealer's console shows it."""

    table: TableFacts
    ruleset: Ruleset | None
    """None: this program does not have these rules; then what depends on them is not said."""
    round: RoundFacts | None
    at: str
    """The server's clock, `YYYY-MM-DDThh:mm:ss.ffffffZ`."""


def next_step(now: DeskNow, dealer: str) -> NextStep:
    """What is to be done at a table now, as far as this dealer is concerned."""
    table = now.table
    if not table.open:
        return NextStep("table_closed", by_dealer=False)
    if table.dealer is None:
        return NextStep("take_table")
    if table.dealer != dealer:
        return NextStep("other_dealer", by_dealer=False)
    if now.round is None or now.round.ended:
        return _between_rounds(now)
    return _in_round(now, now.round)


def _between_rounds(now: DeskNow) -> NextStep:
    table = now.table
    if not table.decks:
        return NextStep("bring_deck")
    if table.manual_mode and now.ruleset is not None and now.ruleset.private:
        return NextStep("leave_manual")
    ready = [deck for deck in table.decks if deck.verified and deck.shuffled]
    if ready:
        return NextStep("open_round", ready[-1].deck)
    verified = [deck for deck in table.decks if deck.verified]
    if verified:
        return NextStep("shuffle_deck", verified[-1].deck)
    return NextStep("verify_deck", table.decks[-1].deck)


def _in_round(now: DeskNow, played: RoundFacts) -> NextStep:
    window = played.window
    if window is not None:
        return _in_window(now, played, window)
    if played.awaited is not None:
        return _awaiting(now, played, played.awaited)
    if played.confirm:
        return NextStep("confirm")
    if now.table.manual_mode and played.step == "next" and HIDDEN in played.cards.values():
        return NextStep("name_cards")
    return NextStep("settling", by_dealer=False)


def _in_window(now: DeskNow, played: RoundFacts, window: WindowFacts) -> NextStep:
    at, closes_at = dt.datetime.fromisoformat(now.at), dt.datetime.fromisoformat(window.closes_at)
    if (at - closes_at).total_seconds() > LATE_S:
        return NextStep("window_late", by_dealer=False)
    if window.kind == "betting":
        return NextStep("betting" if at < closes_at else "close_betting", by_dealer=False)
    return NextStep("window", left=played.undecided, by_dealer=False)


def _awaiting(now: DeskNow, played: RoundFacts, place: str) -> NextStep:
    if not now.table.manual_mode:
        return NextStep("reader", place=place, left=played.to_lay, by_dealer=False)
    if now.ruleset is not None and now.ruleset.private:
        return NextStep("reader_missing", place=place, left=played.to_lay)
    down = lies_face_down(place, now.ruleset, played)
    return NextStep("lay_down" if down else "lay_up", place=place, left=played.to_lay)


def lies_face_down(place: str, ruleset: Ruleset | None, played: RoundFacts) -> bool:
    """Whether a card laid by hand in this place stays unread until it is opened (RULES.md section 4.2).

    Switch cards lie open in manual mode, and by hand no private table is dealt. Without the rules a box's
    card is taken to lie face down: what is named too late is asked for, what is exposed too early is lost.
    """
    kind, _, rest = place.partition(".")
    if kind == "dealer":
        return place != "dealer.4"
    if kind != "box":
        return False
    box = int(rest.partition(".")[0])
    if ruleset is None:
        return True
    if ruleset.shared:
        return not ruleset.box_may_be(box, blind=False)
    return any(one.box == box and one.blind for one in played.boxes)


def places_to_name(played: RoundFacts) -> tuple[str, ...]:
    """Places whose cards lie face down, in the table's order. Those laid by hand are named when opened."""
    return tuple(place for place, card in played.cards.items() if card == HIDDEN)
