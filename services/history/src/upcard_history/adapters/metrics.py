"""What the replays show of themselves: metrics, and a line of the log for what is an alarm."""

from __future__ import annotations

from typing import Final

import structlog

from eventstore.coordination.outages import PASSING
from servicekit.metrics import counter, gauge, histogram
from upcard_history.app.replay_queue import ReplayStanding

_replays = counter("upcard_history_replays_total", "Rounds that were replayed, by outcome", ("outcome",))
_took = histogram("upcard_history_replay_seconds", "How long the replay of one round took")
_failures = counter("upcard_history_replay_failures_total", "Failures of replaying that pass")
_wrong: Final = gauge(
    "upcard_history_rounds_disagreeing", "Rounds whose latest replay did not agree; alarm on any"
)
_waiting: Final = gauge("upcard_history_replays_waiting", "Ended rounds that were not replayed yet")
_oldest: Final = gauge(
    "upcard_history_replays_oldest_seconds", "Since when the oldest of them waits; alarm on 600"
)

_log = structlog.get_logger("upcard_history.replays")


class ReplayMetrics:
    """A `ReplayObserver`."""

    def replayed(self, round_name: str, outcome: str, took_s: float) -> None:
        """See `ReplayObserver`."""
        _replays.labels(outcome).inc()
        _took.observe(took_s)
        if outcome != "agreed":
            _log.error("a round does not agree with its replay", round=round_name, outcome=outcome)

    def failed(self, error: BaseException) -> None:
        """See `ReplayObserver`."""
        _failures.inc()
        passing = isinstance(error, PASSING)
        _log.warning("replaying failed", why=type(error).__name__, exc_info=None if passing else error)

    def standing(self, standing: ReplayStanding) -> None:
        """See `ReplayObserver`."""
        _wrong.set(standing.wrong)
        _waiting.set(standing.waiting)
        _oldest.set(standing.oldest_s)
