"""Named points of the wallet's calls and its consumers, where a test may kill the process."""

from typing import Final

from eventstore.faults import reach

__all__ = ["POINTS", "reach"]

POINTS: Final = frozenset(
    {
        "wallet.call.before_commit",  # effect, answer and events are written, not committed
        "wallet.call.committed",  # they are, and the caller does not know
        "wallet.holds.placed",  # holds are durable, their call's answer is not kept
        "wallet.tip.held",  # a seamless player's tip is held, and not posted
        "wallet.old_holds.answered",  # the table's owner has spoken, nothing follows from it yet
    }
)
