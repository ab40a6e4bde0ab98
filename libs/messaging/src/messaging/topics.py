"""Topics: one a service for its events, one beside it for dead letters. Made by code, and compared.

Partition = shard, so the number of partitions is part of the contract. Kafka is transport: what it holds is
in the log too, so a topic may be made again at any time, and costs its readers nothing but time.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    IncompatibleBrokerVersion,
    InvalidPartitionsError,
    KafkaError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
    for_code,
)

from eventstore import SHARDS
from messaging.broker import BrokerSettings
from messaging.envelope import check_service

DEAD_LETTER_SUFFIX: Final = ".DLT"
"""What a topic of dead letters is called beside the topic whose events it holds."""

RETENTION_MS: Final = 7 * 24 * 3600 * 1000
"""How long events stay in Kafka, in milliseconds: 7 days."""

DEAD_LETTER_RETENTION_MS: Final = 30 * 24 * 3600 * 1000
"""How long dead letters stay, in milliseconds: 30 days, since people look at them."""

MAX_MESSAGE_BYTES: Final = 1_048_576
"""Largest batch of a topic, in bytes: an event of 1,000,000 bytes with its key and headers."""

_LAG_S: Final = 0.05
"""Pause before a broker is asked again about what it may not know yet."""


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """How the topics of a service are made, where clusters differ."""

    replication_factor: int = 3
    min_insync_replicas: int = 2
    retention_ms: int = RETENTION_MS
    dead_letter_retention_ms: int = DEAD_LETTER_RETENTION_MS
    max_message_bytes: int = MAX_MESSAGE_BYTES

    def __post_init__(self) -> None:
        if not 1 <= self.min_insync_replicas <= self.replication_factor:
            raise ValueError(
                f"min_insync_replicas is 1 to replication_factor ({self.replication_factor}),"
                f" not {self.min_insync_replicas}"
            )


ONE_BROKER: Final = TopicSettings(replication_factor=1, min_insync_replicas=1)
"""Settings for a broker that stands alone."""


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """What a topic is to be."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]
    """Kafka's own names and values, sorted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What of a topic is not as it should be, and was left as it is."""

    topic: str
    what: str
    wanted: str
    found: str

    def __str__(self) -> str:
        return f"topic {self.topic}: {self.what} is {self.found}, and should be {self.wanted}"


class TopicUnusable(Exception):
    """A topic could not be made, or cannot carry events: the sentence says which and why."""

    slug: ClassVar[str] = "topic_unusable"


def topic_of(service: str) -> str:
    """The topic of a service's events: `upcard.<service>.v1`."""
    return f"upcard.{check_service(service)}.v1"


def dead_letter_topic_of(topic: str) -> str:
    """The topic beside it for what could not be applied."""
    return f"{topic}{DEAD_LETTER_SUFFIX}"


def events_topic(name: str, settings: TopicSettings) -> TopicSpec:
    """A topic for events: 64 partitions, old events deleted, never compacted."""
    return _spec(name, settings, settings.retention_ms)


def dead_letters_topic(topic: str, settings: TopicSettings) -> TopicSpec:
    """The topic for dead letters beside `topic`, with the same partitions."""
    return _spec(dead_letter_topic_of(topic), settings, settings.dead_letter_retention_ms)


def topics_of(topic: str, settings: TopicSettings) -> tuple[TopicSpec, TopicSpec]:
    """Both topics: events and dead letters."""
    return events_topic(topic, settings), dead_letters_topic(topic, settings)


def _spec(name: str, settings: TopicSettings, retention_ms: int) -> TopicSpec:
    configs = {
        "cleanup.policy": "delete",
        "max.message.bytes": str(settings.max_message_bytes),
        "min.insync.replicas": str(settings.min_insync_replicas),
        "retention.ms": str(retention_ms),
    }
    return TopicSpec(name, SHARDS, settings.replication_factor, tuple(sorted(configs.items())))


