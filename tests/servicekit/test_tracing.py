"""Traces: whose they are, what hangs on what, and what is never in them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode

from eventstore import Expect, NewEvent, StreamAppend, VersionConflict
from eventstore.ids import new_event_id
from eventstore.memory import MemoryEventStore
from eventstore.postgres import open_pool
from servicekit import context
from servicekit.lifecycle import ExitCode
from servicekit.logging import Redactor
from servicekit.tracing import (
    TracedAppender,
    configure_tracing,
    event_parent,
    event_span,
    incoming,
    inject,
    span,
    span_id_of,
    trace_id_of,
    trace_queries,
    tracer,
)
from servicekit.tracing.events import MOST_EVENT_SPANS
from servicekit.tracing.queries import without_literals
from tests.servicekit.collector import collector
from tests.servicekit.conftest import Spans
from tests.servicekit.programs import service


def attributes_of(one: ReadableSpan) -> dict[str, object]:
    return dict(one.attributes or {})


def test_without_a_setting_nothing_is_recorded() -> None:
    with span("work") as made:
        assert not made.is_recording()
        carrier: dict[str, str] = {}
        inject(carrier)
        assert carrier == {}


def test_a_trace_is_that_of_the_correlation_id(spans: Spans) -> None:
    with context.bind(correlation_id="c-1"), span("one"):
        pass
    with context.bind(correlation_id="c-1"), span("two"):
        pass
    with span("three"):
        pass
    one, two, three = (spans.named(name).context for name in ("one", "two", "three"))
    assert one.trace_id == two.trace_id == trace_id_of("c-1")
    assert three.trace_id != one.trace_id


@given(st.text(min_size=1), st.uuids())
def test_ids_are_valid_and_follow_from_what_they_stand_for(correlation_id: str, event_id: uuid.UUID) -> None:
    if any(0xD800 <= ord(character) < 0xE000 for character in correlation_id):
        return
    assert 0 < trace_id_of(correlation_id) < 2**128
    assert 0 < span_id_of(event_id) < 2**64
    assert trace_id_of(correlation_id) == trace_id_of(correlation_id)


def test_a_call_continues_the_callers_trace(spans: Spans) -> None:
    carrier: dict[str, str] = {}
    with context.bind(correlation_id="c-1"), span("caller", kind=SpanKind.CLIENT):
        inject(carrier)
    parent, links = incoming(carrier, "c-1")
    with context.bind(correlation_id="c-1"), span("served", kind=SpanKind.SERVER, parent=parent, links=links):
        pass
    served = spans.named("served")
    assert served.parent is not None
    assert served.parent.span_id == spans.named("caller").context.span_id
    assert served.context.trace_id == trace_id_of("c-1")


@pytest.mark.parametrize("named", [True, False])
def test_somebody_elses_trace_is_linked_to_and_not_joined(spans: Spans, *, named: bool) -> None:
    carrier = {"traceparent": f"00-{1:032x}-{2:016x}-01"} if named else {"traceparent": "garbage"}
    parent, links = incoming(carrier, "c-1")
    with context.bind(correlation_id="c-1"), span("served", parent=parent, links=links):
        pass
    served = spans.named("served")
    assert (served.parent, served.context.trace_id) == (None, trace_id_of("c-1"))
    assert [link.context.trace_id for link in served.links] == ([1] if named else [])


def test_a_failure_shows_its_class_and_never_its_words(spans: Spans) -> None:
    with pytest.raises(ValueError, match="hunter2"), span("work"):
        raise ValueError("hunter2")
    with pytest.raises(VersionConflict), span("append"):
        raise VersionConflict("round-t1.7", 1, 2)
    work, append = spans.named("work"), spans.named("append")
    assert (work.status.status_code, work.status.description, work.events) == (StatusCode.ERROR, None, ())
    assert attributes_of(work) == {"error.type": "ValueError"}
    assert attributes_of(append) == {"error.type": "version_conflict"}


@pytest.mark.parametrize("ratio", [0.0, 0.25, 1.0])
def test_all_processes_choose_the_same_traces(ratio: float) -> None:
    tracing = configure_tracing(service="s", instance="i", sample_ratio=ratio)
    try:
        chosen = 0
        for number in range(400):
            with context.bind(correlation_id=f"c-{number}"), span("work") as made:
                recorded = made.is_recording()
            # Whoever applies one of its events knows, without having been told.
            event = trace.get_current_span(event_parent(f"c-{number}", new_event_id())).get_span_context()
            assert event.trace_flags.sampled is recorded
            chosen += recorded
        assert abs(chosen / 400 - ratio) < 0.15
    finally:
        tracing.close()


async def test_an_event_is_a_span_that_all_that_follows_hangs_on(spans: Spans) -> None:
    store = TracedAppender(MemoryEventStore())
    event = NewEvent(new_event_id(), "BetPlaced", b"{}")
    with context.bind(correlation_id="c-1"), span("call"):
        await store.append("round-t1.7", [event], expected=Expect.NONE)
    # Elsewhere, later: nothing but the event's own ids is known.
    with event_span("apply", correlation_id="c-1", event_id=event.event_id):
        assert (context.correlation_id(), context.causation_id()) == ("c-1", str(event.event_id))
        with span("effect"):
            pass
    call, append, stored, apply, effect = map(
        spans.named, ("call", "append", "event BetPlaced", "apply", "effect")
    )
    assert {one.context.trace_id for one in spans.all} == {trace_id_of("c-1")}
    for child, parent in ((append, call), (stored, append), (apply, stored), (effect, apply)):
        assert child.parent is not None
        assert child.parent.span_id == parent.context.span_id
    assert stored.kind is SpanKind.PRODUCER
    assert attributes_of(stored) == {"upcard.event_id": str(event.event_id), "upcard.stream": "round-t1.7"}


async def test_spans_of_events_are_bounded_over_all_streams(spans: Spans) -> None:
    store = TracedAppender(MemoryEventStore())
    appends = [
        StreamAppend(
            f"table-t{number}", Expect.NONE, [NewEvent(new_event_id(), "X", b"{}") for _ in range(60)]
        )
        for number in range(3)
    ]
    await store.append_all(appends)
    assert len([one for one in spans.all if one.name == "event X"]) == MOST_EVENT_SPANS


async def test_an_append_that_fails_has_no_events(spans: Spans) -> None:
    store = TracedAppender(MemoryEventStore())
    event = NewEvent(new_event_id(), "BetPlaced", b"{}")
    with pytest.raises(VersionConflict):
        await store.append("round-t1.7", [event], expected=7)
    (only,) = spans.all
    assert attributes_of(only) == {"upcard.events": 1, "error.type": "version_conflict"}


async def test_queries_are_spans_inside_a_trace_and_nowhere_else(spans: Spans, database: str) -> None:
    async with await open_pool(database, application_name="test", init=trace_queries) as pool:
        await pool.fetchval("SELECT 1")
        with span("work"):
            async with pool.acquire() as connection:
                joined = await connection.fetchval("SELECT $1::text || 'hunter2'", "hunter3")
                assert joined == "hunter3hunter2"
                with pytest.raises(asyncpg.DivisionByZeroError):
                    await connection.execute("SELECT 1 / 0")
    work = spans.named("work")
    good, bad = (one for one in spans.all if one.name == "postgres SELECT")
    for one in (good, bad):
        assert one.parent is not None
        assert one.parent.span_id == work.context.span_id
        assert one.kind is SpanKind.CLIENT
        assert one.start_time is not None
        assert one.end_time is not None
        assert one.start_time <= one.end_time
    assert attributes_of(good)["db.query.text"] == "SELECT $1::text || ?"
    assert attributes_of(bad)["db.query.text"] == "SELECT ? / ?"
    assert attributes_of(bad)["error.type"] == "DivisionByZeroError"
    assert attributes_of(bad)["db.response.status_code"] == "22012"
    assert "hunter" not in "".join(one.to_json() for one in spans.all)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("SELECT a\n  FROM b", "SELECT a FROM b"),
        ("ALTER ROLE x PASSWORD 'it''s'", "ALTER ROLE x PASSWORD ?"),
        (r"SELECT E'it\'s', 1.5", "SELECT ?, ?"),
        ("DO $body$ SELECT 'x' $body$", "DO ?"),
        ("SELECT t1.a FROM t1 WHERE id = $1", "SELECT t1.a FROM t1 WHERE id = $1"),
        ("SELECT 'no end", "SELECT ?"),
        (r"SELECT 'a\', 'hunter2'", "SELECT ?, ?"),  # in a plain text a backslash escapes nothing
        ("-- it's so\nSELECT 'hunter2' /* isn't */", "SELECT ?"),
        ("SELECT \"it's\", 'hunter2'", 'SELECT "it\'s", ?'),
        ("SELECT $$a 'b$$, 'hunter2'", "SELECT ?, ?"),
        ("", ""),
    ],
)
def test_literals_are_not_shown(query: str, shown: str) -> None:
    assert without_literals(query) == shown


def test_a_long_query_is_cut() -> None:
    assert len(without_literals("SELECT a" + ", a" * 10_000)) < 400


class Kept(SpanExporter):
    """An exporter that keeps what it is given."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS


