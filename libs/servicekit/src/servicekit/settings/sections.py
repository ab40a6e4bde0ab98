"""Settings that every service has, and those of what it may stand on: take what a service needs.

class TableSettings(ServiceSettings, DatabaseSettings, BrokerSettings): ...
"""

import re
import socket
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationInfo, field_validator

from servicekit.context import is_fit
from servicekit.settings.environment import Settings

Port = Annotated[int, Field(ge=0, le=65_535)]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]


def _lower(value: Any) -> Any:  # noqa: ANN401 - whatever was given; pydantic judges it
    return value.lower() if isinstance(value, str) else value


class ServiceSettings(Settings):
    """What every service has."""

    instance: str = Field(
        default_factory=socket.gethostname,
        description="a name of this process among its like, of letters, digits and ._:@/+=-",
    )
    log_level: Annotated[LogLevel, BeforeValidator(_lower)] = Field(
        default="info", description="debug, info, warning, error or critical"
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        description="the address where metrics and health are served, such as 127.0.0.1 or 0.0.0.0",
    )
    metrics_port: Port = Field(default=0, description="the port for metrics and health, or 0 for a free one")
    start_deadline_s: float = Field(
        default=60.0, gt=0, le=3_600, description="the longest that a start may take, in seconds"
    )
    stop_delay_s: float = Field(
        default=0.0,
        ge=0,
        le=300,
        description="seconds to go on serving, not ready, when told to stop: balancers look away",
    )
    stop_deadline_s: float = Field(
        default=25.0,
        gt=0,
        le=3_600,
        description="the longest that a stop may take, in seconds, the delay not counted",
    )
    loop_stall_s: float = Field(
        default=10.0,
        gt=0,
        le=3_600,
        description="seconds without a turn of the event loop after which the process is not live",
    )
    tracing_endpoint: str | None = Field(
        default=None, description="the address of an OTLP collector (gRPC), such as http://127.0.0.1:4317"
    )
    tracing_sample_ratio: float = Field(
        default=0.1, ge=0, le=1, description="the share of traces that are recorded, from 0 to 1"
    )

    @field_validator("instance")
    @classmethod
    def _instance(cls, value: str) -> str:
        if not is_fit(value):
            raise ValueError("it has characters that a name cannot have, or is empty or too long")
        return value

    @field_validator("tracing_endpoint")
    @classmethod
    def _endpoint(cls, value: str | None) -> str | None:
        if value is not None:
            _check_address(value, {"http", "https"})
        return value


class DatabaseSettings(Settings):
    """The service's own database."""

    dsn: SecretStr = Field(
        description="the address of the service's database, such as postgresql://name:password@host:5432/database"
    )
    database_pool_min: int = Field(default=2, ge=0, le=1_000, description="connections that are kept open")
    database_pool_max: int = Field(
        default=16, ge=5, le=1_000, description="the most connections, of which a store keeps four"
    )
    clock_skew_max_ms: int = Field(
        default=100,
        ge=1,
        le=60_000,
        description="the most that our clock may differ from the database's, in milliseconds",
    )
    shard_held_alarm_s: float = Field(
        default=1.0,
        gt=0,
        le=3_600,
        description="seconds that a session may hold a shard before it is named in an alarm",
    )

    projection_lag_max_events: int = Field(
        default=10_000,
        ge=1,
        le=10**9,
        description="events that a projection may be behind, the service being ready all the same",
    )

    @field_validator("dsn")
    @classmethod
    def _dsn(cls, value: SecretStr) -> SecretStr:
        parts = _check_address(value.get_secret_value(), {"postgresql", "postgres"})
        if not parts.strip("/"):
            raise ValueError("it names no database")
        return value

    @field_validator("database_pool_max")
    @classmethod
    def _pool(cls, value: int, others: ValidationInfo) -> int:
        least = others.data.get("database_pool_min")
        if least is not None and least > value:
            raise ValueError(f"it is less than UPCARD_DATABASE_POOL_MIN, which is {least}")
        return value


_BROKER = re.compile(r"(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})")


class BrokerSettings(Settings):
    """Kafka."""

    kafka_bootstrap: tuple[str, ...] = Field(
        min_length=1, description="brokers to ask first, with commas between, such as one:9092,two:9092"
    )
    kafka_security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"
    )
    kafka_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        default="SCRAM-SHA-512", description="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
    )
    kafka_username: str | None = Field(default=None, description="the name to give to the broker")
    kafka_password: SecretStr | None = Field(default=None, description="the password to give to the broker")
    kafka_authorities_file: Path | None = Field(
        default=None, description="a file of the certificates (PEM) that brokers' certificates are signed by"
    )
    consumer_lag_max_events: int = Field(
        default=10_000,
        ge=1,
        le=10**9,
        description="events that a consumer may be behind, the service being ready all the same",
    )

    @field_validator("kafka_bootstrap")
    @classmethod
    def _bootstrap(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            found = _BROKER.fullmatch(one)
            if found is None or not 1 <= int(found["port"]) <= 65_535:
                raise ValueError("each broker has to be host:port")
        return value

    @field_validator("kafka_authorities_file")
    @classmethod
    def _authorities(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_file():
            raise ValueError("there is no such file")
        return value

    @field_validator("kafka_username", "kafka_password")
    @classmethod
    def _credentials(cls, value: str | SecretStr | None, others: ValidationInfo) -> str | SecretStr | None:
        security = others.data.get("kafka_security")
        if value is None and security is not None and security.startswith("SASL"):
            raise ValueError(f"UPCARD_KAFKA_SECURITY is {security}, which needs it")
        return value


_PLACE = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*)(?::(?P<port>\d{1,5}))?")


def _check_address(address: str, schemes: set[str]) -> str:
    """The path of an address; raises ValueError with words that do not show the address.

    A database's may name several hosts, with commas between: whichever is the primary is used.
    """
    try:
        parts = urlsplit(address)
        hosts = [_PLACE.fullmatch(host) for host in parts.netloc.rpartition("@")[2].split(",")]
    except ValueError:
        raise ValueError("it is not an address") from None
    if parts.scheme not in schemes:
        raise ValueError(f"it does not begin with {' or '.join(f'{one}://' for one in sorted(schemes))}")
    for host in hosts:
        if host is None:
            raise ValueError("it is not an address")
        if not host["name"] and "host=" not in parts.query:
            raise ValueError("it names no host")
        if host["port"] and not 1 <= int(host["port"]) <= 65_535:
            raise ValueError(f"its port is {int(host['port'])}")
    return parts.path
