"""Reading a topic of dead letters from its beginning to the end that it has now."""

import asyncio
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from eventstore import SHARDS
from messaging.broker import BrokerSettings
from messaging.dead_letters.letters import Failure, NoDeadLetter, read_dead_letter
from messaging.topics import dead_letter_topic_of


@dataclass(frozen=True, slots=True)
class Found:
    """What was read: failures, the oldest first, and how many records are none."""

    failures: tuple[Failure, ...]
    unreadable: int


async def read_dead_letters(
    broker: BrokerSettings, topic: str, service: str, *, limit: int = 1_000, timeout_s: float = 30.0
) -> Found:
    """Read at most `limit` dead letters of a service's topic of events, in no group: nobody else notices.

    Raises KafkaError or TimeoutError.
    """
    failures: list[Failure] = []
    unreadable = 0
    partitions = [TopicPartition(dead_letter_topic_of(topic), shard) for shard in range(SHARDS)]
    consumer: Any = AIOKafkaConsumer(**broker.client_options(), auto_offset_reset="earliest")
    try:
        async with asyncio.timeout(timeout_s):
            await consumer.start()
            consumer.assign(partitions)
            left = {one: end for one, end in (await consumer.end_offsets(partitions)).items() if end}
            begins = await consumer.beginning_offsets(list(left))
            left = {one: end for one, end in left.items() if begins[one] < end}
            while left and len(failures) < limit:
                for partition, records in (await consumer.getmany(*left, timeout_ms=500)).items():
                    for record in records:
                        try:
                            failures.append(_read(service, record))
                        except NoDeadLetter:
                            unreadable += 1
                    if records[-1].offset + 1 >= left[partition]:
                        del left[partition]
    finally:
        await consumer.stop()
    failures.sort(key=lambda one: one.failed_at)
    return Found(tuple(failures[:limit]), unreadable)


def _read(service: str, record: Any) -> Failure:  # noqa: ANN401 - aiokafka has no types
    return read_dead_letter(
        service=service,
        partition=record.partition,
        key=record.key,
        value=record.value,
        headers=record.headers,
    )
