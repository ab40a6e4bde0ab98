"""Named points between two durable steps of the ledger, where a test may kill the process.

They share one hook with the event store's: `arm` calls it for the points of both.
"""

from typing import Final

from eventstore.faults import Hook, arm, reach

__all__ = ["POINTS", "Hook", "arm", "reach"]

POINTS: Final = frozenset(
    {
        "holds.before_commit",  # holds, postings and events are written, not committed
        "holds.committed",  # they are, and the caller does not know
    }
)
