"""A start or stop that hangs is ended all the same, by a thread that needs nobody's cooperation."""

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from servicekit.lifecycle.exits import ExitCode

_LOOK_EVERY_S: Final = 0.25
_LAST_WORDS_S: Final = 1.0


class Watchdog:
    """Ends the process when a time is over, whatever hangs.

    `asked_at` gives the moment of the first signal, by the monotonic clock: it is looked at rather than told,
    since nothing of the service may be able to tell: an event loop that stands still hears no signal.
    """

    def __init__(self, before_end: Callable[[], object], asked_at: Callable[[], float | None]) -> None:
        self._before_end = before_end
        self._asked_at = asked_at
        self._after_signal_s = float("inf")
        self._state = threading.Condition()
        self._due: float | None = None
        self._code = ExitCode.STOPPED_BADLY

    def start(self, after_signal_s: float) -> None:
        """Watch from now on; the process ends so long after the first signal at the latest."""
        self._after_signal_s = after_signal_s
        threading.Thread(target=self._watch, name="stop-watchdog", daemon=True).start()

    def arm(self, seconds: float, code: ExitCode = ExitCode.STOPPED_BADLY) -> None:
        """End the process in so many seconds, with this status. Arming it again sets both anew."""
        with self._state:
            self._due, self._code = time.monotonic() + seconds, code
            self._state.notify_all()

    def disarm(self) -> None:
        """Let it live, up to a signal."""
        with self._state:
            self._due, self._code = None, ExitCode.STOPPED_BADLY
            self._state.notify_all()

    def _watch(self) -> None:
        with self._state:
            while (left_s := self._left_s()) > 0:
                self._state.wait(min(left_s, _LOOK_EVERY_S))
        # Where it hangs: names of functions and lines, no values.
        faulthandler.dump_traceback(file=sys.__stderr__ or 2, all_threads=True)
        # In a thread of its own: whatever hangs may hold a lock that is needed for saying so.
        saying = threading.Thread(target=self._before_end, name="last-words", daemon=True)
        saying.start()
        saying.join(_LAST_WORDS_S)
        os._exit(self._code)

    def _left_s(self) -> float:
        due, asked_at = self._due, self._asked_at()
        first = min(
            float("inf") if due is None else due,
            float("inf") if asked_at is None else asked_at + self._after_signal_s,
        )
        return first - time.monotonic()
