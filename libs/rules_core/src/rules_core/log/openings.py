"""The openings of a record: do they open the commitments, and what do they put into the sealed cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_core.cards import CARD_OF
from rules_core.commitment import opens
from rules_core.log.decisions import Shown
from rules_core.log.difference import Difference
from rules_core.round import events as e
from rules_core.round.sealed import Sealed


@dataclass(slots=True)
class Openings:
    """What the openings of a round gave."""

    sealed: Sealed
    opened: int = 0
    uncommitted: int = 0
    """Cards first recorded when opened, in manual mode: nothing proves them."""
    difference: Difference | None = None
    unopened: tuple[str, ...] = ()
    """Places whose commitment was never opened."""


def check_openings(events: Sequence[Shown]) -> Openings:
    """Open every commitment of a round's events, position 1 first; stops at the first that does not open."""
    found = Openings(Sealed())
    committed: dict[tuple[str, str], None] = {}
    unread: dict[str, None] = {}
    for position, event in enumerate(events, 1):
        if isinstance(event, (e.CardScanned, e.CardRescanned)):
            if event.commitment is not None:
                committed[event.place, event.commitment] = None
            elif event.card is None:
                unread[event.place] = None
        elif isinstance(event, (e.CardsRevealed, e.DealerRevealed)):
            for index, opening in enumerate(event.openings):
                wrong = _open(found, committed, unread, opening)
                if wrong is not None:
                    at = f"payload.openings[{index}].{wrong}"
                    found.difference = Difference(
                        position,
                        type(event).__name__,
                        at,
                        "what was committed to",
                        "something else",
                    )
                    return found
    found.unopened = tuple(place for place, _ in committed)
    return found


def _open(
    found: Openings,
    committed: dict[tuple[str, str], None],
    unread: dict[str, None],
    opening: e.CardOpening,
) -> str | None:
    """Which field of an opening is wrong, or None."""
    if not opening.committed:
        if opening.place not in unread or opening.commitment is not None or opening.salt is not None:
            return "committed"
        del unread[opening.place]
        found.uncommitted += 1
        return None
    if opening.commitment is None or (opening.place, opening.commitment) not in committed:
        return "commitment"
    if opening.salt is None or not opens(opening.commitment, opening.card, opening.salt):
        return "card"
    del committed[opening.place, opening.commitment]
    found.sealed.add(CARD_OF[opening.card], opening.salt)
    found.opened += 1
    return None
