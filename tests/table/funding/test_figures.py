"""What operators see of asking for money."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from servicekit.metrics import registry
from upcard_table.adapters.wallet.observing import AskMetrics

Told = Callable[[AskMetrics], Any]


@pytest.mark.parametrize(
    ("tell", "metric", "labels", "by"),
    [
        (lambda one: one.asked(3, 5), "upcard_table_hold_calls_total", {}, 1),
        (lambda one: one.asked(3, 5), "upcard_table_hold_commands_asked_total", {}, 3),
        (
            lambda one: one.answered("held", 0.2),
            "upcard_table_hold_answer_seconds_count",
            {"outcome": "held"},
            1,
        ),
        (
            lambda one: one.failed("unavailable"),
            "upcard_table_hold_call_failures_total",
            {"reason": "unavailable"},
            1,
        ),
        (lambda one: one.not_freed(2), "upcard_table_reserves_not_freed_total", {}, 2),
    ],
)
def test_each_thing_that_is_told_is_counted(
    tell: Told, metric: str, labels: dict[str, str], by: float
) -> None:
    before = registry().get_sample_value(metric, labels) or 0.0
    tell(AskMetrics())
    assert registry().get_sample_value(metric, labels) == before + by
