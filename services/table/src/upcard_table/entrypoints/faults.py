"""Named points of the table service where a test may kill the process."""

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "table.batch.before_commit",  # an owner's events and answers are written, not committed
        "table.batch.committed",  # they are, and nobody knows
        "table.call.before_commit",  # a proposal and its answer are written, not committed
        "table.call.committed",  # they are, and the caller does not know
        "table.forward.before",  # a call is about to be passed on to the table's owner
        "table.forward.answered",  # it was answered there, and the caller does not know
        "table.resettle.approved",  # a second person's word is durable, the round is not corrected
        "table.resettle.corrected",  # it is, and the proposal does not say so
        "table.tip.posted",  # the wallet has the tip, the table's stream has not
    }
)
