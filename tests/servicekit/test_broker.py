"""The broker: whether it is there, and each topic with all of its partitions."""

from __future__ import annotations

import ssl
from collections.abc import Callable

import pytest
from pydantic import SecretStr

from servicekit.broker import BrokerProbe, kafka_connection
from servicekit.health import NotReady
from servicekit.lifecycle import ExitCode
from servicekit.settings import BrokerSettings
from stack import Stack
from tests.servicekit.programs import service
from tests.servicekit.topics import make_topic


async def test_a_broker_with_the_topics(stack: Stack, unique_topic: Callable[[str], str]) -> None:
    bootstrap = stack.addresses.kafka_bootstrap
    topic = unique_topic("kit")
    await make_topic(bootstrap, topic, 4)
    settings = BrokerSettings(kafka_bootstrap=(bootstrap,))
    async with BrokerProbe(settings, {topic: 4}, client_id="test") as probe:
        await probe.ask()
        await probe.ask()


async def test_topics_that_are_not_as_they_have_to_be(
    stack: Stack, unique_topic: Callable[[str], str]
) -> None:
    bootstrap = stack.addresses.kafka_bootstrap
    topic, missing = unique_topic("kit"), unique_topic("missing")
    await make_topic(bootstrap, topic, 4)
    settings = BrokerSettings(kafka_bootstrap=(bootstrap,))
    async with BrokerProbe(settings, {topic: 64}, client_id="test") as probe:
        with pytest.raises(NotReady, match=f"topic {topic} has 4 partitions, not 64"):
            await probe.ask()
    async with BrokerProbe(settings, {missing: 64}, client_id="test") as probe:
        for _ in range(2):  # asking for it does not make it
            with pytest.raises(NotReady, match=f"there is no topic {missing}"):
                await probe.ask()


async def test_a_broker_that_is_away() -> None:
    settings = BrokerSettings(kafka_bootstrap=("127.0.0.1:1", "127.0.0.1:2"))
    async with BrokerProbe(settings, {}, client_id="test") as probe:
        with pytest.raises(NotReady, match="no broker answers"):
            await probe.ask()


def test_a_broker_that_goes_away_and_comes_back(private_stack: Stack) -> None:
    bootstrap = private_stack.addresses.kafka_bootstrap
    plan = {"store": True, "topics": {}}
    dsn = "postgresql://nobody:asks@127.0.0.1:1/it"
    with service(plan, UPCARD_DSN=dsn, UPCARD_KAFKA_BOOTSTRAP=bootstrap) as program:
        program.until_ready(ready=True)
        (broker,) = private_stack.brokers
        broker.kill()
        said = program.until_ready(ready=False)
        assert said["checks"]["broker"]["problem"].startswith("no broker answers (")
        broker.start()
        program.until_ready(ready=True)
        broker.pause()
        said = program.until_ready(ready=False)
        assert said["checks"]["broker"]["ok"] is False
        broker.resume()
        program.until_ready(ready=True)
        program.signal()
        assert program.code() == ExitCode.STOPPED
        assert program.lines(logger="py.warnings") == []


def test_plain_connections_need_an_address_only() -> None:
    assert kafka_connection(BrokerSettings(kafka_bootstrap=("one:1", "two:2"))) == {
        "bootstrap_servers": ["one:1", "two:2"],
        "security_protocol": "PLAINTEXT",
    }


def test_encrypted_ones_with_a_password() -> None:
    settings = BrokerSettings(
        kafka_bootstrap=("one:1",),
        kafka_security="SASL_SSL",
        kafka_username="table",
        kafka_password=SecretStr("correct-horse"),
    )
    arguments = kafka_connection(settings)
    context = arguments.pop("ssl_context")
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert arguments == {
        "bootstrap_servers": ["one:1"],
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "table",
        "sasl_plain_password": "correct-horse",
    }
