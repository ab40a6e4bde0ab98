"""One trace from a call over gRPC through PostgreSQL and Kafka to a consumer's effect in its own database."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from eventstore import Expect, NewEvent, RecordedEvent, shard_of
from eventstore.ids import new_event_id
from eventstore.postgres import PostgresEventStore, open_pool
from servicekit import context
from servicekit.tracing import TracedAppender, event_span, span, trace_id_of, trace_queries
from stack import Stack
from tests.servicekit.conftest import Spans
from tests.servicekit.grpc.conftest import serve_echo
from tests.servicekit.grpc.echo import Echo
from tests.servicekit.topics import make_topic

STREAM = "round-t1.7"


def ids_of(content: bytes) -> dict[str, Any]:
    """What whoever gets an event reads in it: no header of Kafka's is needed for the trace."""
    parsed = json.loads(content)
    return {"correlation_id": parsed["correlation_id"], "event_id": UUID(parsed["event_id"])}


async def publish(bootstrap: str, topic: str, events: tuple[RecordedEvent, ...]) -> None:
    """As a relay does: later, from the log, in a process that knows nothing of the call."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
    await producer.start()
    try:
        for event in events:
            with event_span("publish", kind=SpanKind.PRODUCER, **ids_of(event.content)):
                await producer.send_and_wait(topic, event.content, key=event.stream.encode())
    finally:
        await producer.stop()


async def consume(bootstrap: str, topic: str, dsn: str) -> None:
    """As a consumer does: from the message alone."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    try:
        message = await consumer.getone()
    finally:
        await consumer.stop()
    async with await open_pool(dsn, application_name="consumer", init=trace_queries) as pool:
        with event_span("apply", **ids_of(message.value)):
            await pool.execute("CREATE TABLE effect AS SELECT 1 AS x")


async def test_one_trace_crosses_everything(
    spans: Spans, stack: Stack, new_database: Callable[[], str], unique_topic: Callable[[str], str]
) -> None:
    bootstrap, topic = stack.addresses.kafka_bootstrap, unique_topic("trace")
    await make_topic(bootstrap, topic, 1)
    async with (
        await open_pool(new_database(), application_name="table", init=trace_queries) as pool,
        PostgresEventStore(pool) as store,
    ):
        traced = TracedAppender(store)

        async def place_bet(_: str) -> str:
            event_id = new_event_id()
            content = {"event_id": str(event_id), "correlation_id": context.correlation_id()}
            event = NewEvent(event_id, "BetPlaced", json.dumps(content).encode())
            await traced.append(STREAM, [event], expected=Expect.NONE)
            return "placed"

        async with serve_echo(Echo(place_bet)) as served:
            with context.bind(correlation_id="c-1"), span("player's request"):
                assert await served.read() == "placed"
        page = await store.read_shard(shard_of(STREAM))
    await publish(bootstrap, topic, page.events)
    await consume(bootstrap, topic, new_database())

    ours = [one for one in spans.all if one.context.trace_id == trace_id_of("c-1")]
    by_id = {one.context.span_id: one for one in ours}

    def way(one: ReadableSpan) -> list[str]:
        names = [one.name]
        while one.parent is not None:
            one = by_id[one.parent.span_id]
            names.append(one.name)
        return names[::-1]

    call = ["player's request", "upcard.tests.v1.EchoService/Read", "upcard.tests.v1.EchoService/Read"]
    ways = [way(one) for one in ours]
    assert [*call, "append", "event BetPlaced", "publish"] in ways
    assert [*call, "append", "event BetPlaced", "apply", "postgres CREATE"] in ways
    # The statement that commits a group belongs to all its callers, so to no one's trace.
    assert not any(one[:4] == [*call, "append"] and one[4:] == ["postgres SELECT"] for one in ways)
    kinds = [one.kind for one in ours if one.name == call[-1]]
    assert sorted(kinds, key=lambda kind: kind.value) == [SpanKind.SERVER, SpanKind.CLIENT]


async def test_polling_in_the_background_makes_no_traces(spans: Spans, database: str) -> None:
    async with (
        await open_pool(database, application_name="table", init=trace_queries) as pool,
        PostgresEventStore(pool) as store,
        store.subscribe({0: 0}) as pages,
    ):
        stream = next(name for n in range(10_000) if shard_of(name := f"round-t1.{n}") == 0)
        await store.append(stream, [NewEvent(new_event_id(), "X", b"{}")], expected=Expect.ANY)
        await anext(pages)
    assert spans.all == ()
