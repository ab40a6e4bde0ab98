"""The connection to the broker: batches of one shard each, acknowledged by all replicas.

aiokafka's producer itself, not FastStream's broker: that encodes messages which are bytes already, and waits
for each record or batch before it takes the next.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aiokafka import AIOKafkaProducer

from eventstore import SHARDS, RecordedEvent
from messaging.broker import BrokerSettings
from messaging.broker_producer import close_producer
from messaging.envelope import headers_of, key_of
from messaging.relay.observer import RelayObserver
from messaging.relay.reading import BESIDE_BYTES
from messaging.relay.settings import RelaySettings
from messaging.topics import (
    MAX_MESSAGE_BYTES,
    TopicUnusable,
    ensure_topics,
    events_topic,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """The events of a shard after one position, through another, made into a Kafka batch."""

    shard: int
    after: int
    through: int
    size_bytes: int
    builder: Any

    @property
    def events(self) -> int:
        """How many there are."""
        return self.through - self.after


class Producer:
    """Makes batches and sends them."""

    def __init__(self, producer: AIOKafkaProducer, topic: str, service: str) -> None:
        self._producer = producer
        self._topic = topic
        self._service = service

    def batches(
        self, shard: int, events: Sequence[RecordedEvent], epoch: int, most_events: int | None = None
    ) -> list[Batch]:
        """The events as batches, in their order; an event too large for a batch has one of its own."""
        made: list[Batch] = []
        builder, size_bytes = self._producer.create_batch(), 0
        after = through = events[0].shard_position - 1
        for event in events:
            # The record's time is when it is published: else retention would take at once what is old.
            record = {
                "key": key_of(event),
                "value": event.content,
                "headers": headers_of(event, self._service, epoch),
                "timestamp": None,
            }
            if through - after == most_events or builder.append(**record) is None:
                made.append(_batch(shard, after, through, size_bytes, builder))
                builder, size_bytes, after = self._producer.create_batch(), 0, through
                builder.append(**record)
            size_bytes += len(event.content) + BESIDE_BYTES
            through = event.shard_position
        made.append(_batch(shard, after, through, size_bytes, builder))
        return made

    async def send(self, batch: Batch) -> "asyncio.Future[object]":
        """Hand a batch over; the future is done when all replicas have it.

        Waits while an earlier batch of the shard has not been taken yet. Raises KafkaError, TopicUnusable.
        """
        # Asked for here and waited for: a broker that has lost everything may just be making the topic anew,
        # and the client takes a partition that it does not know for the caller's defect.
        known: set[int] = await self._producer.partitions_for(self._topic)
        if batch.shard not in known:
            raise TopicUnusable(f"topic {self._topic} has {len(known)} partitions, not {SHARDS}")
        future: asyncio.Future[object] = await self._producer.send_batch(
            batch.builder, self._topic, partition=batch.shard
        )
        return future


def _batch(
    shard: int,
    after: int,
    through: int,
    size_bytes: int,
    builder: Any,  # noqa: ANN401 - aiokafka has no types
) -> Batch:
    builder.close()
    return Batch(shard, after, through, size_bytes, builder)


@contextlib.asynccontextmanager
async def connected(
    broker: BrokerSettings, topic: str, service: str, settings: RelaySettings, observer: RelayObserver
) -> AsyncIterator[Producer]:
    """A producer for a topic that is there and has a partition for each shard.

    Raises KafkaError, TopicUnusable, OSError or TimeoutError. Closing is bounded in time; what is not
    acknowledged by then is given up.
    """
    start_s, patience_s = settings.start_timeout_s, settings.stop_timeout_s
    if settings.topics is not None:
        ensuring = ensure_topics(broker, [events_topic(topic, settings.topics)], timeout_s=start_s)
        for difference in await _to_its_end(ensuring, start_s, patience_s):
            observer.topic_differs(str(difference))
    producer = AIOKafkaProducer(
        **broker.client_options(),
        acks="all",
        enable_idempotence=broker.idempotent_producer,
        max_batch_size=settings.batch_bytes,
        max_request_size=MAX_MESSAGE_BYTES,
        linger_ms=0,
    )
    try:
        await _to_its_end(producer.start(), start_s, patience_s)
        async with asyncio.timeout(start_s):
            partitions = await producer.partitions_for(topic)
        if not set(range(SHARDS)) <= set(partitions):
            raise TopicUnusable(f"topic {topic} has {len(partitions)} partitions, not {SHARDS}")
        yield Producer(producer, topic, service)
    finally:
        await close_producer(producer, settings.stop_timeout_s)


async def _to_its_end(work: Coroutine[Any, Any, T], timeout_s: float, patience_s: float) -> T:
    """What the work returns, within `timeout_s`. Cut short, it still has `patience_s` to end by itself.

    aiokafka leaves a socket open when it is cancelled while it asks its first question.
    """
    task = asyncio.ensure_future(work)
    try:
        async with asyncio.timeout(timeout_s):
            return await asyncio.shield(task)
    finally:
        if not task.done():
            await asyncio.wait([task], timeout=patience_s)
        if not task.cancel() and not task.cancelled():
            task.exception()  # seen: it was cut short
