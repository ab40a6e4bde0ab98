"""Tables after their last events: from snapshots, since a table's stream is as old as the table."""

from __future__ import annotations

import contextlib
import json
from typing import Final

import structlog

from eventstore import RecordedEvent
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Pool, PostgresEventStore
from eventstore.snapshots import Fold, Ignored, PostgresSnapshots, Snapshot, load_state, save_state
from rules_core.canonical import canonical_bytes
from upcard_table.domain.codec import STATE_VERSION, event_of, state_of, state_payload
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import NEW_TABLE, TableState
from upcard_table.domain.words import table_stream

SAVED_AFTER: Final = 256
"""Events that were read beyond the last snapshot; then there is another one."""

_log = structlog.get_logger("upcard_table")


def _evolve(state: TableState, event: RecordedEvent) -> TableState:
    members = json.loads(event.content)
    return evolve(state, event_of(members["type"], members["version"], members["payload"]))


_FOLD: Final[Fold[TableState]] = Fold(
    "table",
    STATE_VERSION,
    lambda: NEW_TABLE,
    _evolve,
    lambda state: canonical_bytes(state_payload(state)),
    lambda state: state_of(json.loads(state)),
)


class TableStates:
    """The owner's way to a table's state."""

    def __init__(self, pool: Pool) -> None:
        self._reader = PostgresEventStore(pool)
        self._snapshots = PostgresSnapshots(pool)

    async def load(self, table: str) -> tuple[TableState, int]:
        """The state after the last event, and its position. Raises PayloadError, what the reader raises."""
        loaded = await load_state(
            self._reader, self._snapshots, table_stream(table), _FOLD, on_ignored=_ignored
        )
        if loaded.events_read >= SAVED_AFTER:
            with contextlib.suppress(*PASSING):  # without it the next load takes longer, and nothing else
                await save_state(self._snapshots, _FOLD, loaded)
        return loaded.state, loaded.position


def _ignored(snapshot: Snapshot, why: Ignored) -> None:
    _log.warning("a table's snapshot is left aside", stream=snapshot.stream, why=why.value)
