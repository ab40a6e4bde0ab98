"""Traces (OpenTelemetry): one for all that a request leads to, through calls, the log and consumers."""

from servicekit.tracing.events import TracedAppender, mark_appended
from servicekit.tracing.ids import span_id_of, trace_id_of
from servicekit.tracing.provider import Tracing, configure_tracing, enabled, otlp_exporter, tracer
from servicekit.tracing.queries import trace_queries, without_literals
from servicekit.tracing.spans import event_parent, event_span, incoming, inject, note_failure, span

__all__ = [
    "TracedAppender",
    "Tracing",
    "configure_tracing",
    "enabled",
    "event_parent",
    "event_span",
    "incoming",
    "inject",
    "mark_appended",
    "note_failure",
    "otlp_exporter",
    "span",
    "span_id_of",
    "trace_id_of",
    "trace_queries",
    "tracer",
    "without_literals",
]
