"""Waiting, always with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.05


@dataclass(slots=True)
class Deadline:
    """A moment of the monotonic clock, `seconds` after this object was made."""

    seconds: float
    at: float = field(init=False)

    def __post_init__(self) -> None:
        self.at = time.monotonic() + self.seconds

    @property
    def left_s(self) -> float:
        """Seconds until then, never negative."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether it is too late."""
        return time.monotonic() >= self.at


def happens(what: Callable[[], bool], within_s: float) -> bool:
    """Whether something becomes true in time. It is asked often at first, then at most 20 times a second."""
    deadline, pause = Deadline(within_s), FIRST_PAUSE_S
    while True:
        if what():
            return True
        if deadline.passed:
            return False
        time.sleep(min(pause, deadline.left_s))
        pause = min(pause * 1.5, LONGEST_PAUSE_S)
