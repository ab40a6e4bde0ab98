"""A collector of traces, as far as a test needs one: it keeps what it is sent."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(TraceServiceServicer):
    """What has been sent so far."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.stalled = threading.Event()
        """Clear it, and nothing is answered until it is set."""
        self.stalled.set()
        self.asked = threading.Event()
        self.endpoint = ""

    def Export(  # noqa: N802 - its name in the protocol
        self, request: ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> ExportTraceServiceResponse:
        """Take spans."""
        self.asked.set()
        self.stalled.wait(context.time_remaining())
        self.requests.append(request)
        return ExportTraceServiceResponse()

    @property
    def spans(self) -> list[Span]:
        """The spans of all requests."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@contextlib.contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    made = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(made, server)  # type: ignore[no-untyped-call]  # generated without types
    made.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield made
    finally:
        made.stalled.set()
        server.stop(None).wait()
