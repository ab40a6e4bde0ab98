"""How the broker is reached: one set of settings for whatever connects to it."""

from dataclasses import dataclass, field
from typing import Any, Final, Self

from faststream.kafka import KafkaBroker
from faststream.kafka.security import parse_security
from faststream.security import BaseSecurity, SASLPlaintext, SASLScram256, SASLScram512

from servicekit.broker import kafka_connection
from servicekit.settings import BrokerSettings as ServiceBrokerSettings

CLIENT_ID: Final = "upcard"

_MECHANISMS: Final = {
    "PLAIN": SASLPlaintext,
    "SCRAM-SHA-256": SASLScram256,
    "SCRAM-SHA-512": SASLScram512,
}


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Addresses, identity and patience of a client of the broker. Times are in milliseconds."""

    bootstrap_servers: str
    """`host:port`, several with commas."""
    client_id: str = CLIENT_ID
    """What the broker's logs and quotas call this client."""
    security: BaseSecurity | None = field(default=None, repr=False)
    """TLS and SASL, as FastStream names them (`faststream.security`). None: neither."""
    idempotent_producer: bool = True
    """Whether the broker takes `enable_idempotence`. Apache Kafka does; the embedded broker refuses it."""
    request_timeout_ms: int = 10_000
    """Longest wait for one answer."""
    retry_backoff_ms: int = 200
    """Pause between two tries of a request."""
    metadata_max_age_ms: int = 10_000
    """After how long topics and their leaders are asked for anew: how soon a topic that was made again, in a
    broker that had lost everything, is noticed."""

    @classmethod
    def of_service(
        cls, settings: ServiceBrokerSettings, *, client_id: str, idempotent_producer: bool = True
    ) -> Self:
        """What a service was told by its environment (`servicekit.settings`)."""
        return cls(
            ",".join(settings.kafka_bootstrap),
            client_id=client_id,
            security=_security(settings),
            idempotent_producer=idempotent_producer,
        )

    def client_options(self) -> dict[str, Any]:
        """What every client of aiokafka takes: consumer, producer, admin."""
        return {
            "bootstrap_servers": self.bootstrap_servers,
            "client_id": self.client_id,
            "request_timeout_ms": self.request_timeout_ms,
            "retry_backoff_ms": self.retry_backoff_ms,
            "metadata_max_age_ms": self.metadata_max_age_ms,
            **parse_security(self.security),
        }


def kafka_broker(settings: BrokerSettings) -> KafkaBroker:
    """FastStream's broker, for consumers only: it makes no topic and sends nothing (see ADR 0007)."""
    return KafkaBroker(
        [address.strip() for address in settings.bootstrap_servers.split(",")],
        client_id=settings.client_id,
        request_timeout_ms=settings.request_timeout_ms,
        retry_backoff_ms=settings.retry_backoff_ms,
        metadata_max_age_ms=settings.metadata_max_age_ms,
        security=settings.security,
        consumer_only=True,
        allow_auto_create_topics=False,
        logger=None,
        apply_types=False,
    )


def _security(settings: ServiceBrokerSettings) -> BaseSecurity | None:
    options = kafka_connection(settings)
    context = options.get("ssl_context")
    if "sasl_mechanism" in options:
        mechanism = _MECHANISMS[options["sasl_mechanism"]]
        return mechanism(options["sasl_plain_username"], options["sasl_plain_password"], ssl_context=context)
    return None if context is None else BaseSecurity(ssl_context=context)
