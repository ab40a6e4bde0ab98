"""What the table service shows of itself: metrics, and a line of the log for what a person has to see."""

from __future__ import annotations

from typing import Final

import structlog

from servicekit.metrics import counter, gauge, histogram

_log = structlog.get_logger("upcard_table")

_batches: Final = histogram("upcard_table_batch_seconds", "How long batches took to be durable")
_works: Final = counter("upcard_table_works_total", "Works that were decided and are durable")
_events: Final = counter("upcard_table_events_total", "Events that owners have recorded")
_refused: Final = counter("upcard_table_refused_total", "Works that were refused", ("reason",))
_declined: Final = counter("upcard_table_declined_total", "Wagers that were declined", ("reason",))
_dropped: Final = counter(
    "upcard_table_states_dropped_total", "States that were dropped and loaded anew", ("why",)
)
_late: Final = histogram("upcard_table_window_late_seconds", "How late windows were closed")
_taken_over: Final = histogram("upcard_table_take_over_seconds", "How long taking tables over took")
_floor: Final = gauge(
    "upcard_table_waiting_for_floor", "Tables whose round waits for the floor; alarm on any"
)


owned_tables: Final = gauge("upcard_table_owned_tables", "Tables that this instance owns")
waiting_works: Final = gauge("upcard_table_waiting_works", "Works that have no result yet")
watched_tables: Final = gauge("upcard_table_watched_tables", "Tables that are kept for watchers")
upkeep_failures: Final = counter(
    "upcard_table_upkeep_failures_total", "Failures of upkeep that pass", ("what",)
)


class OwnerMetrics:
    """An `OwnerObserver`."""

    def __init__(self) -> None:
        self._waiting: set[str] = set()

    def batch(self, works: int, events: int, took_s: float) -> None:
        """See `OwnerObserver`."""
        _works.inc(works)
        _events.inc(events)
        _batches.observe(took_s)

    def refused(self, slug: str) -> None:
        """See `OwnerObserver`."""
        _refused.labels(slug).inc()

    def declined(self, reason: str) -> None:
        """See `OwnerObserver`."""
        _declined.labels(reason).inc()

    def dropped(self, why: str) -> None:
        """See `OwnerObserver`."""
        _dropped.labels(why).inc()
        _log.warning("a table's state was dropped", why=why)

    def late(self, late_s: float) -> None:
        """See `OwnerObserver`."""
        _late.observe(late_s)

    def taken_over(self, took_s: float) -> None:
        """See `OwnerObserver`."""
        _taken_over.observe(took_s)

    def waiting_for_floor(self, table: str, *, waits: bool) -> None:
        """See `OwnerObserver`."""
        if waits and table not in self._waiting:
            _log.error("a round waits for the floor: extend its window, or cancel it", table=table)
        (self._waiting.add if waits else self._waiting.discard)(table)
        _floor.set(len(self._waiting))
