"""A producer that can be closed: within a limit, whatever has become of the broker."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from messaging.broker import BrokerSettings

MAX_REQUEST_BYTES: Final = 1_100_000
"""Largest request: an event's record, with its failure in headers."""

_GIVEN_UP: Final = KafkaError("the connection to the broker was closed before it had answered")


@contextlib.asynccontextmanager
async def open_producer(
    broker: BrokerSettings, *, start_timeout_s: float, stop_timeout_s: float
) -> AsyncIterator[Any]:
    """A producer for single records, acknowledged by all replicas. Raises KafkaError or TimeoutError.

    What has not been acknowledged `stop_timeout_s` after the end is given up.
    """
    producer: Any = AIOKafkaProducer(
        **broker.client_options(),
        acks="all",
        enable_idempotence=broker.idempotent_producer,
        max_request_size=MAX_REQUEST_BYTES,
    )
    try:
        async with asyncio.timeout(start_timeout_s):
            await producer.start()
        yield producer
    finally:
        await close_producer(producer, stop_timeout_s)


async def close_producer(producer: Any, timeout_s: float) -> None:  # noqa: ANN401 - aiokafka has no types
    """Close a producer; after `timeout_s` without what is still on its way.

    aiokafka's own `stop` waits for every record without any limit, and leaves its tasks running when it is
    cancelled (its issue 1101). So what it waits for is ended first.
    """
    stopping = asyncio.create_task(producer.stop())
    try:
        await asyncio.wait([stopping], timeout=timeout_s)
    finally:
        if not stopping.done():
            await _cut_off(producer)
            await asyncio.wait([stopping], timeout=timeout_s)
            stopping.cancel()
        elif not stopping.cancelled():
            stopping.exception()  # looked at: it is closed in any case


async def _cut_off(producer: Any) -> None:  # noqa: ANN401 - aiokafka has no types
    records = producer._message_accumulator  # noqa: SLF001 - there is no public way to give up
    under_way = list(records._pending_batches)  # noqa: SLF001 - likewise
    for batches in records._batches.values():  # noqa: SLF001 - likewise
        under_way += batches
    records.fail_all(_GIVEN_UP)
    for one in under_way:
        if one._drain_waiter.done():  # noqa: SLF001 - likewise
            one._drain_waiter.exception()  # noqa: SLF001 - looked at, since nobody waits for it any more
    task = producer._sender.sender_task  # noqa: SLF001 - likewise
    if task is not None:
        task.cancel()
    await producer.client.close()
