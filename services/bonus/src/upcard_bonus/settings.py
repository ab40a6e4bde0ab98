"""The bonus service's settings, read from the environment (`UPCARD_…`) and nowhere else."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from eventstore.private import KEY_BYTES, Keyring
from messaging.broker import BrokerSettings as Kafka
from messaging.topics import TopicSettings
from servicekit.grpc import GrpcSettings
from servicekit.settings import BrokerSettings, DatabaseSettings, ServiceSettings
from upcard_bonus.domain.ids import is_opaque_id

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class BonusSettings(ServiceSettings, DatabaseSettings, BrokerSettings, GrpcSettings):
    """Everything that a bonus service can be told."""

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

    jackpot_keys: dict[str, SecretStr] = Field(
        description="what encrypts the secret sizes of jackpots, by id, as JSON,"
        ' such as {"k1": "32 bytes in base64"}',
    )
    jackpot_key: str = Field(description="the id of the key of UPCARD_JACKPOT_KEYS that encrypts new secrets")
    fence_max_s: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=300.0,
        description="after how long a fence of a pool ends by itself, in seconds",
    )
    upkeep_interval_s: Seconds = Field(
        default=1.0, description="how often it is looked for what is over, in seconds"
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
        if value and not is_opaque_id(value):
            raise ValueError("it has to have letters, digits, - and _ only")
        return value

    @field_validator("jackpot_keys")
    @classmethod
    def _jackpot_keys(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if not value:
            raise ValueError("it has to have a key")
        for key_id, secret in value.items():
            if not is_opaque_id(key_id):
                raise ValueError("each id has to have letters, digits, - and _ only")
            _raw_key(secret)
        return value

    @field_validator("jackpot_key")
    @classmethod
    def _jackpot_key(cls, value: str, others: ValidationInfo) -> str:
        keys = others.data.get("jackpot_keys")
        if keys is not None and value not in keys:
            raise ValueError("it has to be one of the ids of UPCARD_JACKPOT_KEYS")
        return value

    def keyring(self) -> Keyring:
        """What the secrets of jackpots are encrypted and read with."""
        keys = {key_id: _raw_key(secret) for key_id, secret in self.jackpot_keys.items()}
        return Keyring(keys, writes_with=self.jackpot_key)

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


def _raw_key(secret: SecretStr) -> bytes:
    try:
        raw = base64.b64decode(secret.get_secret_value(), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("each key has to be base64") from None
    if len(raw) != KEY_BYTES:
        raise ValueError(f"each key has to have {KEY_BYTES} bytes")
    return raw
