"""The history's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from messaging.broker import BrokerSettings as Kafka
from messaging.topics import TopicSettings
from servicekit.grpc import GrpcSettings
from servicekit.settings import BrokerSettings, DatabaseSettings, ServiceSettings

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
_NAMESPACE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class HistorySettings(ServiceSettings, DatabaseSettings, BrokerSettings, GrpcSettings):
    """Everything that a history can be told."""

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

    table_address: str = Field(description="host:port of the table service, whose events are followed")
    wallet_address: str = Field(description="host:port of the wallet, whose events are followed")
    bonus_address: str | None = Field(
        default=None, description="host:port of the bonus service; without it no jackpots and free bets"
    )

    lease_s: Annotated[float, Field(ge=1, le=600)] = Field(
        default=10.0,
        description="after the death of the instance that fills a view another one goes on within this time",
    )
    replay_interval_s: Seconds = Field(
        default=1.0, description="how often finished rounds are looked for that were not replayed, in seconds"
    )
    replays_at_once: int = Field(
        default=2, ge=1, le=64, description="rounds that are replayed at the same time because somebody asks"
    )
    exports_at_once: int = Field(
        default=16,
        ge=1,
        le=1_000,
        description="exports and bundles that are sent at the same time; more are refused",
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
