"""The broker: how to connect to it, and whether it is there."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any, Final, Self

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from servicekit.health import Check, NotReady
from servicekit.settings import BrokerSettings

# So that two brokers that swallow what they are sent leave time for a third within a check.
_REQUEST_TIMEOUT_MS: Final = 1_200


def kafka_connection(settings: BrokerSettings) -> dict[str, Any]:
    """The settings as arguments of any client of aiokafka: address, encryption, who we are."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(settings.kafka_bootstrap),
        "security_protocol": settings.kafka_security,
    }
    if settings.kafka_security.endswith("SSL"):
        authorities = settings.kafka_authorities_file
        arguments["ssl_context"] = ssl.create_default_context(
            cafile=str(authorities) if authorities else None
        )
    if settings.kafka_security.startswith("SASL"):
        password = settings.kafka_password
        arguments |= {
            "sasl_mechanism": settings.kafka_mechanism,
            "sasl_plain_username": settings.kafka_username,
            "sasl_plain_password": password.get_secret_value() if password else None,
        }
    return arguments


class BrokerProbe:
    """Asks the broker, over a connection of its own, whether it and some topics are there.

    `topics`: their names and how many partitions each has to have. A stage: use it as a context manager.
    """

    def __init__(self, settings: BrokerSettings, topics: Mapping[str, int], *, client_id: str) -> None:
        self._settings = settings
        self._topics = dict(topics)
        self._client_id = client_id
        self._client: Any = None
        self._one_at_a_time = asyncio.Lock()

    def as_check(self, name: str = "broker", *, within_s: float = 4.0) -> Check:
        """For readiness."""
        return Check(name, self.ask, within_s)

    async def ask(self) -> None:
        """Return if the broker answers, and each topic has its partitions, each with a leader.

        Raises NotReady.
        """
        async with self._one_at_a_time:
            try:
                found = await (await self._connected()).fetch_all_metadata()
            except (KafkaError, OSError) as error:
                await self._let_go()
                raise NotReady(f"no broker answers ({type(error).__name__})") from error
            except BaseException:
                await self._let_go()
                raise
        for topic, partitions in self._topics.items():
            there = found.partitions_for_topic(topic)
            if there is None:
                raise NotReady(f"there is no topic {topic}")
            if len(there) != partitions:
                raise NotReady(f"topic {topic} has {len(there)} partitions, not {partitions}")
            led = found.available_partitions_for_topic(topic)
            if len(led) < partitions:
                raise NotReady(f"{partitions - len(led)} partitions of topic {topic} have no leader")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._one_at_a_time:
            await self._let_go()

    async def _connected(self) -> Any:  # noqa: ANN401 - aiokafka has no types
        if self._client is None:
            client = AIOKafkaClient(
                client_id=self._client_id,
                request_timeout_ms=_REQUEST_TIMEOUT_MS,
                **kafka_connection(self._settings),
            )
            try:
                await client.bootstrap()
            except BaseException:
                await client.close()
                raise
            self._client = client
        return self._client

    async def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()
