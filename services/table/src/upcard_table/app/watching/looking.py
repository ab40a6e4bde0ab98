"""A table as it is now, for one look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eventstore.port import Reader
from upcard_table.app.watching.sources import Sources, last_round
from upcard_table.app.watching.table_feed import table_event
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import TableState
from upcard_table.domain.words import round_stream, table_stream

STEPS: Final[Mapping[str, str]] = {
    "RoundOpened": "betting",
    "BettingClosed": "deal",
    "OptionsOpened": "options",
    "OptionsClosed": "replace",
    "FinalOptionsOpened": "final_options",
    "FinalOptionsClosed": "next",
    "DealerRevealed": "revealed",
    "PurchaseOffered": "purchase",
    "PurchaseClosed": "draw",
    "DealerRequalified": "decided",
    "RoundSettled": "settled",
    "RoundCancelled": "cancelled",
    "CorrectionDecided": "resettling",
    "RoundResettled": "settled",
}
"""About where a round is after an event; the round's own view says it exactly."""
_LOOK_BACK: Final = 50


@dataclass(frozen=True, slots=True)
class TableNow:
    """A table, and about where its latest round is."""

    state: TableState
    position: int
    """In the table's stream."""
    round: int = 0
    """0: none yet."""
    step: str = ""


async def table_now(sources: Sources, table: str) -> TableNow | None:
    """A table after its last committed event; None: it was never opened."""
    known = await sources.index.find(table)
    state, position = known.state, known.position
    async for page in sources.log.iterate_contents(table_stream(table), after=position):
        for content in page:
            state = evolve(state, table_event(content))
            position += 1
    if not position:
        return None
    number = await last_round(sources.log, table, known.last_round)
    fallback = known.step if number == known.last_round else "betting"
    step = await _step(sources.log, table, number) if number else None
    return TableNow(state, position, number, step or fallback)


async def _step(log: Reader, table: str, number: int) -> str | None:
    latest = await log.read_stream_backward(round_stream(table, number), limit=_LOOK_BACK)
    return next((STEPS[event.type] for event in latest if event.type in STEPS), None)
