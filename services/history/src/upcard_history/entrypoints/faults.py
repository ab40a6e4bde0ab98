"""Named points of the history, where a test may kill the process."""

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "replay.claimed",  # a round is claimed, and not replayed
        "replay.replayed",  # it is replayed, and nothing is kept of it
        "replay.kept",  # what was found is kept
    }
)
"""Those of the followers are the event store's and messaging's."""
