from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.trace import SpanKind, StatusCode

from eventstore import Expect, NewEvent, RecordedEvent, StreamAppend
from eventstore.ids import new_event_id
from eventstore.postgres import Connection
from messaging.consumer.tracing import MOST_SPANS, traced
from servicekit import context
from servicekit.tracing import configure_tracing, span_id_of, trace_id_of
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import World, recording, running
from tests.messaging.waiting import until


class Kept(SpanProcessor):
    """Keeps the spans that have ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


@pytest.fixture
def kept() -> Iterator[Kept]:
    processor = Kept()
    tracing = configure_tracing(service="wallet", instance="1", sample_ratio=1.0, processor=processor)
    yield processor
    tracing.close()


def an_event(correlation_id: str) -> NewEvent:
    event_id = new_event_id()
    content = {"event_id": str(event_id), "correlation_id": correlation_id}
    return NewEvent(event_id, "BetPlaced", json.dumps(content).encode())


async def test_an_event_that_came_over_kafka_is_applied_in_its_own_trace(world: World, kept: Kept) -> None:
    bound: list[str | None] = []

    async def handle(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        bound.append(context.correlation_id())
        return await recording()(connection, events)

    event = an_event("c-1")
    await world.source.log.append(stream_of_shard(4), [event], expected=Expect.NONE)
    await world.source.publish()
    async with running(world.consumer(traced(handle))):
        await until(world.all_applied)
    (span,) = [one for one in kept.spans if one.name == "apply"]
    assert span.context.trace_id == trace_id_of("c-1")
    assert span.parent is not None
    assert (span.parent.span_id, span.kind) == (span_id_of(event.event_id), SpanKind.CONSUMER)
    assert bound == ["c-1"]


async def test_in_a_batch_each_event_has_a_span_in_its_trace(world: World, kept: Kept) -> None:
    events = [an_event(f"c-{n}") for n in range(MOST_SPANS + 10)]
    unlike = [NewEvent(new_event_id(), "X", content) for content in (b"x", b"[]", b'{"correlation_id":1}')]
    await world.source.log.append(stream_of_shard(4), [*unlike, *events], expected=Expect.NONE)
    recorded = await world.source.events(4)
    async with world.pool.acquire() as connection:
        await traced(recording())(connection, recorded)
    assert [one.context.trace_id for one in kept.spans] == [
        trace_id_of(f"c-{n}") for n in range(MOST_SPANS - len(unlike))
    ]
    assert await world.all_applied()


async def test_a_failure_is_marked_without_its_words(world: World, kept: Kept) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("a secret")

    await world.source.log.append(
        stream_of_shard(4), [an_event("c-1"), an_event("c-2")], expected=Expect.NONE
    )
    recorded = await world.source.events(4)
    async with world.pool.acquire() as connection:
        for part in (recorded, recorded[:1]):
            with pytest.raises(RuntimeError):
                await traced(fails)(connection, part)
    assert [one.status.status_code for one in kept.spans] == [StatusCode.ERROR] * 3
    assert "secret" not in "".join(one.to_json() for one in kept.spans)
