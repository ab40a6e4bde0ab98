"""What metrics may be called, and which labels would make too many of them."""

import re
from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric

PREFIX: Final = "upcard_"
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Those of the Prometheus client itself: the process and its interpreter.
_FOREIGN: Final = ("process_", "python_")
# Base units only, so that no dashboard has to know which one a metric was made in.
_WRONG_UNITS: Final = {
    "ms": "seconds",
    "millis": "seconds",
    "milliseconds": "seconds",
    "us": "seconds",
    "microseconds": "seconds",
    "ns": "seconds",
    "minutes": "seconds",
    "hours": "seconds",
    "kb": "bytes",
    "kilobytes": "bytes",
    "mb": "bytes",
    "megabytes": "bytes",
    "percent": "ratio",
}
# A time series for each player or round would grow without end, and name them.
_UNBOUNDED_LABELS: Final = frozenset(
    {
        "account",
        "actor",
        "address",
        "bet_id",
        "card",
        "client_id",
        "correlation_id",
        "event_id",
        "hold",
        "ip",
        "player",
        "request_id",
        "round",
        "salt",
        "session",
        "session_id",
        "span_id",
        "stream",
        "token",
        "trace_id",
        "url",
        "user",
    }
)
# Labels that the client itself makes.
_RESERVED_LABELS: Final = frozenset({"le", "quantile", "job", "instance"})


class MetricNameError(ValueError):
    """A metric's name, label or help text breaks a convention."""


def check_metric(name: str, documentation: str, labels: Iterable[str], *, kind: str) -> None:
    """Refuse a metric that breaks a convention. `name` as it is scraped, so a counter's with `_total`.

    Raises MetricNameError.
    """
    if not name.startswith(PREFIX) or not _NAME.fullmatch(name):
        raise MetricNameError(f"{name}: a metric is named like {PREFIX}what_it_counts_unit, in lower case")
    words = name.split("_")
    if kind == "counter" and words[-1] != "total":
        raise MetricNameError(f"{name}: a counter ends in _total")
    if kind != "counter" and words[-1] in {"total", "count", "sum", "bucket"}:
        raise MetricNameError(f"{name}: a {kind} must not end in _{words[-1]}")
    for word in words:
        if word in _WRONG_UNITS:
            raise MetricNameError(f"{name}: in {_WRONG_UNITS[word]}, not in {word}")
    if len(documentation.split()) < 2:
        raise MetricNameError(f"{name}: says in its help text what it counts")
    for label in labels:
        if label in _UNBOUNDED_LABELS:
            raise MetricNameError(f"{name}: the label {label} would make a time series for each {label}")
        if label in _RESERVED_LABELS or not _NAME.fullmatch(label):
            raise MetricNameError(f"{name}: the label {label} is reserved or not in lower case")


def check_registry(registry: CollectorRegistry) -> None:
    """Check every metric that a registry would give out now. Raises MetricNameError for the first wrong one.

    Labels show only once a metric has values: `check_metric` at its making sees them in any case.
    """
    for metric in registry.collect():
        if not metric.name.startswith(_FOREIGN):
            _check_collected(metric)


def _check_collected(metric: Metric) -> None:
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    made_by_client = {"histogram": {"le"}, "summary": {"quantile"}}.get(metric.type, set())
    labels = {label for sample in metric.samples for label in sample.labels} - made_by_client
    check_metric(name, metric.documentation, sorted(labels), kind=metric.type)
