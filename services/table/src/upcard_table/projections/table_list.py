"""All tables and where each of them stands about now: what a lobby shows, and where a watcher begins to read.

A row has the table's state as of a position of its stream, and its latest round with that round's step. The
two come from different shards, so each has a position of its own, and neither ever goes back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncpg

from eventstore import EventFilter, RecordedEvent
from eventstore.postgres import Connection, Pool
from eventstore.projections import Projection
from rules_core.canonical import canonical_bytes
from upcard_table.app.watching.looking import STEPS
from upcard_table.app.watching.sources import KnownTable
from upcard_table.domain.codec import STATE_VERSION, event_of, state_of, state_payload
from upcard_table.domain.events import EVENT_TYPES
from upcard_table.domain.evolve import evolve
from upcard_table.domain.state import NEW_TABLE, TableState

NAME: Final = "table_list"

_CREATE: Final = """
CREATE TABLE {schema}.tables (
    position bigint NOT NULL DEFAULT 0,
    last_round bigint NOT NULL DEFAULT 0,
    round_position bigint NOT NULL DEFAULT 0,
    open boolean NOT NULL DEFAULT false,
    table_id text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL DEFAULT '',
    state text,
    CONSTRAINT tables_pkey PRIMARY KEY (table_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)
"""
_CREATE_INDEX: Final = "CREATE INDEX tables_open_idx ON {schema}.tables (table_id) WHERE open"

_STATES: Final = """
SELECT table_id, position, state FROM {schema}.tables
 WHERE table_id = ANY ($1::text[]) ORDER BY table_id FOR UPDATE
"""

_KEEP_STATES: Final = """
INSERT INTO {schema}.tables AS t (table_id, position, open, state)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::text[])
    ON CONFLICT (table_id) DO UPDATE
   SET position = excluded.position, open = excluded.open, state = excluded.state
 WHERE t.position < excluded.position
"""

_KEEP_ROUNDS: Final = """
INSERT INTO {schema}.tables AS t (table_id, last_round, round_position, step)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
    ON CONFLICT (table_id) DO UPDATE
   SET last_round = excluded.last_round, round_position = excluded.round_position, step = excluded.step
 WHERE (t.last_round, t.round_position) < (excluded.last_round, excluded.round_position)
"""

_FIND: Final = f"SELECT table_id, position, last_round, step, state FROM {NAME}.tables WHERE table_id = $1"  # noqa: S608 - a constant

_PAGE: Final = f"""
SELECT table_id, position, last_round, step, state FROM {NAME}.tables
 WHERE table_id > $1 AND position > 0 AND (open OR NOT $3) ORDER BY table_id LIMIT $2
"""  # noqa: S608 - a constant


class EventMissing(Exception):
    """An event of a table's stream does not follow the one before it: a broken invariant of the log."""


@dataclass(slots=True)
class _Folded:
    position: int = 0
    state: TableState = field(default=NEW_TABLE)


async def _create(connection: Connection, schema: str) -> None:
    await connection.execute(_CREATE.format(schema=schema))
    await connection.execute(_CREATE_INDEX.format(schema=schema))


async def _handle(connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
    of_tables: dict[str, list[RecordedEvent]] = {}
    of_rounds: dict[str, tuple[int, int, str]] = {}
    for event in events:
        category, _, name = event.stream.partition("-")
        if category == "table":
            of_tables.setdefault(name, []).append(event)
        else:
            table, _, number = name.rpartition(".")
            seen = (int(number), event.stream_position, STEPS[event.type])
            of_rounds[table] = max(of_rounds.get(table, seen), seen)
    # Ascending, so that two runners never wait for each other.
    if of_tables:
        await _keep_states(connection, schema, dict(sorted(of_tables.items())))
    if of_rounds:
        rows = [(table, *of_rounds[table]) for table in sorted(of_rounds)]
        await connection.execute(_KEEP_ROUNDS.format(schema=schema), *map(list, zip(*rows, strict=True)))


async def _keep_states(
    connection: Connection, schema: str, of_tables: Mapping[str, Sequence[RecordedEvent]]
) -> None:
    found = await connection.fetch(_STATES.format(schema=schema), list(of_tables))
    known = {row["table_id"]: _Folded(row["position"], _state(row["state"])) for row in found}
    rows: list[tuple[str, int, bool, str]] = []
    for table, events in of_tables.items():
        folded = known.get(table, _Folded())
        for event in events:
            _fold(folded, event)
        state = canonical_bytes(state_payload(folded.state)).decode()
        rows.append((table, folded.position, folded.state.open, state))
    await connection.execute(_KEEP_STATES.format(schema=schema), *map(list, zip(*rows, strict=True)))


def _fold(folded: _Folded, event: RecordedEvent) -> None:
    if event.stream_position <= folded.position:
        return
    if event.stream_position != folded.position + 1:
        raise EventMissing(f"{event.stream} goes on at {event.stream_position} after {folded.position}")
    members = json.loads(event.content)
    folded.state = evolve(folded.state, event_of(members["type"], members["version"], members["payload"]))
    folded.position = event.stream_position


def _state(text: str | None) -> TableState:
    return NEW_TABLE if text is None else state_of(json.loads(text))


TABLE_LIST: Final = Projection(
    NAME,
    STATE_VERSION,
    _create,
    _handle,
    wanted=EventFilter(
        categories=frozenset({"table", "round"}), types=frozenset(EVENT_TYPES) | frozenset(STEPS)
    ),
)
"""Its version is that of the state's form, which has to change whenever these tables do, too."""


class PostgresTableIndex:
    """Reads the projection; see `upcard_table.app.watching.sources.TableIndex`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, table: str) -> KnownTable:
        """See `TableIndex`."""
        async with self._pool.acquire() as connection:
            row = await connection.fetchrow(_FIND, table)
        return KnownTable() if row is None else _known(row)

    async def page(self, *, after: str, limit: int, open_only: bool) -> list[KnownTable]:
        """See `TableIndex`."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_PAGE, after, limit, open_only)
        return [_known(row) for row in rows]


def _known(row: asyncpg.Record) -> KnownTable:
    return KnownTable(row["table_id"], _state(row["state"]), row["position"], row["last_round"], row["step"])
