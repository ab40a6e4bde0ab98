"""Apache Kafka of the native lane, one broker and three: `make native`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from stack import Lane, Settings, Stack, StackError, with_database
from stack.brokers import kafka as kafka_module
from stack.brokers.readiness import brokers_in_cluster
from stack.ports import free_ports
from tests.stack.asking import ANSWER_S, make_topic, read, send, topics, value

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def one() -> Iterator[Stack]:
    """One broker."""
    with Stack(Settings(Lane.NATIVE)) as stack:
        yield stack


@pytest.fixture(scope="module")
def three() -> Iterator[Stack]:
    """Three brokers."""
    with Stack(Settings(Lane.NATIVE, brokers=3)) as stack:
        yield stack


@contextlib.asynccontextmanager
async def transactional(bootstrap: str, name: str) -> AsyncIterator[AIOKafkaProducer]:
    """A producer with transactions."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
    try:
        await producer.start()
        yield producer
    finally:
        await producer.stop()


async def test_idempotent_producers_and_groups_work(one: Stack) -> None:
    bootstrap = one.addresses.kafka_bootstrap
    await make_topic(bootstrap, "idempotent")
    messages = [f"{n}".encode() for n in range(1000)]
    assert await send(bootstrap, "idempotent", *messages, idempotent=True) == list(range(1000))
    assert await read(bootstrap, "idempotent", 3, group="readers") == messages[:3]
    assert await read(bootstrap, "idempotent", 3, group="readers") == messages[3:6]


async def test_transactions_work(one: Stack) -> None:
    bootstrap = one.addresses.kafka_bootstrap
    await make_topic(bootstrap, "transactional")
    async with transactional(bootstrap, "writer") as producer:
        with contextlib.suppress(LookupError):
            async with producer.transaction():
                await producer.send_and_wait("transactional", b"undone")
                raise LookupError
        async with producer.transaction():
            await producer.send_and_wait("transactional", b"done")
    consumer = AIOKafkaConsumer(
        "transactional",
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    try:
        await consumer.start()
        assert (await asyncio.wait_for(consumer.getone(), ANSWER_S)).value == b"done"
    finally:
        await consumer.stop()


async def test_a_topic_is_never_made_by_a_typing_error(one: Stack) -> None:
    with pytest.raises((KafkaError, TimeoutError)):
        async with asyncio.timeout(5):
            await send(one.addresses.kafka_bootstrap, "typo", b"x")
    assert "typo" not in await topics(one.addresses.kafka_bootstrap)


async def test_a_killed_broker_comes_back_with_what_it_acknowledged(one: Stack) -> None:
    bootstrap = one.addresses.kafka_bootstrap
    await make_topic(bootstrap, "kept")
    await send(bootstrap, "kept", b"a", b"b", idempotent=True)
    one.broker.kill()
    await asyncio.to_thread(one.broker.start)
    assert one.addresses.kafka_bootstrap == bootstrap
    assert await read(bootstrap, "kept", 2) == [b"a", b"b"]


async def test_a_wiped_broker_comes_back_with_nothing(one: Stack) -> None:
    bootstrap = one.addresses.kafka_bootstrap
    await make_topic(bootstrap, "wiped")
    await asyncio.to_thread(one.wipe_broker)
    assert await topics(bootstrap) == set()
    await make_topic(bootstrap, "wiped")
    assert await send(bootstrap, "wiped", b"new", idempotent=True) == [0]


async def test_three_brokers_go_on_without_one_and_take_it_back(three: Stack) -> None:
    bootstrap = three.addresses.kafka_bootstrap
    assert len(three.brokers) == len(bootstrap.split(",")) == 3
    assert [brokers_in_cluster(broker.address) for broker in three.brokers] == [3, 3, 3]
    await make_topic(bootstrap, "replicated", partitions=3, replicas=3)
    for partition in range(3):
        assert await send(bootstrap, "replicated", b"before", partition=partition, idempotent=True) == [0]
    three.brokers[0].kill()
    for partition in range(3):  # two of three are in sync: enough for acks=all
        assert await send(bootstrap, "replicated", b"during", partition=partition, idempotent=True) == [1]
    await asyncio.to_thread(three.brokers[0].start)
    assert three.dead == []
    assert await read(bootstrap, "replicated", 2) == [b"before", b"during"]


async def test_one_of_three_that_is_wiped_gets_everything_back(three: Stack) -> None:
    bootstrap = three.addresses.kafka_bootstrap
    await make_topic(bootstrap, "refilled", partitions=1, replicas=3)
    await send(bootstrap, "refilled", b"x", idempotent=True)
    await asyncio.to_thread(three.wipe_broker, 1)
    assert brokers_in_cluster(three.brokers[1].address) == 3
    assert await read(bootstrap, "refilled", 1) == [b"x"]


def test_a_cluster_keeps_its_number_of_brokers(three: Stack) -> None:
    with pytest.raises(StackError, match="holds a cluster of 3 brokers, not of 1"):
        kafka_module.KafkaCluster(three.folder / "kafka", 1).start()


async def test_a_postgresql_of_yours_gets_a_database_and_is_left_as_it_was(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = "SELECT count(*) FROM pg_database"
    before = await value(stack.addresses.admin_dsn, count)
    settings = Settings(Lane.NATIVE, postgres_dsn=stack.addresses.admin_dsn)
    taken = tuple(int(broker.address.rpartition(":")[2]) for broker in stack.brokers)
    offered = iter([(*taken, *free_ports(1)), free_ports(2)])
    monkeypatch.setattr(kafka_module, "free_ports", lambda _count: next(offered))
    async with Stack(settings) as guest:
        assert next(offered, None) is None, "the port that was taken costs the cluster another try"
        assert await value(guest.addresses.postgres_dsn, "SELECT current_database()") != "upcard"
        assert await value(stack.addresses.admin_dsn, count) == int(str(before)) + 1
        guest.postgres.stop()
        address = guest.addresses.postgres_dsn
    assert await value(with_database(stack.addresses.admin_dsn, "postgres"), count) == before
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await value(address, "SELECT 1")
