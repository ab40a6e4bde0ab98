"""Questions to PostgreSQL and Kafka, asked as a program of ours asks them."""

from __future__ import annotations

import asyncio

import asyncpg
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

ANSWER_S = 30.0
SESSION_MS = 1_000


async def value(dsn: str, query: str, *arguments: object) -> object:
    """The first value of a query's first row."""
    connection = await asyncpg.connect(dsn, timeout=ANSWER_S)
    try:
        return await connection.fetchval(query, *arguments, timeout=ANSWER_S)
    finally:
        await connection.close()


async def do(dsn: str, *statements: str) -> None:
    """Execute statements, each a transaction of its own."""
    connection = await asyncpg.connect(dsn, timeout=ANSWER_S)
    try:
        for statement in statements:
            await connection.execute(statement, timeout=ANSWER_S)
    finally:
        await connection.close()


async def make_topic(bootstrap: str, name: str, partitions: int = 1, replicas: int = 1) -> None:
    """Create a topic."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        await admin.create_topics([NewTopic(name, partitions, replicas)])
    finally:
        await admin.close()


async def topics(bootstrap: str) -> set[str]:
    """The names of all topics."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        return set(await admin.list_topics())
    finally:
        await admin.close()


async def send(
    bootstrap: str, topic: str, *messages: bytes, partition: int = 0, idempotent: bool = False
) -> list[int]:
    """Send messages with acks=all; their offsets."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=idempotent)
    try:
        await producer.start()
        sent = [await producer.send(topic, message, partition=partition) for message in messages]
        return [record.offset for record in await asyncio.wait_for(asyncio.gather(*sent), ANSWER_S)]
    finally:
        await producer.stop()


async def read(bootstrap: str, topic: str, count: int, group: str | None = None) -> list[bytes]:
    """The next messages of a topic: of a group, whose position is committed after them, or from the start."""
    consumer = AIOKafkaConsumer(
        *([topic] if group else []),
        bootstrap_servers=bootstrap,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # The embedded broker lets a group form only after half of this; nobody here is slow.
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=SESSION_MS // 4,
    )
    try:
        await consumer.start()
        if group is None:
            consumer.assign([TopicPartition(topic, 0)])
        found: list[bytes] = []
        async with asyncio.timeout(ANSWER_S):
            while len(found) < count:
                message = await consumer.getone()
                found.append(message.value)
                if group is not None:
                    await consumer.commit({TopicPartition(topic, message.partition): message.offset + 1})
        return found
    finally:
        await consumer.stop()
