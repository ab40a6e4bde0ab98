"""The process's registry, and making metrics in it."""

from collections.abc import Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from servicekit.metrics.naming import check_metric

DURATION_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds for durations, in seconds: a commit takes about one millisecond, a deadline ten seconds."""
SIZE_BUCKETS_BYTES: Final = (256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304)
"""Upper bounds for sizes, in bytes."""


def _new_registry() -> CollectorRegistry:
    # Not the client's own default registry: what some library registers there is not ours to publish.
    made = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=made)
    PlatformCollector(registry=made)
    GCCollector(registry=made)
    return made


_registry: Final = _new_registry()


def registry() -> CollectorRegistry:
    """The registry of this process; what `/metrics` shows."""
    return _registry


def counter(
    name: str, documentation: str, labels: Sequence[str] = (), *, into: CollectorRegistry | None = None
) -> Counter:
    """Make a counter, named with its `_total`. Made once a process, where a module is loaded.

    Raises MetricNameError, and ValueError when the name is taken.
    """
    check_metric(name, documentation, labels, kind="counter")
    return Counter(name, documentation, labels, registry=into or _registry)


def gauge(
    name: str, documentation: str, labels: Sequence[str] = (), *, into: CollectorRegistry | None = None
) -> Gauge:
    """Make a gauge. Raises as `counter` does."""
    check_metric(name, documentation, labels, kind="gauge")
    return Gauge(name, documentation, labels, registry=into or _registry)


def histogram(
    name: str,
    documentation: str,
    labels: Sequence[str] = (),
    *,
    buckets: Sequence[float] = DURATION_BUCKETS_S,
    into: CollectorRegistry | None = None,
) -> Histogram:
    """Make a histogram; its name ends in its unit. Raises as `counter` does."""
    check_metric(name, documentation, labels, kind="histogram")
    return Histogram(name, documentation, labels, buckets=buckets, registry=into or _registry)


_build = gauge(
    "upcard_build_info", "Which service and version this process is; always 1", ("service", "version")
)


def describe_build(service: str, version: str) -> None:
    """Publish which service and version this process is."""
    _build.labels(service, version).set(1)
