"""Metrics follow the conventions, and break them nowhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily

import servicekit
from servicekit.metrics import (
    MetricNameError,
    check_metric,
    check_registry,
    counter,
    describe_build,
    gauge,
    histogram,
    registry,
)


@pytest.mark.parametrize(
    ("kind", "name", "labels"),
    [
        ("counter", "upcard_calls_total", ["method"]),
        ("gauge", "upcard_pool_connections", []),
        ("histogram", "upcard_call_duration_seconds", ["method", "code"]),
        ("gauge", "upcard_queue_bytes", []),
    ],
)
def test_good_names(kind: str, name: str, labels: list[str]) -> None:
    check_metric(name, "What it counts", labels, kind=kind)


@pytest.mark.parametrize(
    ("kind", "name", "labels", "why"),
    [
        ("counter", "calls_total", [], "named like upcard_"),
        ("counter", "upcard_Calls_total", [], "lower case"),
        ("counter", "upcard__calls_total", [], "lower case"),
        ("counter", "upcard_calls", [], "ends in _total"),
        ("gauge", "upcard_calls_total", [], "must not end in _total"),
        ("gauge", "upcard_calls_count", [], "must not end in _count"),
        ("histogram", "upcard_call_duration_ms", [], "in seconds"),
        ("histogram", "upcard_size_kilobytes", [], "in bytes"),
        ("gauge", "upcard_used_percent", [], "in ratio"),
        ("counter", "upcard_bets_total", ["player"], "for each player"),
        ("counter", "upcard_bets_total", ["correlation_id"], "for each correlation_id"),
        ("histogram", "upcard_call_duration_seconds", ["le"], "reserved"),
        ("counter", "upcard_bets_total", ["Method"], "lower case"),
    ],
)
def test_bad_names(kind: str, name: str, labels: list[str], why: str) -> None:
    with pytest.raises(MetricNameError, match=why):
        check_metric(name, "What it counts", labels, kind=kind)


def test_a_metric_says_what_it_counts() -> None:
    with pytest.raises(MetricNameError, match="help text"):
        check_metric("upcard_calls_total", "calls", [], kind="counter")


def test_metrics_go_into_the_registry_that_is_named() -> None:
    own = CollectorRegistry()
    counter("upcard_calls_total", "Calls that came", ("method",), into=own).labels("x").inc()
    gauge("upcard_pool_connections", "Connections there are", into=own).set(3)
    histogram("upcard_call_duration_seconds", "How long calls took", into=own).observe(0.1)
    text = generate_latest(own).decode()
    assert 'upcard_calls_total{method="x"} 1.0' in text
    assert "upcard_pool_connections 3.0" in text
    check_registry(own)


def test_a_name_is_taken_once() -> None:
    own = CollectorRegistry()
    counter("upcard_calls_total", "Calls that came", into=own)
    with pytest.raises(ValueError, match="Duplicated"):
        counter("upcard_calls_total", "Calls that came", into=own)


class Foreign:
    """A collector of somebody else."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = GaugeMetricFamily("upcard_things", "Things there are", labels=["player"])
        family.add_metric(["p1"], 1)
        yield family


@pytest.mark.parametrize("kind", [Counter, Gauge])
def test_a_metric_made_behind_our_back_is_found(kind: type[Counter | Gauge]) -> None:
    own = CollectorRegistry()
    kind("somebody_elses", "Made with the client itself", registry=own)
    with pytest.raises(MetricNameError):
        check_registry(own)


def test_a_label_made_behind_our_back_is_found() -> None:
    own = CollectorRegistry()
    own.register(Foreign())
    with pytest.raises(MetricNameError, match="player"):
        check_registry(own)


def test_all_metrics_of_this_package_follow_the_conventions() -> None:
    for module in pkgutil.walk_packages(servicekit.__path__, "servicekit."):
        importlib.import_module(module.name)
    describe_build("test", "1.0")
    check_registry(registry())
    text = generate_latest(registry()).decode()
    assert 'upcard_build_info{service="test",version="1.0"} 1.0' in text
    assert "process_cpu_seconds_total" in text
