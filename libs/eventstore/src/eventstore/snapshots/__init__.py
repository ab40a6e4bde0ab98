"""Snapshots: the state that a stream's events lead to, so that a long stream is not read from its beginning.

They are never needed for correctness: one that does not fit the log is left aside, and the events are read.
"""

from eventstore.snapshots.loading import Fold, Ignored, LoadedState, load_state, save_state
from eventstore.snapshots.memory import MemorySnapshots
from eventstore.snapshots.model import MAX_STATE_BYTES, Snapshot, Snapshots
from eventstore.snapshots.postgres import PostgresSnapshots

__all__ = [
    "MAX_STATE_BYTES",
    "Fold",
    "Ignored",
    "LoadedState",
    "MemorySnapshots",
    "PostgresSnapshots",
    "Snapshot",
    "Snapshots",
    "load_state",
    "save_state",
]
