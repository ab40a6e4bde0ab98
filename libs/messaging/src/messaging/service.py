"""What every service on Kafka has alike: its settings, publishing its own log, following others'."""

import re
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field, ValidationInfo, field_validator

from eventstore import EventFilter
from eventstore.events import EVERYTHING
from eventstore.following import Applier, Handler
from eventstore.postgres import Pool, PostgresEventStore
from messaging.broker import BrokerSettings as Kafka
from messaging.consumer import Consumer, ConsumerSettings
from messaging.consumer.metrics import ConsumerMetrics, Measured
from messaging.consumer.tracing import traced
from messaging.dead_letters.sender import DeadLetterSender
from messaging.feed import FEED, GrpcFeed
from messaging.operations import LocalOperations
from messaging.relay import Relay, RelaySettings
from messaging.relay.metrics import MeasuredRelay, RelayMetrics
from messaging.topics import TopicSettings, topic_of
from servicekit.database import FollowerMetrics
from servicekit.grpc import GrpcSettings, open_channel
from servicekit.health import below
from servicekit.lifecycle import Service
from servicekit.settings import BrokerSettings

_NAMESPACE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RELAY_STOPS_WITHIN_S: Final = 12.0
_CONSUMER_STOPS_WITHIN_S: Final = 20.0


class EventsSettings(BrokerSettings):
    """How a service publishes and follows events."""

    kafka_idempotent_producer: bool = Field(
        default=True,
        description="whether the broker takes idempotent producers, which the embedded one does not",
    )
    kafka_replicas: int = Field(default=3, ge=1, le=10, description="copies of each topic")
    kafka_replicas_in_sync: int = Field(
        default=2, ge=1, le=10, description="copies that have to agree before an event counts as published"
    )
    kafka_fetch_wait_ms: int = Field(
        default=500,
        ge=1,
        le=30_000,
        description="how long a broker may wait for something new; 20 for the embedded one",
    )
    kafka_namespace: str = Field(
        default="",
        description="put before the names of topics and groups where installations share brokers",
    )

    @field_validator("kafka_replicas_in_sync")
    @classmethod
    def _in_sync(cls, value: int, others: ValidationInfo) -> int:
        copies = others.data.get("kafka_replicas")
        if copies is not None and value > copies:
            raise ValueError(f"it is more than UPCARD_KAFKA_REPLICAS, which is {copies}")
        return value

    @field_validator("kafka_namespace")
    @classmethod
    def _namespace(cls, value: str) -> str:
        if value and not _NAMESPACE.fullmatch(value):
            raise ValueError("it has to have letters, digits, - and _ only, 64 at the most")
        return value

    def kafka(self, client_id: str) -> Kafka:
        """How the broker is reached."""
        return Kafka.of_service(self, client_id=client_id, idempotent_producer=self.kafka_idempotent_producer)

    def named(self, name: str) -> str:
        """The name of a topic or group in this installation."""
        return f"{self.kafka_namespace}.{name}" if self.kafka_namespace else name

    def topics(self) -> TopicSettings:
        """How topics are made that are missing."""
        return TopicSettings(
            replication_factor=self.kafka_replicas, min_insync_replicas=self.kafka_replicas_in_sync
        )


class ConnectedSettings(EventsSettings, GrpcSettings):
    """The same of a service that also speaks gRPC: the feeds of others are reached so."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Another service whose events are followed: where its feed is, what its events do, which are wanted."""

    source: str
    address: str
    """host:port."""
    handler: Handler
    wanted: EventFilter = EVERYTHING


async def start_relay(service: Service[Any], settings: EventsSettings, pool: Pool, name: str) -> None:
    """Publish the service's log, as its next stage: one instance is active, the others wait."""
    topic = settings.named(topic_of(name))
    relay = Relay(
        pool,
        settings.kafka(service.instance),
        name,
        topic=topic,
        settings=RelaySettings(topics=settings.topics()),
        observer=MeasuredRelay(RelayMetrics(), topic),
        holder=service.instance,
    )
    await service.run("relay", relay.run, stop_within_s=_RELAY_STOPS_WITHIN_S)


class Following:
    """Starts a consumer for each service that is followed; `name` is the follower's, this service's own."""

    def __init__(
        self,
        service: Service[Any],
        settings: ConnectedSettings,
        pool: Pool,
        store: PostgresEventStore,
        name: str,
    ) -> None:
        self._service = service
        self._settings = settings
        self._pool = pool
        self._store = store
        self._name = name
        self._metrics = ConsumerMetrics()
        self.consumers: list[tuple[str, Consumer]] = []
        """Those that were started, by their sources."""

    async def start(self, followed: Followed) -> Consumer:
        """Follow it, as the next stages: from Kafka, and over its feed what Kafka does not bring.

        Readiness says no while it is too far behind. A source that has not answered yet is no reason:
        services that follow each other could else never start.
        """
        service, settings, source = self._service, self._settings, followed.source
        kafka = settings.kafka(service.instance)
        topic = settings.named(topic_of(source))
        channel = await service.start(
            f"feed of {source}",
            open_channel(followed.address, audience=source, services=[FEED], settings=settings.calls),
        )
        measured = Measured(self._metrics, self._name, source)
        consumer = Consumer(
            Applier(
                self._pool,
                self._name,
                source,
                traced(followed.handler),
                store=self._store,
                observer=FollowerMetrics(),
            ),
            GrpcFeed(channel, source),
            kafka,
            topic=topic,
            group=settings.named(f"{self._name}-{source}"),
            wanted=followed.wanted,
            topic_settings=settings.topics(),
            settings=ConsumerSettings(fetch_max_wait_ms=settings.kafka_fetch_wait_ms),
            observer=measured,
            dead_letters=DeadLetterSender(self._pool, kafka, self._name, source, topic=topic),
        )
        measured.watch(consumer)
        await service.run(f"consumer of {source}", consumer.run, stop_within_s=_CONSUMER_STOPS_WITHIN_S)
        service.readiness.add(
            below(
                f"consumer of {source}",
                lambda: consumer.status.lag or 0,
                settings.consumer_lag_max_events,
                what="events behind",
            )
        )
        self.consumers.append((source, consumer))
        return consumer


def operations_of(
    service: Service[Any],
    settings: EventsSettings,
    pool: Pool,
    name: str,
    *,
    following: Following | None = None,
    publishes: bool = True,
) -> LocalOperations:
    """The machinery of a service, for people who look after it (`exposed_operations` serves it).

    `publishes`: whether it has a relay, so also a topic of dead letters.
    """
    return LocalOperations(
        name,
        pool,
        broker=settings.kafka(service.instance) if publishes else None,
        topic=settings.named(topic_of(name)) if publishes else None,
        consumers=() if following is None else following.consumers,
    )
