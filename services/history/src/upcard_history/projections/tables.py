"""The view `tables_view`: who was signed in at which table from when to when, and which shift it was.

Rounds find their dealer by the time at which they opened, their shift by their number: both are joined when
figures are read, so a table's stream may come before or after its rounds'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from eventstore import EventFilter, RecordedEvent
from eventstore.postgres import Connection
from eventstore.projections import Projection
from upcard_history.domain.instants import instant
from upcard_history.domain.table_changes import VERSIONS, Begun, table_changes
from upcard_history.projections.contents import content_of

_TABLES: Final = """
CREATE TABLE {schema}.spans (
    position bigint NOT NULL,
    after_round bigint,
    until_round bigint,
    since timestamptz NOT NULL,
    until timestamptz,
    kind text COLLATE "C" NOT NULL,
    table_id text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    PRIMARY KEY (table_id, kind, position)
);
CREATE INDEX spans_since_idx ON {schema}.spans (table_id, kind, since, position);
CREATE INDEX spans_rounds_idx ON {schema}.spans (table_id, kind, after_round, position);
"""

# At most one of a kind and table goes on.
_END: Final = """
UPDATE {schema}.spans AS s SET until = u.until, until_round = u.until_round
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[])
    AS u (table_id, kind, until, until_round)
 WHERE s.table_id = u.table_id AND s.kind = u.kind AND s.until IS NULL
"""
_BEGIN: Final = """
INSERT INTO {schema}.spans (table_id, kind, position, subject, since, until, after_round, until_round)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::timestamptz[], $6::timestamptz[],
                     $7::bigint[], $8::bigint[])
"""

_STREAM: Final = "table-"
Row = tuple[Any, ...]


@dataclass(slots=True)
class _Span:
    table: str
    kind: str
    position: int
    subject: str
    since: datetime
    after_round: int | None
    until: datetime | None = None
    until_round: int | None = None

    def row(self) -> Row:
        """In the order of the statement."""
        when = (self.since, self.until, self.after_round, self.until_round)
        return (self.table, self.kind, self.position, self.subject, *when)


async def _create(connection: Connection, schema: str) -> None:
    await connection.execute(_TABLES.format(schema=schema))


async def _handle(connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
    begun: list[_Span] = []
    going_on: dict[tuple[str, str], _Span] = {}
    ended: dict[tuple[str, str], Row] = {}
    for event in events:
        content = content_of(event, VERSIONS) if event.stream.startswith(_STREAM) else None
        if content is None:
            continue
        table, at = event.stream.removeprefix(_STREAM), instant(content.recorded_at)
        for change in table_changes(content.type, content.payload):
            key = (table, change.kind)
            if isinstance(change, Begun):
                span = _Span(
                    table, change.kind, event.stream_position, change.subject, at, change.after_round
                )
                begun.append(span)
                going_on[key] = span
            elif key in going_on:
                span = going_on.pop(key)
                span.until, span.until_round = at, change.after_round
            else:
                # The first end here is that of the one which began earlier.
                ended.setdefault(key, (*key, at, change.after_round))
    await _run(connection, _END.format(schema=schema), list(ended.values()))
    await _run(connection, _BEGIN.format(schema=schema), [span.row() for span in begun])


async def _run(connection: Connection, sql: str, rows: Sequence[Row]) -> None:
    if rows:
        await connection.execute(sql, *[list(column) for column in zip(*rows, strict=True)])


TABLES: Final = Projection(
    "tables_view", 1, _create, _handle, wanted=EventFilter(categories=frozenset({"table"}))
)
"""Dealers and shifts, made of the table service's tables."""
