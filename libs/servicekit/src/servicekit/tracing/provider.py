"""Switching traces on: off until then, and bounded in everything."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import NoOpTracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util._decorator import _AgnosticContextManager
from opentelemetry.util.types import Attributes

from servicekit.logging.redaction import MASK, Redactor, names_a_secret
from servicekit.tracing.ids import WorkIds

_LIMITS: Final = SpanLimits(
    max_attributes=64,
    max_events=32,
    max_links=128,
    max_event_attributes=16,
    max_link_attributes=16,
    max_attribute_length=1_024,
    max_span_attribute_length=1_024,
)
_WAITING_SPANS: Final = 4_096
_BATCH_SPANS: Final = 512
_EXPORT_TIMEOUT_S: Final = 5.0


class _SwitchedTracer(trace.Tracer):
    """Makes spans with whatever provider is switched on at that moment."""

    def __init__(self, switch: "_Switch", name: str) -> None:
        self._switch = switch
        self._name = name

    def start_span(self, *arguments: Any, **more: Any) -> trace.Span:  # noqa: ANN401 - passed on as it is
        """See `Tracer`."""
        return self._switch.provider.get_tracer(self._name).start_span(*arguments, **more)

    def start_as_current_span(self, *arguments: Any, **more: Any) -> _AgnosticContextManager[trace.Span]:  # noqa: ANN401 - as above
        """See `Tracer`."""
        return self._switch.provider.get_tracer(self._name).start_as_current_span(*arguments, **more)


class _Switch(trace.TracerProvider):
    """The global provider. OpenTelemetry lets it be set once; this one lets tests and a stop change it."""

    def __init__(self) -> None:
        self.provider: trace.TracerProvider = NoOpTracerProvider()
        self.sampler = TraceIdRatioBased(0.0)

    def get_tracer(
        self,
        instrumenting_module_name: str,
        instrumenting_library_version: str | None = None,  # noqa: ARG002 - of no interest
        schema_url: str | None = None,  # noqa: ARG002 - of no interest
        attributes: Attributes | None = None,  # noqa: ARG002 - of no interest
    ) -> trace.Tracer:
        """A tracer that follows the switch."""
        return _SwitchedTracer(self, instrumenting_module_name)


_switch: Final = _Switch()


def tracer(name: str = "servicekit") -> trace.Tracer:
    """What makes spans; they are recorded while tracing is switched on."""
    return _switch.get_tracer(name)


def enabled() -> bool:
    """Whether tracing is switched on at all."""
    return not isinstance(_switch.provider, NoOpTracerProvider)


def sampled(trace_id: int) -> bool:
    """Whether a trace that begins under this id is recorded: alike in all processes with the same ratio."""
    return trace_id & TraceIdRatioBased.TRACE_ID_LIMIT < _switch.sampler.bound


class Tracing:
    """Tracing that is switched on. `close` sends what waits, within a deadline, and switches off."""

    def __init__(
        self, provider: TracerProvider, before: tuple[trace.TracerProvider, TraceIdRatioBased]
    ) -> None:
        self._provider = provider
        self._before = before

    def close(self, timeout_s: float = 2.0) -> bool:
        """Send what waits and switch off; whether that was done in time.

        A collector that does not answer may hold a shutdown for longer than a stop has: it is left behind.
        """
        _switch.provider, _switch.sampler = self._before
        ending = threading.Thread(target=self._provider.shutdown, name="tracing-shutdown", daemon=True)
        ending.start()
        ending.join(timeout_s)
        return not ending.is_alive()


def configure_tracing(
    *,
    service: str,
    instance: str,
    sample_ratio: float,
    exporter: SpanExporter | None = None,
    processor: SpanProcessor | None = None,
    redactor: Redactor | None = None,
) -> Tracing:
    """Record spans from now on, and send them through `exporter` in batches (or to `processor` as they end).

    `sample_ratio`: the share of traces, 0 to 1, chosen by their ids, so alike in all services. Secrets known
    to `redactor` are taken out of every text before it leaves.
    """
    if trace.get_tracer_provider() is not _switch:
        trace.set_tracer_provider(_switch)
    propagate.set_global_textmap(TraceContextTextMapPropagator())
    sampler = TraceIdRatioBased(sample_ratio)
    made = TracerProvider(
        sampler=ParentBased(sampler),
        resource=Resource({"service.name": service, "service.instance.id": instance}),
        shutdown_on_exit=False,  # it has no deadline
        id_generator=WorkIds(),
        span_limits=_LIMITS,
    )
    if exporter is not None:
        made.add_span_processor(
            BatchSpanProcessor(
                RedactingExporter(exporter, redactor or Redactor()),
                max_queue_size=_WAITING_SPANS,
                max_export_batch_size=_BATCH_SPANS,
                schedule_delay_millis=1_000,
                export_timeout_millis=_EXPORT_TIMEOUT_S * 1_000,
            )
        )
    if processor is not None:
        made.add_span_processor(processor)
    before = _switch.provider, _switch.sampler
    _switch.provider, _switch.sampler = made, sampler
    return Tracing(made, before)


def otlp_exporter(endpoint: str) -> SpanExporter:
    """Sends to a collector, over gRPC; encrypted if the address says https."""
    # Importing it takes as long as half of all else, and is for nothing where tracing is off.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415 - see above
        OTLPSpanExporter,
    )

    return OTLPSpanExporter(
        endpoint=endpoint, insecure=endpoint.startswith("http://"), timeout=_EXPORT_TIMEOUT_S
    )


class RedactingExporter(SpanExporter):
    """Takes secrets out of spans on their way out."""

    def __init__(self, inner: SpanExporter, redactor: Redactor) -> None:
        self._inner = inner
        self._redactor = redactor

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans on, without secrets."""
        return self._inner.export([self._clean(span) for span in spans])

    def shutdown(self) -> None:
        """End."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits."""
        return self._inner.force_flush(timeout_millis)

    def _clean(self, span: ReadableSpan) -> ReadableSpan:
        description = span.status.description
        return ReadableSpan(
            name=self._redactor.text(span.name),
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=self._attributes(span.attributes),
            events=[
                Event(event.name, self._attributes(event.attributes), event.timestamp)
                for event in span.events
            ],
            links=span.links,
            kind=span.kind,
            status=trace.Status(span.status.status_code, self._redactor.text(description))
            if description
            else span.status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _attributes(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        return {name: self._value(name, value) for name, value in (given or {}).items()}

    def _value(self, name: str, value: object) -> object:
        if isinstance(value, str):
            return MASK if names_a_secret(name) else self._redactor.text(value)
        if isinstance(value, Sequence):
            return tuple(self._value(name, one) for one in value)
        return value
