"""Ids of traces and spans that follow from what is worked for, so that a log of events needs to carry none.

A trace's id is made of the correlation id, and each event has a span whose id is made of the event's. Both
stand in the event itself: whoever applies it, at once or a year later, in whatever process and by whatever
way it came, knows which trace and which span it belongs to.
"""

import contextlib
import contextvars
import hashlib
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from servicekit import context

_next_span_id: contextvars.ContextVar[int | None] = contextvars.ContextVar("next_span_id", default=None)
_TRACE: Final = b"upcard trace "
_SPAN: Final = b"upcard span "


def trace_id_of(correlation_id: str) -> int:
    """The id of the trace of everything with this correlation id; evenly spread, as sampling needs it."""
    return int.from_bytes(hashlib.sha256(_TRACE + correlation_id.encode()).digest()[:16], "big") or 1


def span_id_of(event_id: UUID) -> int:
    """The id of the span that stands for an event having been stored."""
    return int.from_bytes(hashlib.sha256(_SPAN + event_id.bytes).digest()[:8], "big") or 1


@contextlib.contextmanager
def next_span(span_id: int) -> Iterator[None]:
    """The next span that is made within has this id."""
    token = _next_span_id.set(span_id)
    try:
        yield
    finally:
        _next_span_id.reset(token)


class WorkIds(RandomIdGenerator):
    """Ids for a tracer provider: of the work at hand where it has a correlation id, else by chance."""

    def generate_trace_id(self) -> int:
        """The id of a trace that begins here."""
        known = context.correlation_id()
        return trace_id_of(known) if known is not None else super().generate_trace_id()

    def generate_span_id(self) -> int:
        """The id of a span: what `next_span` says, else by chance."""
        given = _next_span_id.get()
        return given if given is not None else super().generate_span_id()

    def is_trace_id_random(self) -> bool:
        """Not by chance, though as evenly spread."""
        return False