async def ensure_topics(
    broker: BrokerSettings, specs: Sequence[TopicSpec], *, timeout_s: float = 20.0
) -> tuple[Difference, ...]:
    """Make the topics that are missing, and say what of those that are there differs.

    Partitions that are missing are added. A broker that cannot add any (the embedded one, which also makes
    a topic of four partitions of its own accord when someone merely asks for it) makes the topic anew.
    All other differences are returned and left alone: whoever runs the cluster may have had reasons.

    Raises TopicUnusable, KafkaError (the broker cannot be reached) or TimeoutError.
    """
    async with asyncio.timeout(timeout_s), _admin(broker) as admin:
        for spec in specs:
            await _create(admin, spec)
        differences: list[Difference] = []
        for spec in specs:
            differences += _replicas(spec, await _as_wide_as_wanted(admin, spec))
        for spec in specs:
            differences += await _configs(admin, spec)
    return tuple(differences)


@asynccontextmanager
async def _admin(broker: BrokerSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**broker.client_options())
    try:
        await admin.start()
        yield admin
    except AttributeError as error:
        # What aiokafka comes to when the cluster has not chosen its controller yet.
        if admin._client.cluster.controller is not None:  # noqa: SLF001 - there is no public way to ask
            raise
        raise KafkaError("the cluster is not ready to make topics") from error
    finally:
        await admin.close()


async def _create(admin: AIOKafkaAdminClient, spec: TopicSpec) -> None:
    answer = await admin.create_topics(
        [NewTopic(spec.name, spec.partitions, spec.replication_factor, topic_configs=dict(spec.configs))]
    )
    ((_, code, message),) = answer.topic_errors
    error = for_code(code)
    if code and error is not TopicAlreadyExistsError:
        raise TopicUnusable(f"topic {spec.name} could not be made: {error.__name__}: {message}")


async def _as_wide_as_wanted(admin: AIOKafkaAdminClient, spec: TopicSpec) -> list[dict[str, Any]]:
    # What a broker says of a topic lags behind what was done to it: asked again, until the time is over.
    while True:
        # Never before the topic was made: asking the embedded broker about one that is not there makes it.
        (found,) = await admin.describe_topics([spec.name])
        partitions: list[dict[str, Any]] = found["partitions"]
        count = len(partitions)
        if count > spec.partitions:
            raise TopicUnusable(
                f"topic {spec.name} has {count} partitions, and a shard is one of {spec.partitions}"
            )
        if count == spec.partitions and all(one["replicas"] for one in partitions):
            return partitions
        if count < spec.partitions and not found["error_code"]:
            await _widen(admin, spec, count)
        await asyncio.sleep(_LAG_S)


async def _widen(admin: AIOKafkaAdminClient, spec: TopicSpec, found: int) -> None:
    try:
        await admin.create_partitions({spec.name: NewPartitions(spec.partitions)})
    except InvalidPartitionsError:
        return  # it has them already, or more: what was found is old
    except IncompatibleBrokerVersion:
        await admin.delete_topics([spec.name])
        await _create(admin, spec)
    except KafkaError as error:
        raise TopicUnusable(
            f"topic {spec.name} has {found} partitions instead of {spec.partitions}, and no more could be"
            f" added: {error}"
        ) from error


def _replicas(spec: TopicSpec, partitions: Sequence[dict[str, Any]]) -> list[Difference]:
    counts = sorted({len(one["replicas"]) for one in partitions})
    if counts == [spec.replication_factor]:
        return []
    found = " and ".join(map(str, counts))
    return [Difference(spec.name, "replication factor", str(spec.replication_factor), found)]


async def _configs(admin: AIOKafkaAdminClient, spec: TopicSpec) -> list[Difference]:
    resource = ConfigResource(
        ConfigResourceType.TOPIC, spec.name, configs=dict.fromkeys(dict(spec.configs), "")
    )
    while True:
        try:
            (answer,) = await admin.describe_configs([resource])
        except KafkaError as error:
            # The embedded broker ends the connection at this question.
            return [_untold(spec, str(error))]
        code, message, _, _, entries = answer.resources[0]
        if for_code(code) is not UnknownTopicOrPartitionError:
            break
        await asyncio.sleep(_LAG_S)  # one of several brokers is asked, and it has not heard of it yet
    if code:
        return [_untold(spec, f"{for_code(code).__name__}: {message}")]
    found = {name: value for name, value, *_ in entries}
    return [
        Difference(spec.name, name, wanted, str(found.get(name)))
        for name, wanted in spec.configs
        if found.get(name) != wanted
    ]


def _untold(spec: TopicSpec, why: str) -> Difference:
    return Difference(spec.name, "configuration", "known", f"not told by the broker ({why})")
