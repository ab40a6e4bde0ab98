"""Named points between two durable steps, where a test may kill the process or cut a connection.

In production `reach` does nothing. A test installs a hook with `arm`, and counts that each point was hit.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

POINTS: Final = frozenset(
    {
        "append.queued",  # a caller waits, nothing is sent
        "append.before_send",  # a batch is about to be sent
        "append.after_commit",  # the batch is durable, no caller knows
        "append.unknown",  # the connection broke, nobody knows
        "append.told",  # callers know, nobody was woken
        "notify.sent",  # subscribers were woken
        "subscription.page",  # a page was read and not yet handed out
        "follow.before_commit",  # effect and position are written, not committed
        "follow.committed",  # they are, and nobody knows
        "rebuild.prepared",  # the new tables are there, empty
        "rebuild.caught_up",  # they hold what the live ones hold, and are not in their place
        "rebuild.swapped",  # they are, and the old ones are still there
        "lease.acquired",  # the lease is ours in the database, and nobody here knows
        "lease.renewed",  # it is renewed in the database, and nobody here knows
    }
)

Hook = Callable[[str], None]

_hook: Hook | None = None


def reach(point: str) -> None:
    """Called by the code at a point of `POINTS`."""
    if _hook is not None:
        _hook(point)


@contextlib.contextmanager
def arm(hook: Hook) -> Iterator[None]:
    """Call `hook` with the name of every point reached, for as long as the context lasts."""
    global _hook  # noqa: PLW0603 - one hook for the process: what is under test is the process
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before
