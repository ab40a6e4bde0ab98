"""Metrics of a store's appender."""

import contextlib
from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from servicekit.metrics import registry


class _AppenderFigures(Collector):
    def __init__(self, waiting: Callable[[], int], lost_wake_ups: Callable[[], int]) -> None:
        self._waiting = waiting
        self._lost_wake_ups = lost_wake_ups

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        yield GaugeMetricFamily(
            "upcard_appends_waiting", "Callers that wait for their append's answer", value=self._waiting()
        )
        yield CounterMetricFamily(
            "upcard_wake_ups_lost_total",
            "Wake-ups of subscribers that could not be sent; they find out by polling",
            value=self._lost_wake_ups(),
        )


@contextlib.contextmanager
def appender_figures(waiting: Callable[[], int], lost_wake_ups: Callable[[], int]) -> Iterator[None]:
    """Publish a store's figures for as long as this lasts; both are asked at each scrape."""
    figures = _AppenderFigures(waiting, lost_wake_ups)
    registry().register(figures)
    try:
        yield
    finally:
        registry().unregister(figures)
