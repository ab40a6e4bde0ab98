from __future__ import annotations

import ssl

import pytest
from faststream.security import BaseSecurity, SASLScram256

from messaging.broker import BrokerSettings, kafka_broker
from servicekit.broker import kafka_connection
from servicekit.settings import BrokerSettings as ServiceBrokerSettings


def test_every_client_is_given_the_same_identity_and_patience() -> None:
    settings = BrokerSettings("127.0.0.1:1,127.0.0.1:2", client_id="wallet", request_timeout_ms=1_234)
    options = settings.client_options()
    assert options["bootstrap_servers"] == "127.0.0.1:1,127.0.0.1:2"
    assert (options["client_id"], options["request_timeout_ms"]) == ("wallet", 1_234)
    assert "security_protocol" not in options


def test_encryption_and_a_password_reach_every_client_and_are_never_shown() -> None:
    context = ssl.create_default_context()
    settings = BrokerSettings("127.0.0.1:1", security=SASLScram256("wallet", "secret", ssl_context=context))
    options = settings.client_options()
    assert (options["security_protocol"], options["sasl_mechanism"]) == ("SASL_SSL", "SCRAM-SHA-256")
    assert (options["sasl_plain_username"], options["sasl_plain_password"]) == ("wallet", "secret")
    assert options["ssl_context"] is context
    assert "secret" not in repr(settings)
    broker = kafka_broker(settings)
    assert "secret" not in repr(broker)
    plain = BrokerSettings("127.0.0.1:1", security=BaseSecurity(ssl_context=context)).client_options()
    assert plain["security_protocol"] == "SSL"


async def test_the_consumers_broker_passes_them_on() -> None:
    security = SASLScram256("wallet", "secret", use_ssl=False)
    broker = kafka_broker(BrokerSettings("127.0.0.1:1, 127.0.0.1:2", client_id="me", security=security))
    make = await broker.connect()
    try:
        consumer = make(group_id="g")
        await consumer.stop()
        client = consumer._client
        assert client._sasl_plain_password == security.password
        assert client._client_id == "me"
        assert [host for host, *_ in client.hosts] == ["127.0.0.1", "127.0.0.1"]
    finally:
        await broker.stop()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("security", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_what_a_service_was_told_is_what_clients_are_given(security: str, mechanism: str) -> None:
    told = ServiceBrokerSettings.model_validate(
        {
            "kafka_bootstrap": ("127.0.0.1:1", "127.0.0.1:2"),
            "kafka_security": security,
            "kafka_mechanism": mechanism,
            "kafka_username": "wallet",
            "kafka_password": "secret",
        }
    )
    options = BrokerSettings.of_service(told, client_id="wallet").client_options()
    wanted = kafka_connection(told)
    assert options["bootstrap_servers"] == ",".join(wanted.pop("bootstrap_servers"))
    assert (options.get("ssl_context") is None) == (wanted.pop("ssl_context", None) is None)
    assert {name: options.get(name, "PLAINTEXT") for name in wanted} == wanted
