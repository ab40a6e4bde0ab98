"""What is seen of calls: one trace through both sides, a line in the log, and nothing of what was said."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import grpc
import grpc.aio
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from servicekit import context, tracing
from servicekit.grpc import CallError
from servicekit.grpc.observing import CORRELATION_KEY
from servicekit.metrics import check_registry, registry
from tests.servicekit.grpc.conftest import WAIT_S, Served, serve_echo
from tests.servicekit.grpc.echo import NAME, Echo, EchoStub, Text

SECRET = "the-card-is-Ah"  # noqa: S105 - what must not be seen anywhere


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Every span, as it ends."""
    kept = InMemorySpanExporter()
    made = tracing.configure_tracing(
        service="echo", instance="1", sample_ratio=1.0, processor=SimpleSpanProcessor(kept)
    )
    yield kept
    made.close()


async def test_one_trace_goes_through_both_sides(served: Served, spans: InMemorySpanExporter) -> None:
    async with serve_echo() as behind:

        async def pass_on(text: str) -> str:
            return await behind.read(text)

        served.echo.answer = pass_on
        with context.bind(correlation_id="order-66"):
            await served.read(SECRET)
    found = spans.get_finished_spans()
    assert [span.kind for span in found] == [SpanKind.SERVER, SpanKind.CLIENT] * 2
    assert {span.name for span in found} == {f"{NAME}/Read"}
    inner, between, outer, first = found
    assert [span.parent.span_id if span.parent else None for span in (inner, between, outer, first)] == [
        between.context.span_id,
        outer.context.span_id,
        first.context.span_id,
        None,
    ]
    assert {span.context.trace_id for span in found} == {tracing.trace_id_of("order-66")}
    assert SECRET not in "".join(span.to_json() for span in found)


async def test_a_call_out_of_nowhere_has_one_trace_too(served: Served, spans: InMemorySpanExporter) -> None:
    await served.read()
    server, client = spans.get_finished_spans()
    assert server.context.trace_id == client.context.trace_id


async def test_a_strangers_trace_is_linked_not_joined(served: Served, spans: InMemorySpanExporter) -> None:
    theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        metadata = (("traceparent", theirs), (CORRELATION_KEY, "order-67"))
        await EchoStub(bare).Read(Text(value="x"), timeout=WAIT_S, metadata=metadata)
    (span,) = spans.get_finished_spans()
    assert span.context.trace_id == tracing.trace_id_of("order-67")
    assert [f"{link.context.trace_id:032x}" for link in span.links] == [theirs.split("-")[1]]


@pytest.mark.parametrize(
    ("error", "server_status"),
    [
        (CallError(grpc.StatusCode.NOT_FOUND, "gone", SECRET), StatusCode.UNSET),
        (RuntimeError(SECRET), StatusCode.ERROR),
    ],
)
async def test_a_failed_call_is_marked_without_its_words(
    served: Served, spans: InMemorySpanExporter, error: Exception, server_status: StatusCode
) -> None:
    async def fail(_text: str) -> str:
        raise error

    served.echo.answer = fail
    with pytest.raises(grpc.aio.AioRpcError):
        await served.stub.Once(Text(value="x"), timeout=WAIT_S)
    server, client = spans.get_finished_spans()
    assert (server.status.status_code, client.status.status_code) == (server_status, StatusCode.ERROR)
    assert SECRET not in server.to_json() + client.to_json()


async def test_a_line_in_the_log_for_what_failed(
    served: Served, logged: list[MutableMapping[str, Any]]
) -> None:
    async def fail(_text: str) -> str:
        raise CallError(grpc.StatusCode.NOT_FOUND, "round_unknown", "no such round")

    served.echo.answer = fail
    with pytest.raises(grpc.aio.AioRpcError):
        await served.stub.Once(Text(value=SECRET), timeout=WAIT_S)
    (line,) = [line for line in logged if line["event"] == "call served"]
    assert (line["log_level"], line["code"], line["reason"]) == ("info", "NOT_FOUND", "round_unknown")
    assert SECRET not in str(logged)


async def test_what_is_being_served_is_counted_up_and_down() -> None:
    levels: list[float | None] = []

    async def look(text: str) -> str:
        levels.append(registry().get_sample_value("upcard_grpc_server_calls_in_flight", {"kind": "call"}))
        if text == "fail":
            raise RuntimeError
        return text

    async with serve_echo(Echo(look)) as served:
        await served.read()
        with pytest.raises(grpc.aio.AioRpcError):
            await served.stub.Once(Text(value="fail"), timeout=WAIT_S)
        await served.read()
    assert levels == [1, 1, 1]


async def test_calls_that_do_not_exist_make_no_new_time_series(served: Served) -> None:
    async with grpc.aio.insecure_channel(served.server.address) as bare:
        for number in range(5):
            call: Any = bare.unary_unary(f"/made.up/Call{number}")
            with pytest.raises(grpc.aio.AioRpcError):
                await call(b"", timeout=WAIT_S)
    names = {sample.labels.get("service") for metric in registry().collect() for sample in metric.samples}
    assert "made.up" not in names
    assert "unknown" in names


async def test_names_keep_the_conventions(served: Served) -> None:
    await served.read()
    check_registry(registry())
