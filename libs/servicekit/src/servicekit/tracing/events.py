"""Spans of what is appended: what later steps of an event's trace hang on."""

from collections.abc import Sequence
from typing import Final

from opentelemetry.trace import Span, SpanKind

from eventstore import Appended, Appender, Expected, NewEvent, StreamAppend
from eventstore.port import DEFAULT_TIMEOUT_S
from servicekit.tracing.ids import next_span, span_id_of
from servicekit.tracing.provider import tracer
from servicekit.tracing.spans import span

MOST_EVENT_SPANS: Final = 100
"""Of one append; what the others lead to is in the trace too, without a parent."""


class TracedAppender:
    """An `Appender` whose appends are spans, each event of them too.

    Use it in place of the store where a service appends for a caller.
    """

    def __init__(self, inner: Appender) -> None:
        self._inner = inner

    async def append(
        self,
        stream: str,
        events: Sequence[NewEvent],
        *,
        expected: Expected,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Appended:
        """See `Appender`."""
        (appended,) = await self.append_all([StreamAppend(stream, expected, events)], timeout_s=timeout_s)
        return appended

    async def append_all(
        self, appends: Sequence[StreamAppend], *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> tuple[Appended, ...]:
        """See `Appender`."""
        count = sum(len(one.events) for one in appends)
        with span("append", kind=SpanKind.CLIENT, attributes={"upcard.events": count}) as made:
            appended = await self._inner.append_all(appends, timeout_s=timeout_s)
            mark_appended(made, appends, appended)
        return appended


def mark_appended(inside: Span, appends: Sequence[StreamAppend], appended: Sequence[Appended]) -> None:
    """Make the spans of events that were stored; for `append_in_transaction`, after the commit."""
    if not inside.is_recording():
        return
    left = MOST_EVENT_SPANS
    for one, where in zip(appends, appended, strict=True):
        for event in one.events[:left]:
            with next_span(span_id_of(event.event_id)):
                made = tracer().start_span(
                    f"event {event.type}",
                    kind=SpanKind.PRODUCER,
                    attributes={"upcard.event_id": str(event.event_id), "upcard.stream": where.stream},
                )
            made.end()
        left = max(0, left - len(one.events))
