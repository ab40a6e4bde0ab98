"""One round in memory: its state, its face-down cards, where its stream ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rules_core.canonical import canonical_bytes, parse_canonical
from rules_core.cards import CARD_OF, Card, card_text
from rules_core.log.content import parse_content
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.codec import event_of
from rules_core.round.evolve import evolve
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.round.times import to_epoch_us
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.shipped import shipped
from upcard_table.app.ports import StoredStream
from upcard_table.app.rounds.outcomes import Outcomes

_LAID: Final = (e.CardScanned, e.CardRescanned)


class RoundUnreadable(Exception):
    """A round's stream is not what an owner can have written: nothing is decided on it. Defect, or damage."""


@dataclass(slots=True)
class LiveRound:
    """A round so far. Changed in place by `record`; dropped and loaded anew when an append fails."""

    table: str
    number: int
    stream: str
    state: RoundState
    outcomes: Outcomes
    sealed: Sealed = field(default_factory=Sealed, repr=False)
    position: int = 0
    """Events so far: what the next append expects."""
    last_us: int = 0
    """The latest instant recorded, microseconds after 1970: time never goes back behind it."""
    laid_us: int = 0
    """When the latest card was laid."""
    correlation_id: str = ""
    """Of the round's opening: the owner's own steps carry it on."""
    last_event_id: str | None = None
    cancelled: str | None = None
    """Why it was cancelled."""

    @property
    def ended(self) -> bool:
        """Whether it is settled or cancelled; a correction may run."""
        return self.state.ended

    def record(self, event: e.RoundEvent, at_us: int, event_id: str, cause: str | None) -> int:
        """Fold an event that is going to be the next one of the stream; its position."""
        evolve(self.state, event)
        self.position += 1
        self.last_us = max(self.last_us, at_us)
        self.last_event_id = event_id
        if isinstance(event, _LAID):
            self.laid_us = at_us
        elif isinstance(event, e.RoundCancelled):
            self.cancelled = event.reason
        self.outcomes.note(self.position, event, cause)
        return self.position


def begin_round(table: str, number: int, stream: str, ruleset: Ruleset) -> LiveRound:
    """A round before its first event."""
    return LiveRound(table, number, stream, new_round(ruleset), Outcomes(stream))


def load_round(table: str, number: int, stored: StoredStream) -> LiveRound | None:
    """The round that a stream leads to; None: it has no events. Raises RoundUnreadable."""
    if not stored.contents:
        return None
    try:
        return _fold(table, number, stored)
    except (LookupError, ValueError, TypeError) as error:
        # The kind of error alone: its words may show what a private part holds.
        raise RoundUnreadable(f"{stored.stream} cannot be folded ({type(error).__name__})") from None


def _fold(table: str, number: int, stored: StoredStream) -> LiveRound:
    first = parse_content(stored.contents[0])
    opened = event_of(first.type, first.version, first.payload)
    if not isinstance(opened, e.RoundOpened) or (opened.table, opened.number) != (table, number):
        raise ValueError("it does not begin with the opening of this round")
    ruleset = shipped(opened.ruleset)
    if ruleset.sha256 != opened.ruleset_sha256:
        raise ValueError("its ruleset is not the one of that id")
    found = begin_round(table, number, stored.stream, ruleset)
    for content in stored.contents:
        one = parse_content(content)
        event = event_of(one.type, one.version, one.payload)
        found.record(event, to_epoch_us(one.recorded_at), one.event_id, one.causation_id)
    for private in stored.private.values():
        found.sealed.add(*read_private(private))
    found.correlation_id = first.correlation_id
    return found


def private_part(command: c.ScanCard | c.RescanCard) -> bytes | None:
    """What lies encrypted beside the event of a face-down card: the card and its salt."""
    if command.card is None or command.card_salt is None:
        return None
    return canonical_bytes({"card": card_text(command.card), "salt": command.card_salt})


def read_private(private: bytes) -> tuple[Card, str]:
    """The card and its salt. Raises ValueError, KeyError for bytes that `private_part` cannot have made."""
    members = parse_canonical(private)
    if not isinstance(members, dict):
        raise ValueError("no object")  # noqa: TRY004 - damage of stored bytes, not of a program
    return CARD_OF[str(members["card"])], str(members["salt"])
