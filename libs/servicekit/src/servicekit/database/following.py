"""Metrics of followers of a log: projections and consumers."""

from typing import Final

import structlog

from servicekit.metrics import counter, gauge, histogram

_WHO: Final = ("follower", "source")
_log = structlog.get_logger("servicekit.following")

_applied = counter("upcard_follower_events_applied_total", "Events that had their effect", _WHO)
_took = histogram(
    "upcard_follower_transaction_duration_seconds", "How long the effects' transactions took", _WHO
)
_skipped = counter("upcard_follower_events_skipped_total", "Events left out, and why", (*_WHO, "why"))
_retries = counter("upcard_follower_retries_total", "Tries that failed, to be repeated", (*_WHO, "why"))
_parked = counter("upcard_follower_streams_parked_total", "Streams that were parked; alarm on any", _WHO)
_unparked = counter("upcard_follower_streams_unparked_total", "Parked streams that go on again", _WHO)
_stopped = counter(
    "upcard_follower_stops_total", "Stops of followers or shards; alarm on any", (*_WHO, "kind")
)
_lag = gauge("upcard_follower_lag_events", "Events of a shard that are still to come", (*_WHO, "shard"))


class FollowerMetrics:
    """An observer for `eventstore.following`: figures become metrics, alarms are logged too."""

    def applied(self, follower: str, source: str, events: int, took_s: float) -> None:
        """So many events had their effect, in one transaction of this length."""
        _applied.labels(follower, source).inc(events)
        _took.labels(follower, source).observe(took_s)

    def skipped(self, follower: str, source: str, why: str, events: int) -> None:
        """Events were left out."""
        _skipped.labels(follower, source, why).inc(events)

    def retried(self, follower: str, source: str, why: str) -> None:
        """A try failed and will be repeated."""
        _retries.labels(follower, source, why).inc()

    def parked(self, follower: str, source: str, stream: str) -> None:
        """A stream was parked."""
        _parked.labels(follower, source).inc()
        _log.error("a stream is parked", follower=follower, source=source, stream=stream)

    def unparked(self, follower: str, source: str, stream: str) -> None:
        """A stream goes on again."""
        _unparked.labels(follower, source).inc()
        _log.info("a parked stream goes on", follower=follower, source=source, stream=stream)

    def stopped(self, follower: str, source: str, shard: int, kind: str) -> None:
        """A follower or one of its shards stands still."""
        _stopped.labels(follower, source, kind).inc()
        _log.error("a follower stands still", follower=follower, source=source, shard=shard, kind=kind)

    def lag(self, follower: str, source: str, shard: int, events: int) -> None:
        """How many events of a shard were still to come after a page."""
        _lag.labels(follower, source, str(shard)).set(events)
