"""Metrics of a consumer, for Prometheus, beside those that `servicekit` makes of what its applier tells.

One set for a process; the labels are few and bounded.
"""

import math
from typing import Final

from prometheus_client import CollectorRegistry

from messaging.consumer.consumer import Consumer
from messaging.consumer.observer import Logged
from servicekit.metrics import counter, gauge

_LABELS: Final = ("follower", "source")


class ConsumerMetrics:
    """The metrics themselves; made once a process, in the registry that `/metrics` shows."""

    def __init__(self, into: CollectorRegistry | None = None) -> None:
        self.garbage = counter(
            "upcard_consumer_garbage_records_total", "Records in Kafka that are no events", _LABELS, into=into
        )
        self.missing = counter(
            "upcard_consumer_events_missing_total",
            "Events that Kafka did not bring: a gap, or a tail",
            (*_LABELS, "where"),
            into=into,
        )
        self.filled = counter(
            "upcard_consumer_events_filled_total", "Events that came over the feed", _LABELS, into=into
        )
        self.troubles = counter(
            "upcard_consumer_troubles_total",
            "Failures that pass",
            (*_LABELS, "what"),
            into=into,
        )
        self.dead_letters = counter(
            "upcard_consumer_dead_letters_total", "Dead letters that were sent", _LABELS, into=into
        )
        self.lag = gauge(
            "upcard_consumer_lag_events",
            "Events still to come in our shards",
            _LABELS,
            into=into,
        )
        self.shards = gauge("upcard_consumer_shards", "Shards that are ours", _LABELS, into=into)
        self.stopped = gauge(
            "upcard_consumer_shards_stopped", "Shards of ours that stand still", _LABELS, into=into
        )
        self.connected = gauge(
            "upcard_consumer_connected_ratio", "1 while a member of its group, else 0", _LABELS, into=into
        )


class Measured(Logged):
    """An observer for a `Consumer` that counts, and writes into the log. `watch` says whom the gauges show.

    The applier's observer is `servicekit.database.FollowerMetrics`.
    """

    def __init__(self, metrics: ConsumerMetrics, follower: str, source: str) -> None:
        self._metrics = metrics
        self._names = (follower, source)

    def watch(self, consumer: Consumer) -> None:
        """Let the gauges show how this consumer stands, whenever they are asked."""
        metrics, names = self._metrics, self._names
        metrics.lag.labels(*names).set_function(lambda: _number(consumer.status.lag))
        metrics.shards.labels(*names).set_function(lambda: float(consumer.status.shards))
        metrics.stopped.labels(*names).set_function(lambda: float(len(consumer.status.stopped)))
        metrics.connected.labels(*names).set_function(lambda: float(consumer.status.connected))

    def garbage(self, topic: str, partition: int, offset: int, why: str) -> None:
        """See `ConsumerObserver`."""
        super().garbage(topic, partition, offset, why)
        self._metrics.garbage.labels(*self._names).inc()

    def missing(self, shard: int, events: int, *, tail: bool) -> None:
        """See `ConsumerObserver`."""
        super().missing(shard, events, tail=tail)
        self._metrics.missing.labels(*self._names, "tail" if tail else "gap").inc(max(0, events))

    def filled(self, shard: int, events: int) -> None:
        """See `ConsumerObserver`."""
        super().filled(shard, events)
        self._metrics.filled.labels(*self._names).inc(events)

    def trouble(self, what: str, error: BaseException) -> None:
        """See `ConsumerObserver`."""
        super().trouble(what, error)
        self._metrics.troubles.labels(*self._names, what).inc()

    def dead_letters(self, sent: int) -> None:
        """See `ConsumerObserver`."""
        super().dead_letters(sent)
        self._metrics.dead_letters.labels(*self._names).inc(sent)


def _number(value: int | None) -> float:
    return math.nan if value is None else float(value)
