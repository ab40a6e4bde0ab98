"""Every metric that a service exports, with its labels: from the registry that `/metrics` shows.

Importing what makes metrics registers them, as starting a service does.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from prometheus_client import CollectorRegistry

from messaging.consumer.metrics import ConsumerMetrics
from messaging.relay.metrics import RelayMetrics
from servicekit.metrics import registry

MADE_BY: Final = (
    "servicekit.database.following",
    "servicekit.database.monitor",
    "servicekit.grpc.observing",
    "servicekit.health.heartbeat",
    "servicekit.health.readiness",
    "upcard_bonus.adapters.metrics",
    "upcard_gateway.adapters.metrics",
    "upcard_gateway.adapters.webhook_metrics",
    "upcard_gateway.adapters.play_metrics",
    "upcard_history.adapters.metrics",
    "upcard_table.adapters.metrics",
    "upcard_table.adapters.wallet.observing",
    "upcard_table.entrypoints.grpc.watching",
    "upcard_wallet.adapters.metrics",
)
"""Modules that make metrics where they are loaded."""

SCRAPED: Final = frozenset({"job", "instance"})
"""Labels that Prometheus puts on: `job` is the service's name (deploy/prometheus/prometheus.yml)."""

_PROCESS: Final = {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds"}
_SUFFIXES: Final = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
    "summary": ("", "_sum", "_count"),
}


def exported() -> dict[str, frozenset[str]]:
    """The series' names with their labels, those of Prometheus included."""
    for module in MADE_BY:
        importlib.import_module(module)
    found = _of(registry())
    own = CollectorRegistry()
    ConsumerMetrics(into=own)
    RelayMetrics(into=own)
    found |= _of(own)
    found |= dict.fromkeys(("up", *_PROCESS), SCRAPED)
    return found


def _of(made: CollectorRegistry) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    collectors: Any = made._collector_to_names
    for collector in collectors:
        labels = getattr(collector, "_labelnames", None)
        name, kind = getattr(collector, "_name", None), getattr(collector, "_type", None)
        if labels is None or name is None or kind is None:
            continue
        for suffix in _SUFFIXES[kind]:
            more = {"le"} if suffix == "_bucket" else set()
            found[f"{name}{suffix}"] = frozenset({*labels, *more}) | SCRAPED
    return found
