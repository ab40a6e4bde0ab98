"""Lines go out by a thread of their own: a reader of our output that stalls must not stall the service."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from servicekit.logging.figures import FIGURES

MOST_WAITING_LINES: Final = 20_000
MOST_WAITING_BYTES: Final = 16_000_000

Sink = Callable[[bytes], None]


def standard_output(data: bytes) -> None:
    """Write to standard output, all of it. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


class LineWriter:
    """Takes lines without ever waiting and writes them in order.

    When too many wait, new ones are dropped.
    """

    def __init__(
        self,
        sink: Sink = standard_output,
        *,
        most_lines: int = MOST_WAITING_LINES,
        most_bytes: int = MOST_WAITING_BYTES,
    ) -> None:
        self._sink = sink
        self._most_lines = most_lines
        self._most_bytes = most_bytes
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._busy = False
        self._closed = False
        self._dropped = 0
        # Reentrant: a garbage collection inside `write` may log too.
        self._state = threading.Condition(threading.RLock())
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """Lines that were dropped since the beginning."""
        return self._dropped

    def write(self, line: bytes) -> None:
        """Queue a line, which ends in a line feed."""
        with self._state:
            full = len(self._lines) >= self._most_lines or self._bytes + len(line) > self._most_bytes
            if full or self._closed:
                self._drop(1)
                return
            self._lines.append(line)
            self._bytes += len(line)
            self._state.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything so far is written; whether it was, in time."""
        with self._state:
            return self._state.wait_for(lambda: not self._lines and not self._busy, timeout_s)

    def close(self, timeout_s: float = 2.0) -> bool:
        """Write what waits and end; whether that was done in time."""
        deadline = time.monotonic() + timeout_s
        done = self.flush(timeout_s)
        with self._state:
            self._closed = True
            self._state.notify_all()
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return done

    def _drop(self, lines: int) -> None:
        self._dropped += lines
        FIGURES.dropped(lines)

    def _run(self) -> None:
        while (lines := self._take()) is not None:
            try:
                self._sink(b"".join(lines))
            except (OSError, ValueError):  # whoever read them has gone
                self._drop(len(lines))
            with self._state:
                self._busy = False
                self._state.notify_all()

    def _take(self) -> list[bytes] | None:
        with self._state:
            self._state.wait_for(lambda: self._lines or self._closed)
            if not self._lines:
                return None
            # Not all at once: what is being written no longer counts as waiting.
            lines = [self._lines.popleft() for _ in range(min(len(self._lines), 500))]
            self._bytes -= sum(map(len, lines))
            self._busy = True
            return lines
