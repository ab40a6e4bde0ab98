"""Named points between two durable steps with a partner, where a test may kill the process."""

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "seamless.requested",  # the holds are requested, the partner has not been asked
        "seamless.answered",  # the partner has answered a bet, nothing of that is recorded
        "seamless.posted",  # it is recorded and posted, the caller does not know
        "seamless.claimed",  # calls of the queue are claimed, none is made
        "seamless.called",  # a call of the queue was made, its answer is not recorded
        "seamless.noted",  # it is recorded
    }
)
