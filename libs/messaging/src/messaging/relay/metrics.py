"""What a relay tells of itself, in the log and as metrics for Prometheus.

One set of metrics for a process; the labels are few and bounded.
"""

import logging
import time
from typing import Final

from prometheus_client import CollectorRegistry

from servicekit.metrics import counter, gauge

_log: Final = logging.getLogger("messaging.relay")
_LABELS: Final = ("topic",)


class RelayMetrics:
    """The metrics themselves; made once a process, in the registry that `/metrics` shows."""

    def __init__(self, into: CollectorRegistry | None = None) -> None:
        self.active = gauge(
            "upcard_relay_active_ratio",
            "1 while this process holds the relay's lease, else 0",
            _LABELS,
            into=into,
        )
        self.published = counter(
            "upcard_relay_published_events_total",
            "Events that the broker has acknowledged",
            _LABELS,
            into=into,
        )
        self.lag = gauge(
            "upcard_relay_lag_events",
            "Events still to be published, as the active relay saw it",
            _LABELS,
            into=into,
        )
        self.looked = gauge(
            "upcard_relay_looked_timestamp_seconds", "When the log was last looked at", _LABELS, into=into
        )
        self.resets = counter(
            "upcard_relay_positions_reset_total", "Positions that someone moved back", _LABELS, into=into
        )
        self.shard_failures = counter(
            "upcard_relay_shard_failures_total",
            "Tries to publish a shard that failed for that shard alone",
            (*_LABELS, "shard"),
            into=into,
        )
        self.connection_failures = counter(
            "upcard_relay_connection_failures_total",
            "Failures of broker or database, after which all was tried again",
            _LABELS,
            into=into,
        )


class MeasuredRelay:
    """A `RelayObserver` for one topic: counts, and writes what people should read into the log."""

    def __init__(self, metrics: RelayMetrics, topic: str) -> None:
        self._metrics = metrics
        self._topic = topic
        metrics.active.labels(topic).set(0)

    def active(self, token: int) -> None:
        """See `RelayObserver`."""
        _log.info("relay of %s: active, token %d", self._topic, token)
        self._metrics.active.labels(self._topic).set(1)

    def passive(self, reason: str) -> None:
        """See `RelayObserver`."""
        _log.info("relay of %s: no longer active: %s", self._topic, reason)
        self._metrics.active.labels(self._topic).set(0)

    def acknowledged(self, shard: int, events: int, through: int) -> None:  # noqa: ARG002 - one series a topic is enough
        """See `RelayObserver`."""
        self._metrics.published.labels(self._topic).inc(events)

    def stored(self, shards: int) -> None:
        """See `RelayObserver`."""

    def lag(self, events: int) -> None:
        """See `RelayObserver`."""
        self._metrics.lag.labels(self._topic).set(events)
        self._metrics.looked.labels(self._topic).set(time.time())

    def reset(self, shard: int, position: int) -> None:
        """See `RelayObserver`."""
        _log.warning("relay of %s: shard %d is published again after %d", self._topic, shard, position)
        self._metrics.resets.labels(self._topic).inc()

    def shard_failed(self, shard: int, error: Exception, pause_s: float) -> None:
        """See `RelayObserver`."""
        _log.error(
            "relay of %s: shard %d stands still: %s: %s; again in %.1f s",
            self._topic,
            shard,
            type(error).__name__,
            error,
            pause_s,
        )
        self._metrics.shard_failures.labels(self._topic, str(shard)).inc()

    def connection_failed(self, error: Exception, pause_s: float) -> None:
        """See `RelayObserver`."""
        _log.warning(
            "relay of %s: %s: %s; again in %.1f s", self._topic, type(error).__name__, error, pause_s
        )
        self._metrics.connection_failures.labels(self._topic).inc()

    def topic_differs(self, what: str) -> None:
        """See `RelayObserver`."""
        _log.warning("relay of %s: %s", self._topic, what)
