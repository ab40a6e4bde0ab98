"""Databases with an event log, and watching what a store's appender sends nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import asyncpg
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from eventstore.migrations import prepare_event_log
from servicekit.tracing import configure_tracing
from stack import Stack
from stack.names import fresh_name
from stack.threads import run_apart


@pytest.fixture(scope="session")
def database_template(stack: Stack) -> str:
    """A migrated database, to be copied."""
    name = fresh_name("kit")

    async def make() -> None:
        connection = await asyncpg.connect(await stack.databases.create(name))
        try:
            await prepare_event_log(connection)
        finally:
            await connection.close()

    run_apart(make)
    return name


class Spans:
    """The spans that have ended so far."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.all if span.name == name]
        return found


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Every trace is recorded, and its spans kept."""
    exporter = InMemorySpanExporter()
    tracing = configure_tracing(
        service="test", instance="t-1", sample_ratio=1.0, processor=SimpleSpanProcessor(exporter)
    )
    try:
        yield Spans(exporter)
    finally:
        tracing.close()
