"""The tables of the floor as they are now, and what about them needs somebody's attention."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

__all__ = [
    "Alarm",
    "Bet",
    "Deck",
    "FloorRow",
    "Stake",
    "WindowNow",
    "alarms_of",
    "boxes_of",
    "row_of",
    "sorted_alarms",
]

OVERDUE_S: Final = 5.0
"""A window that is open for so long after its end waits for the floor."""
_ENDED: Final = frozenset({"", "new", "settled", "cancelled"})

Level = Literal["bad", "warn", "note"]
_LEVELS: Final[Mapping[Level, int]] = {"bad": 0, "warn": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck at a table, and for which round it is good."""

    deck: str
    verified: bool
    shuffled: bool
    """Since the table's latest round."""


@dataclass(frozen=True, slots=True)
class WindowNow:
    """The window that is open."""

    kind: str
    box: int | None
    closes_at: dt.datetime
    extended_ms: int


@dataclass(frozen=True, slots=True)
class Stake:
    """What is at stake in one currency, minor units."""

    currency: str
    players: int
    amount: int


@dataclass(frozen=True, slots=True)
class Bet:
    """What one player has at stake on one wager of one box."""

    player: str
    operator: str
    currency: str
    box: int
    wager: str
    amount: int
    blind: bool


@dataclass(frozen=True, slots=True)
class FloorRow:
    """One table. What could not be read is None."""

    table: str
    name: str
    ruleset: str
    open: bool
    dealer: str | None
    round: int
    step: str
    manual: bool
    position: int
    """Of the table's stream."""
    config: Mapping[str, Any]
    """As in `TableOpened` (docs/table-events.md)."""
    decks: tuple[Deck, ...] = ()
    view: Mapping[str, Any] | None = None
    """The round as operations see it (docs/views.md)."""
    round_position: int = 0
    window: WindowNow | None = None
    awaited: str | None = None
    to_lay: int = 0
    confirm: bool = False
    undecided: int = 0
    players: int | None = None
    declined: int = 0
    stakes: tuple[Stake, ...] | None = None
    quiet_s: float = 0.0
    """For how long nothing new was seen of the table's running round, by this program."""
    dealer_since: dt.datetime | None = None
    shift: str | None = None
    shift_since: dt.datetime | None = None
    manual_reason: str | None = None

    @property
    def running(self) -> bool:
        """Whether a round has begun and not ended."""
        return self.step not in _ENDED

    @property
    def deck_ready(self) -> bool:
        """Whether a deck lies ready for the next round."""
        return any(deck.verified and deck.shuffled for deck in self.decks)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that somebody has to see to. `kind` has its sentence in the English of the floor."""

    level: Level
    kind: str
    table: str
    name: str
    values: Mapping[str, object] = field(default_factory=dict)


def row_of(state: Mapping[str, Any], details: Mapping[str, Any]) -> FloorRow:
    """A table of the service's own words. Raises KeyError, TypeError: they are not of this form."""
    number = int(state["round"])
    return FloorRow(
        table=state["table"],
        name=state["name"],
        ruleset=state["ruleset"],
        open=bool(state["open"]),
        dealer=state["dealer"] or None,
        round=number,
        step=state["step"],
        manual=bool(state["manual_mode"]),
        position=int(state["position"]),
        config=details["config"] or {},
        decks=tuple(_deck(deck, number) for deck in details["decks"]),
    )


def _deck(deck: Mapping[str, Any], number: int) -> Deck:
    shuffled = deck.get("shuffled_after_round")
    return Deck(
        deck["deck"],
        deck.get("verified_after_round") is not None,
        shuffled is not None and shuffled >= number,
    )


def alarms_of(row: FloorRow, now: dt.datetime, *, stalled_s: float) -> list[Alarm]:
    """What about a table needs attention, now."""
    found = _of_round(row, now, stalled_s) if row.running else _of_pause(row)
    if row.manual:
        found.append(_alarm(row, "warn", "manual", reason=row.manual_reason or ""))
    return found


def _of_round(row: FloorRow, now: dt.datetime, stalled_s: float) -> list[Alarm]:
    found: list[Alarm] = []
    if row.view is None:
        return [_alarm(row, "warn", "unread", round=row.round)]
    if row.window is not None:
        late_s = (now - row.window.closes_at).total_seconds()
        if late_s >= OVERDUE_S:
            about = {"window": row.window.kind, "seconds": int(late_s), "round": row.round}
            found.append(_alarm(row, "bad", "window_overdue", **about))
    elif row.quiet_s >= stalled_s:
        about = {"seconds": int(row.quiet_s), "round": row.round, "step": row.step}
        found.append(_alarm(row, "bad", "stalled", **about))
    if not row.dealer:
        found.append(_alarm(row, "bad", "round_without_dealer", round=row.round))
    if row.declined:
        found.append(_alarm(row, "note", "declined", n=row.declined, round=row.round))
    return found


def _of_pause(row: FloorRow) -> list[Alarm]:
    if not row.open:
        return []
    if not row.dealer:
        return [_alarm(row, "warn", "no_dealer")]
    return [] if row.deck_ready else [_alarm(row, "note", "no_deck")]


def _alarm(row: FloorRow, level: Level, kind: str, **values: object) -> Alarm:
    return Alarm(level, kind, row.table, row.name or row.table, values)


def sorted_alarms(alarms: Sequence[Alarm]) -> list[Alarm]:
    """The worst first, then by table: an alarm keeps its place while it lasts."""
    return sorted(alarms, key=lambda one: (_LEVELS[one.level], one.table, one.kind))


def boxes_of(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The boxes of a round with their cards in the order dealt, `hidden` for those that lie face down."""
    cards: Mapping[str, str] = view["cards"]
    found: list[dict[str, Any]] = []
    for box in view["boxes"]:
        number = box["box"]
        dealt = [cards[f"box.{number}.{place}"] for place in range(5) if f"box.{number}.{place}" in cards]
        bought = [
            cards[f"replacement.{number}.{place}"]
            for place in range(5)
            if f"replacement.{number}.{place}" in cards
        ]
        found.append({**box, "cards": dealt, "bought": bought})
    return found
