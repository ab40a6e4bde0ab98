"""Prometheus metrics: one registry for the process, names that follow the conventions."""

from servicekit.metrics.naming import MetricNameError, check_metric, check_registry
from servicekit.metrics.registry import (
    DURATION_BUCKETS_S,
    SIZE_BUCKETS_BYTES,
    counter,
    describe_build,
    gauge,
    histogram,
    registry,
)

__all__ = [
    "DURATION_BUCKETS_S",
    "SIZE_BUCKETS_BYTES",
    "MetricNameError",
    "check_metric",
    "check_registry",
    "counter",
    "describe_build",
    "gauge",
    "histogram",
    "registry",
]
