"""A partner's circuit: one that fails again and again is not asked for antes until it is seen to answer."""

import time
from collections.abc import Callable
from typing import Final, Literal

from upcard_wallet.adapters.seamless.partner import NotSent, Unclear, Verdict
from upcard_wallet.adapters.seamless.settings import PartnerSettings
from upcard_wallet.app.purse import HoldGroup
from upcard_wallet.domain.ids import TIP

State = Literal["closed", "open", "probing"]

OPENING: Final = frozenset(("ante", "bonus_player", "bonus_dealer", TIP))
"""Wagers that begin something: while a partner is away nobody is let in. Others belong to a running round."""


def begins_something(group: HoldGroup) -> bool:
    """Whether a command's money may be refused unasked: nothing of a running round depends on it."""
    return any(item.wager in OPENING for item in group.items)


def is_failure(verdict: Verdict) -> bool:
    """Whether the partner failed to answer; a refusal is an answer, and so is one about something else."""
    return isinstance(verdict, NotSent) or (isinstance(verdict, Unclear) and not verdict.contradicts)


class Circuit:
    """Closed: everything is asked. Open, after so many failures in a row: no antes. Then one ante is tried.

    Every answer to a bet, win or rollback counts, of antes or not. Any of them that is one closes it. Each
    process has its own: what one sees is true for it.
    """

    def __init__(
        self,
        settings: PartnerSettings,
        *,
        changed: Callable[[State], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        calendar: Callable[[], float] = time.time,
    ) -> None:
        """`changed` is told each new state; `clock` measures pauses, `calendar` is for showing."""
        self._most = settings.failures_before_pause
        self._pause_s = settings.down_pause_s
        self._changed = changed
        self._clock = clock
        self._calendar = calendar
        self._next_probe = 0.0
        self.state: State = "closed"
        self.failures = 0
        """In a row."""
        self.since = calendar()
        """Since when antes are refused, or asked for, in seconds since 1970; probes change nothing."""
        self.answered_at: float | None = None
        """When the partner last answered, likewise."""

    @property
    def down(self) -> bool:
        """Whether antes are refused."""
        return self.state != "closed"

    def admits(self) -> bool:
        """Whether one more ante may be asked for; where it is down, who hears yes is the probe.

        A probe that never tells what came of it is followed by another after a pause.
        """
        if self.state == "closed":
            return True
        now = self._clock()
        if now < self._next_probe:
            return False
        self._next_probe = now + self._pause_s
        self._become("probing")
        return True

    def answered(self, verdict: Verdict) -> None:
        """Something was asked, and this came of it."""
        if not is_failure(verdict):
            self.failures = 0
            self.answered_at = self._calendar()
            self._become("closed")
            return
        self.failures += 1
        if self.state == "probing" or (self.state == "closed" and self.failures >= self._most):
            self._next_probe = self._clock() + self._pause_s
            self._become("open")

    def _become(self, state: State) -> None:
        if state == self.state:
            return
        was_down = self.down
        self.state = state
        if self.down != was_down:
            self.since = self._calendar()
        self._changed(state)
