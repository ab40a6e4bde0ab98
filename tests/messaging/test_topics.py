from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from messaging.broker import BrokerSettings
from messaging.topics import (
    ONE_BROKER,
    Difference,
    TopicSettings,
    TopicUnusable,
    dead_letter_topic_of,
    ensure_topics,
    events_topic,
    topic_of,
    topics_of,
)
from stack import Lane, Stack


async def _make(broker: BrokerSettings, topic: NewTopic) -> None:
    admin = AIOKafkaAdminClient(**broker.client_options())
    await admin.start()
    try:
        assert [code for _, code, _ in (await admin.create_topics([topic])).topic_errors] == [0]
    finally:
        await admin.close()


async def _partitions(broker: BrokerSettings, topic: str) -> int:
    admin = AIOKafkaAdminClient(**broker.client_options())
    await admin.start()
    try:
        (found,) = await admin.describe_topics([topic])
        return len(found["partitions"])
    finally:
        await admin.close()


def _known(stack: Stack, differences: tuple[Difference, ...]) -> list[Difference]:
    # The embedded broker does not tell how a topic is configured, and this is said.
    untold = [one for one in differences if one.what == "configuration"]
    assert bool(untold) == (stack.facts.lane is Lane.EMBEDDED)
    return [one for one in differences if one not in untold]


def test_a_service_has_one_topic_and_one_for_dead_letters() -> None:
    assert topic_of("table") == "upcard.table.v1"
    assert dead_letter_topic_of("upcard.table.v1") == "upcard.table.v1.DLT"
    for wrong in ("", "Table", "a.b", "a-b", "x" * 41, "1a"):
        with pytest.raises(ValueError, match="a service is 1 to 40"):
            topic_of(wrong)


def test_a_cluster_keeps_three_copies_of_which_two_must_agree() -> None:
    spec = events_topic("t", TopicSettings())
    assert (spec.partitions, spec.replication_factor) == (64, 3)
    assert dict(spec.configs) == {
        "cleanup.policy": "delete",
        "max.message.bytes": "1048576",
        "min.insync.replicas": "2",
        "retention.ms": "604800000",
    }
    with pytest.raises(ValueError, match="min_insync_replicas is 1 to replication_factor"):
        TopicSettings(replication_factor=1)


async def test_topics_are_made_once_and_then_compared(
    stack: Stack, broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> None:
    specs = topics_of(unique_topic("made"), topic_settings)
    for _ in range(2):
        assert _known(stack, await ensure_topics(broker, specs)) == []
    assert [await _partitions(broker, spec.name) for spec in specs] == [64, 64]


async def test_missing_partitions_are_added(
    stack: Stack, broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> None:
    spec = events_topic(unique_topic("narrow"), topic_settings)
    await _make(broker, NewTopic(spec.name, 4, spec.replication_factor, topic_configs=dict(spec.configs)))
    assert _known(stack, await ensure_topics(broker, [spec])) == []
    assert await _partitions(broker, spec.name) == 64


async def test_too_many_partitions_cannot_be_used(
    broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> None:
    spec = events_topic(unique_topic("wide"), topic_settings)
    await _make(broker, NewTopic(spec.name, 65, spec.replication_factor))
    with pytest.raises(TopicUnusable, match="has 65 partitions, and a shard is one of 64"):
        await ensure_topics(broker, [spec])


async def test_what_differs_is_said_and_left_alone(
    stack: Stack, broker: BrokerSettings, topic_settings: TopicSettings, unique_topic: Callable[[str], str]
) -> None:
    if stack.facts.lane is Lane.EMBEDDED:
        pytest.skip("the embedded broker does not tell how a topic is configured")
    spec = events_topic(unique_topic("other"), topic_settings)
    configs = dict(spec.configs) | {"retention.ms": "60000", "cleanup.policy": "compact"}
    await _make(broker, NewTopic(spec.name, 64, spec.replication_factor, topic_configs=configs))
    for _ in range(2):
        assert set(await ensure_topics(broker, [spec])) == {
            Difference(spec.name, "cleanup.policy", "delete", "compact"),
            Difference(spec.name, "retention.ms", "604800000", "60000"),
        }
    shown = str(Difference(spec.name, "retention.ms", "604800000", "60000"))
    assert shown == f"topic {spec.name}: retention.ms is 60000, and should be 604800000"


async def test_more_copies_than_brokers_cannot_be_made(
    stack: Stack, broker: BrokerSettings, unique_topic: Callable[[str], str]
) -> None:
    if stack.facts.lane is Lane.EMBEDDED:
        pytest.skip("the embedded broker makes topics whatever copies are asked for")
    spec = events_topic(unique_topic("copies"), TopicSettings(replication_factor=9))
    with pytest.raises(TopicUnusable, match="could not be made: InvalidReplicationFactorError"):
        await ensure_topics(broker, [spec])


async def test_a_broker_that_is_not_there_is_an_error_and_not_a_wait() -> None:
    nowhere = BrokerSettings(bootstrap_servers="127.0.0.1:1")
    with pytest.raises((KafkaError, TimeoutError)):
        async with asyncio.timeout(10):
            await ensure_topics(nowhere, [events_topic("t", ONE_BROKER)], timeout_s=5)


@pytest.mark.parametrize("chosen", [False, True])
async def test_a_cluster_without_a_controller_is_not_ready_and_a_defect_stays_one(
    broker: BrokerSettings,
    topic_settings: TopicSettings,
    unique_topic: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    chosen: bool,
) -> None:
    async def fails(admin: AIOKafkaAdminClient, _: object) -> None:
        if not chosen:
            admin._client.cluster.controller = None
        raise AttributeError("'NoneType' object has no attribute 'nodeId'")

    monkeypatch.setattr(AIOKafkaAdminClient, "create_topics", fails)
    with pytest.raises(AttributeError if chosen else KafkaError, match="nodeId" if chosen else "not ready"):
        await ensure_topics(broker, [events_topic(unique_topic("early"), topic_settings)])
