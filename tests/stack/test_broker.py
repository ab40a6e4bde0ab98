"""The broker of whichever lane the tests run on: topics, messages, groups, and what is lost with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiokafka.errors import KafkaError

from stack import NotOursError, Stack
from tests.stack.asking import make_topic, read, send, topics


async def test_topics_are_made_with_the_partitions_asked_for(
    stack: Stack, unique_topic: Callable[[str], str]
) -> None:
    name, bootstrap = unique_topic("events"), stack.addresses.kafka_bootstrap
    assert name not in await topics(bootstrap)
    await make_topic(bootstrap, name, partitions=64, replicas=stack.facts.replication_factor)
    assert name in await topics(bootstrap)
    assert await send(bootstrap, name, b"a", b"b", partition=63) == [0, 1]
    with pytest.raises(AssertionError, match="Unrecognized partition"):
        await send(bootstrap, name, b"a", partition=64)


async def test_a_group_goes_on_after_what_it_committed(
    stack: Stack, unique_topic: Callable[[str], str]
) -> None:
    name, bootstrap = unique_topic("group"), stack.addresses.kafka_bootstrap
    await make_topic(bootstrap, name)
    await send(bootstrap, name, b"1", b"2", b"3", b"4")
    assert await read(bootstrap, name, 2, group=f"{name}-readers") == [b"1", b"2"]
    assert await read(bootstrap, name, 2, group=f"{name}-readers") == [b"3", b"4"]
    assert await read(bootstrap, name, 4, group=f"{name}-others") == [b"1", b"2", b"3", b"4"]
    assert await read(bootstrap, name, 4) == [b"1", b"2", b"3", b"4"]


async def test_idempotence_is_as_the_lanes_facts_say(
    stack: Stack, unique_topic: Callable[[str], str]
) -> None:
    name, bootstrap = unique_topic("idempotent"), stack.addresses.kafka_bootstrap
    await make_topic(bootstrap, name)
    if stack.facts.idempotent_producer:
        assert await send(bootstrap, name, b"once", idempotent=True) == [0]
    else:
        with pytest.raises((KafkaError, TimeoutError)):
            async with asyncio.timeout(3):
                await send(bootstrap, name, b"once", idempotent=True)


async def test_killed_and_back_at_its_address_it_has_what_the_facts_say(private_stack: Stack) -> None:
    bootstrap = private_stack.addresses.kafka_bootstrap
    await make_topic(bootstrap, "kept")
    await send(bootstrap, "kept", b"message")
    private_stack.broker.kill()
    assert private_stack.dead == [private_stack.broker]
    with pytest.raises(KafkaError):
        await topics(bootstrap)
    await asyncio.to_thread(private_stack.broker.start)
    assert private_stack.dead == []
    if private_stack.facts.broker_keeps_data:
        assert await read(bootstrap, "kept", 1) == [b"message"]
        await asyncio.to_thread(private_stack.wipe_broker)
    assert "kept" not in await topics(bootstrap)
    with pytest.raises(NotOursError, match="there is none with the number 1"):
        private_stack.wipe_broker(1)


async def test_paused_it_is_silent_and_goes_on(private_stack: Stack) -> None:
    bootstrap = private_stack.addresses.kafka_bootstrap
    await make_topic(bootstrap, "paused")
    private_stack.broker.pause()
    try:
        assert private_stack.broker.running
        with pytest.raises((KafkaError, TimeoutError)):
            async with asyncio.timeout(0.5):
                await send(bootstrap, "paused", b"lost?")
    finally:
        private_stack.broker.resume()
    await send(bootstrap, "paused", b"after")
    assert (await read(bootstrap, "paused", 1))[-1] in {b"lost?", b"after"}
