"""Named points between two durable steps with webhooks, where a test may kill the process."""

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "webhooks.claimed",  # webhooks are claimed, none is sent
        "webhooks.sent",  # one was sent, its outcome is not recorded
        "webhooks.noted",  # it is recorded
    }
)
"""Those of events that are followed are the event store's."""
