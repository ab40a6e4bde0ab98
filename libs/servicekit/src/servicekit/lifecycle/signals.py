"""SIGTERM and SIGINT: the first asks for an ordered stop, the second ends the process at once."""

import _thread
import os
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

STOPPING: Final = (signal.SIGTERM, signal.SIGINT)
_FORCED: Final = 128
# Ctrl-C in a terminal, or a nervous supervisor, may send the same twice in one breath: that is one request.
_ONE_BREATH_S: Final = 0.2
_LAST_WORDS_S: Final = 1.0


class StopSignals:
    """What signals have come. It counts from the first moment on, also before there is an event loop."""

    def __init__(self, before_forced_end: Callable[[], object]) -> None:
        self._before_forced_end = before_forced_end
        self._tell: Callable[[], object] | None = None
        self.asked_at: float | None = None
        """When the first signal came, by the monotonic clock."""
        self.asked: signal.Signals | None = None
        """The first signal that came."""

    def catch(self) -> None:
        """Catch them from now on, up to the end of the process. In the main thread only."""
        for one in STOPPING:
            signal.signal(one, self._came)

    def tell(self, callback: Callable[[], object]) -> None:
        """Call back when the first one comes, or now if it has.

        Called from a signal handler: it may no more than pass it on.
        """
        self._tell = callback
        if self.asked is not None:
            callback()

    def _came(self, number: int, _: FrameType | None) -> None:
        if self.asked_at is None:
            self.asked_at = time.monotonic()
            self.asked = signal.Signals(number)
            if self._tell is not None:
                self._tell()
        elif time.monotonic() - self.asked_at >= _ONE_BREATH_S:
            self._last_words()
            os._exit(_FORCED + number)

    def _last_words(self) -> None:
        """Say why, from another thread: this one may hold any lock, as it was interrupted anywhere."""
        said: list[bool] = []

        def say() -> None:
            try:
                self._before_forced_end()
            finally:
                said.append(True)

        # Not `threading`: it has locks of its own.
        _thread.start_new_thread(say, ())
        deadline = time.monotonic() + _LAST_WORDS_S
        while not said and time.monotonic() < deadline:
            time.sleep(0.005)
