"""What a relay counts, and what it writes into the log."""

from __future__ import annotations

import logging

import pytest
from aiokafka.errors import MessageSizeTooLargeError
from prometheus_client import CollectorRegistry

from messaging.relay import RelayObserver
from messaging.relay.metrics import MeasuredRelay, RelayMetrics
from servicekit.metrics import check_registry
from tests.messaging.relay.rig import Rig
from tests.messaging.relay.watching import running, until

TOPIC = {"topic": "upcard.table.v1"}


async def test_a_running_relay_is_counted(rig: Rig) -> None:
    registry = CollectorRegistry()
    labels = {"topic": rig.topic}
    measured: RelayObserver = MeasuredRelay(RelayMetrics(registry), rig.topic)
    await rig.fill(10, 3)
    assert registry.get_sample_value("upcard_relay_active_ratio", labels) == 0
    async with running(rig.new_relay(observer=measured)):
        await rig.until_published()
        assert registry.get_sample_value("upcard_relay_active_ratio", labels) == 1
        assert registry.get_sample_value("upcard_relay_published_events_total", labels) == 30
        await until(lambda: registry.get_sample_value("upcard_relay_lag_events", labels) == 0, "no lag")
        check_registry(registry)
    assert registry.get_sample_value("upcard_relay_active_ratio", labels) == 0
    looked_s = registry.get_sample_value("upcard_relay_looked_timestamp_seconds", labels)
    assert looked_s is not None
    assert looked_s > 1e9


def test_what_people_should_know_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    registry = CollectorRegistry()
    measured = MeasuredRelay(RelayMetrics(registry), TOPIC["topic"])
    too_large = MessageSizeTooLargeError("too large")
    refused = f"MessageSizeTooLargeError: {too_large}"
    with caplog.at_level(logging.INFO, logger="messaging.relay"):
        measured.active(7)
        measured.reset(5, 12)
        measured.shard_failed(5, too_large, 0.4)
        measured.connection_failed(ConnectionError("away"), 2.0)
        measured.topic_differs("topic x: replication factor is 1, and should be 3")
        measured.stored(3)
        measured.passive("stopped")
    assert [record.getMessage() for record in caplog.records] == [
        "relay of upcard.table.v1: active, token 7",
        "relay of upcard.table.v1: shard 5 is published again after 12",
        f"relay of upcard.table.v1: shard 5 stands still: {refused}; again in 0.4 s",
        "relay of upcard.table.v1: ConnectionError: away; again in 2.0 s",
        "relay of upcard.table.v1: topic x: replication factor is 1, and should be 3",
        "relay of upcard.table.v1: no longer active: stopped",
    ]
    failures = registry.get_sample_value("upcard_relay_shard_failures_total", {**TOPIC, "shard": "5"})
    assert failures == 1
    assert registry.get_sample_value("upcard_relay_positions_reset_total", TOPIC) == 1
    assert registry.get_sample_value("upcard_relay_connection_failures_total", TOPIC) == 1
