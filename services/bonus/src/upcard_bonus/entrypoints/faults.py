"""Named points of the calls and the upkeep, where a test may kill the process."""

from __future__ import annotations

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "bonus.call.before_commit",  # effect, answer and events are written, not committed
        "bonus.call.committed",  # they are, and the caller does not know
        "bonus.upkeep.before_commit",  # what is over is written, not committed
        "bonus.upkeep.committed",  # it is, and nobody was woken
    }
)
"""Those of following the table are the event store's: `follow.before_commit` and `follow.committed`."""
