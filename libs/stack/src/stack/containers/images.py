"""What is run from which image. docker-compose.yml says the same; a test compares them."""

from __future__ import annotations

from dataclasses import dataclass

POSTGRES_IMAGE = "postgres:18"
KAFKA_IMAGE = "apache/kafka:4.3.1"
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Image:
    """One container to run."""

    name: str
    image: str
    port: int
    """The port inside the container."""
    environment: dict[str, str]
    command: tuple[str, ...] = ()
    memory_bytes: int = 1024 * MEBIBYTE


def postgres(password: str) -> Image:
    """PostgreSQL 18."""
    return Image(
        name="postgresql",
        image=POSTGRES_IMAGE,
        port=5432,
        environment={"POSTGRES_PASSWORD": password, "TZ": "UTC"},
        command=("postgres", "-c", "max_connections=200", "-c", "timezone=UTC"),
    )


def kafka(advertised_port: int) -> Image:
    """Apache Kafka, one broker in KRaft mode, reached by clients at a port of this machine."""
    return Image(
        name="kafka",
        image=KAFKA_IMAGE,
        port=9092,
        environment={
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_LISTENERS": "HOST://:9092,BROKER://:19092,CONTROLLER://:9093",
            "KAFKA_ADVERTISED_LISTENERS": f"HOST://127.0.0.1:{advertised_port},BROKER://localhost:19092",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "HOST:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "BROKER",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
            "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
            "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
            "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
            "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR": "1",
            "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR": "1",
            "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
            "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
            "KAFKA_HEAP_OPTS": "-Xms64m -Xmx512m",
        },
    )