def test_secrets_are_taken_out_on_the_way() -> None:
    redactor = Redactor()
    redactor.add("hunter22")
    kept = Kept()
    tracing = configure_tracing(service="s", instance="i", sample_ratio=1.0, exporter=kept, redactor=redactor)
    with tracer().start_as_current_span("call hunter22") as made:
        made.set_attribute("address", "postgresql://u:other@h/d")
        made.set_attribute("password", "third")
        made.set_attribute("several", ["hunter22", "x"])
        made.set_attribute("number", 7)
        made.add_event("retry", {"why": "hunter22"})
        made.record_exception(RuntimeError("hunter22"))
        made.set_status(trace.Status(StatusCode.ERROR, "hunter22"))
    assert tracing.close(60)
    (only,) = kept.spans
    text = only.to_json()
    for hidden in ("hunter22", "other@", "third"):
        assert hidden not in text
    assert attributes_of(only)["number"] == 7
    assert attributes_of(only)["several"] == ("[masked]", "x")


def test_a_service_sends_its_traces() -> None:
    with (
        collector() as there,
        service(
            {"spans": True}, UPCARD_TRACING_ENDPOINT=there.endpoint, UPCARD_TRACING_SAMPLE_RATIO="1"
        ) as program,
    ):
        line = program.until("in a span")
        program.until("running")
        program.signal()
        assert program.code() == ExitCode.STOPPED
        (sent,) = there.spans
        assert (sent.name, sent.trace_id.hex()) == ("sample span", line["trace_id"])
        resource = there.requests[0].resource_spans[0].resource
        assert {one.key: one.value.string_value for one in resource.attributes}["service.name"] == "sample"


@pytest.mark.parametrize("there", [True, False])
def test_a_collector_that_does_not_answer_holds_up_no_stop(*, there: bool) -> None:
    with collector() as one:
        one.stalled.clear()
        endpoint = one.endpoint if there else "http://127.0.0.1:1"
        with service(
            {"spans": True}, UPCARD_TRACING_ENDPOINT=endpoint, UPCARD_TRACING_SAMPLE_RATIO="1"
        ) as program:
            program.until("running")
            program.signal()
            assert program.code() == ExitCode.STOPPED
            assert program.lines("some spans were not sent in time") or not there
