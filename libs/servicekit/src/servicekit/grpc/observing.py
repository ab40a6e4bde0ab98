"""What is seen of each call on either side: metrics, a span, a line in the log. Never what was said."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Final

import grpc
import structlog
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from servicekit import metrics, tracing

CORRELATION_KEY: Final = "upcard-correlation-id"
"""The metadata that the correlation id travels in."""
UNKNOWN: Final = "unknown"

_server_calls = metrics.counter(
    "upcard_grpc_server_calls_total", "Calls served, by how they ended", ("service", "method", "code")
)
_server_seconds = metrics.histogram(
    "upcard_grpc_server_call_seconds", "How long calls took to serve", ("service", "method")
)
_server_reasons = metrics.counter(
    "upcard_grpc_server_errors_total",
    "Calls served that ended in an error, by its reason",
    ("service", "reason"),
)
_server_repeated = metrics.counter(
    "upcard_grpc_server_repeated_calls_total", "Calls that a client repeated by itself", ("service", "method")
)
_in_flight = metrics.gauge(
    "upcard_grpc_server_calls_in_flight", "Calls being served at the moment", ("kind",)
)
_client_calls = metrics.counter(
    "upcard_grpc_client_calls_total", "Calls made, by how they ended", ("service", "method", "code")
)
_client_seconds = metrics.histogram(
    "upcard_grpc_client_call_seconds", "How long calls took, repetitions included", ("service", "method")
)

_log = structlog.get_logger("servicekit.grpc")
_tracer = tracing.tracer("servicekit.grpc")

_SERVERS_FAULT: Final = frozenset(
    {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS}
)


def in_flight(kind: str, count: int) -> None:
    """Tell how many calls of a kind (`call`, `stream`) are being served."""
    _in_flight.labels(kind).set(count)


class Seen:
    """One call, from its beginning to its end; `method` is `/package.Service/Method`."""

    def __init__(self, method: str, span: Span) -> None:
        self.service, self.method = split(method)
        self._span = span
        self._began = time.perf_counter()

    def served(self, code: grpc.StatusCode, reason: str | None = None, *, caller: str | None = None) -> None:
        """The end of a call that we served."""
        seconds = self._end_span(code, reason)
        _server_calls.labels(self.service, self.method, code.name).inc()
        _server_seconds.labels(self.service, self.method).observe(seconds)
        if reason is not None:
            _server_reasons.labels(self.service, reason).inc()
        say = _log.debug if code is grpc.StatusCode.OK else _log.info
        say(
            "call served",
            service=self.service,
            method=self.method,
            code=code.name,
            reason=reason,
            caller=caller,
            duration_ms=round(seconds * 1_000, 3),
        )

    def made(self, code: grpc.StatusCode) -> None:
        """The end of a call that we made."""
        seconds = self._end_span(code, None)
        self._span.end()
        _client_calls.labels(self.service, self.method, code.name).inc()
        _client_seconds.labels(self.service, self.method).observe(seconds)

    def _end_span(self, code: grpc.StatusCode, reason: str | None) -> float:
        self._span.set_attribute("rpc.grpc.status_code", int(code.value[0]))
        if reason is not None:
            self._span.set_attribute("upcard.reason", reason)
        # What a caller did wrong is no failure of the server; whoever made the call sees a failure.
        if code is not grpc.StatusCode.OK and (reason is None or code in _SERVERS_FAULT):
            self._span.set_status(Status(StatusCode.ERROR, code.name))
        return time.perf_counter() - self._began


@contextlib.contextmanager
def serving_span(method: str, metadata: Mapping[str, str], correlation_id: str) -> Iterator[Seen]:
    """The span of a call that we serve: a child of the caller's, or linked to it (see `tracing.incoming`)."""
    service, name = split(method)
    if "grpc-previous-rpc-attempts" in metadata:
        _server_repeated.labels(service, name).inc()
    parent, links = tracing.incoming(metadata, correlation_id)
    with _tracer.start_as_current_span(
        f"{service}/{name}",
        context=parent,
        kind=SpanKind.SERVER,
        attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
        links=links,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield Seen(method, span)


def calling_span(method: str, carrier: dict[str, str]) -> Seen:
    """The span of a call that we make; what the server needs to continue it is put into the carrier."""
    service, name = split(method)
    span = _tracer.start_span(
        f"{service}/{name}",
        kind=SpanKind.CLIENT,
        attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
    )
    with trace.use_span(span, record_exception=False, set_status_on_exception=False):
        tracing.inject(carrier)
    return Seen(method, span)


def split(method: str) -> tuple[str, str]:
    """Service and method of a full name; both `unknown` where it has no such form."""
    parts = method.split("/")
    return (parts[1], parts[2]) if len(parts) == 3 and not parts[0] else (UNKNOWN, UNKNOWN)
