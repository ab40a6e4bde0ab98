"""Spans, and carrying a trace from one process to the next."""

import contextlib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Final
from uuid import UUID

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from servicekit import context
from servicekit.tracing.ids import span_id_of, trace_id_of
from servicekit.tracing.provider import sampled, tracer

_W3C: Final = TraceContextTextMapPropagator()


@contextlib.contextmanager
def span(
    name: str,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
    links: Sequence[Link] = (),
    attributes: Mapping[str, AttributeValue] | None = None,
) -> Iterator[trace.Span]:
    """A span around what is done within, a child of the present one or of `parent`.

    An exception marks it as failed, by its class and slug alone: its words may hold what a trace must not.
    """
    made = tracer().start_span(name, context=parent, kind=kind, links=list(links), attributes=attributes)
    with trace.use_span(made, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield made
        except BaseException as error:
            note_failure(made, error)
            raise


def note_failure(failed: trace.Span, error: BaseException) -> None:
    """Mark a span as failed, by the exception's class and slug, never by its words."""
    slug = getattr(error, "slug", None)
    failed.set_attribute("error.type", slug if isinstance(slug, str) else type(error).__qualname__)
    failed.set_status(Status(StatusCode.ERROR))


def inject(carrier: MutableMapping[str, str]) -> None:
    """Put the present trace into the headers of a call (W3C `traceparent`); nothing when there is none."""
    _W3C.inject(carrier)


def incoming(carrier: Mapping[str, str], correlation_id: str) -> tuple[Context, tuple[Link, ...]]:
    """Where the span of a call that comes in belongs, from its headers: its parent and its links.

    A caller whose trace is that of the correlation id is continued. Any other trace is somebody else's (a
    partner's, a tool's): ours begins anew and links to it, so that events lead back to the same trace.
    """
    found = _W3C.extract(carrier, context=Context())
    caller = trace.get_current_span(found).get_span_context()
    if not caller.is_valid:
        return Context(), ()
    if caller.trace_id == trace_id_of(correlation_id):
        return found, ()
    return Context(), (Link(caller),)


def event_parent(correlation_id: str, event_id: UUID) -> Context:
    """The parent for the work that an event leads to, whenever and wherever that is done."""
    trace_id = trace_id_of(correlation_id)
    flags = TraceFlags(TraceFlags.SAMPLED if sampled(trace_id) else TraceFlags.DEFAULT)
    stored = SpanContext(trace_id, span_id_of(event_id), is_remote=True, trace_flags=flags)
    return trace.set_span_in_context(NonRecordingSpan(stored), Context())


@contextlib.contextmanager
def event_span(
    name: str,
    *,
    correlation_id: str,
    event_id: UUID,
    kind: SpanKind = SpanKind.CONSUMER,
    attributes: Mapping[str, AttributeValue] | None = None,
) -> Iterator[trace.Span]:
    """A span for what one event leads to, in that event's trace, with its correlation id bound.

    For a relay's publishing `kind` is PRODUCER, for applying an event CONSUMER.
    """
    with (
        context.bind(correlation_id=correlation_id, causation_id=str(event_id)),
        span(name, kind=kind, parent=event_parent(correlation_id, event_id), attributes=attributes) as made,
    ):
        yield made
