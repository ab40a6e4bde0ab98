"""Spans of what events lead to, each in the trace of its own event."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

import orjson
from opentelemetry.trace import Span, SpanKind

from eventstore import RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from servicekit.tracing import event_parent, event_span, note_failure, tracer

MOST_SPANS: Final = 50
"""Of one batch; the events beyond are applied all the same."""

_NAME: Final = "apply"


def traced(handler: Handler) -> Handler:
    """The same handler, with a span for each event in that event's trace.

    An event that comes alone is the work at hand: queries and appends hang on its span, and its correlation
    id is bound. In a batch, whose statements work for all, each event has a span of the batch's length.
    """

    async def applied(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        if len(events) == 1:
            correlation_id = _correlation_id(events[0].content)
            if correlation_id is not None:
                with event_span(_NAME, correlation_id=correlation_id, event_id=events[0].event_id):
                    return await handler(connection, events)
        with _spans(events):
            return await handler(connection, events)

    return applied


@contextlib.contextmanager
def _spans(events: Sequence[RecordedEvent]) -> Iterator[None]:
    made: list[Span] = []
    for event in events[:MOST_SPANS]:
        correlation_id = _correlation_id(event.content)
        if correlation_id is not None:
            made.append(_started(correlation_id, event.event_id, len(events)))
    try:
        yield
    except BaseException as error:
        for one in made:
            note_failure(one, error)
        raise
    finally:
        for one in made:
            one.end()


def _started(correlation_id: str, event_id: UUID, batch: int) -> Span:
    return tracer().start_span(
        _NAME,
        context=event_parent(correlation_id, event_id),
        kind=SpanKind.CONSUMER,
        attributes={"upcard.batch_events": batch},
    )


def _correlation_id(content: bytes) -> str | None:
    try:
        found = orjson.loads(content)["correlation_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None  # not a content as ours are: it is applied without a trace
    return found if isinstance(found, str) and found else None
