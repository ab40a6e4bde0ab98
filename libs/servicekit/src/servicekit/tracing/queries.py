"""Spans of what is asked of PostgreSQL, inside traces that are recorded."""

import re
import time
from typing import Final

from asyncpg.connection import LoggedQuery
from opentelemetry import trace
from opentelemetry.trace import SpanKind

from eventstore.postgres import Connection
from servicekit.tracing.provider import tracer
from servicekit.tracing.spans import note_failure

_PART: Final = re.compile(
    r"""
      (?P<kept>     "[^"]*" )                                    # a name
    | (?P<comment>  --[^\n]* | /\*.*?(?:\*/|\Z) )
    | [eE]'(?:[^'\\]|''|\\.)*(?:'|\Z)                            # texts, cut ones too
    | '(?:[^']|'')*(?:'|\Z)
    | \$(?P<tag>[A-Za-z_]\w*|)\$.*?(?:\$(?P=tag)\$|\Z)
    | (?<![$\w])\d+(?:\.\d+)?
    """,
    re.DOTALL | re.VERBOSE,
)
_SHOWN_CHARACTERS: Final = 300


async def trace_queries(connection: Connection) -> None:
    """Make a span of each query of a connection: the `init` of a pool.

    Only inside a span that is recorded, so that polling in the background makes no traces. A query's
    parameters are never in it, nor are literals of its text. It costs nothing while no trace is recorded but
    a call.
    """
    connection.add_query_logger(_record)


def without_literals(query: str) -> str:
    """A query's text with ? for every text and number in it, on one line, cut."""
    text = " ".join(_PART.sub(_shown, query[: 4 * _SHOWN_CHARACTERS]).split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _shown(part: re.Match[str]) -> str:
    if part["comment"] is not None:
        return " "
    return part["kept"] or "?"


def _record(done: LoggedQuery) -> None:
    # asyncpg calls this after the query, in the context that asked.
    if not trace.get_current_span().is_recording():
        return
    ended_ns = time.time_ns()
    text = without_literals(done.query)
    operation = text.split(" ", 1)[0].upper() if text else "?"
    made = tracer().start_span(
        f"postgres {operation}",
        kind=SpanKind.CLIENT,
        start_time=ended_ns - int(done.elapsed * 1e9),
        attributes={
            "db.system.name": "postgresql",
            "db.namespace": done.conn_params.database or "?",
            "db.operation.name": operation,
            "db.query.text": text,
        },
    )
    if done.exception is not None:
        note_failure(made, done.exception)
        state = getattr(done.exception, "sqlstate", None)
        if isinstance(state, str):
            made.set_attribute("db.response.status_code", state)
    made.end(ended_ns)
