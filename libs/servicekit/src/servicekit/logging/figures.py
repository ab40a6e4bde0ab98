"""Metrics of the log itself.

Not made with the client's counters: those hold a plain lock while they count. A garbage collection at that
moment may run a finaliser that logs, in the same thread, and would wait for the lock for ever.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from servicekit.metrics import registry


class LogFigures(Collector):
    """Counts lines."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._written: Counter[str] = Counter()
        self._dropped = 0

    def written(self, level: str) -> None:
        """A line was handed to the writer."""
        with self._lock:
            self._written[level] += 1

    def dropped(self, lines: int) -> None:
        """Lines were lost."""
        with self._lock:
            self._dropped += lines

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The metrics."""
        lines = CounterMetricFamily(
            "upcard_log_lines_total", "Lines of the log by level, dropped ones included", labels=["level"]
        )
        with self._lock:
            for level, count in list(self._written.items()):
                lines.add_metric([level], count)
            dropped = self._dropped
        yield lines
        yield CounterMetricFamily(
            "upcard_log_lines_dropped_total",
            "Lines of the log that nobody took in time, or at all",
            value=dropped,
        )


FIGURES: Final = LogFigures()
registry().register(FIGURES)
