"""What is noted of tables beside their log (`tables.tables`, `tables.unfinished_rounds`)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from eventstore.postgres import Connection
from upcard_table.app.ports import Hints, Notes, PreviousOwner

_NOTE: Final = """
INSERT INTO tables.tables AS t (table_id, opened, last_round, serving_token, floor_round)
VALUES ($1, coalesce($2::boolean, false), coalesce($3::bigint, 0), $4::bigint, nullif($5::bigint, 0))
ON CONFLICT (table_id) DO UPDATE
   SET opened = coalesce($2::boolean, t.opened),
       last_round = greatest(t.last_round, coalesce($3::bigint, 0)),
       serving_token = coalesce($4::bigint, t.serving_token),
       outage_since = CASE WHEN $4::bigint IS NULL THEN t.outage_since END,
       floor_round = CASE WHEN $5::bigint IS NULL THEN t.floor_round ELSE nullif($5::bigint, 0) END
"""

# Only a table that was opened has a row; the term of a lease under which nothing was opened leaves no trace.
_SERVE: Final = """
UPDATE tables.tables AS t
   SET serving_token = $2::bigint, outage_since = NULL,
       floor_round = CASE WHEN $3::bigint IS NULL THEN t.floor_round ELSE nullif($3::bigint, 0) END
 WHERE t.table_id = $1
"""

_BEGIN_UNFINISHED: Final = """
INSERT INTO tables.unfinished_rounds (table_id, number) SELECT $1, unnest($2::bigint[])
ON CONFLICT DO NOTHING
"""

_END_UNFINISHED: Final = """
DELETE FROM tables.unfinished_rounds WHERE table_id = $1 AND number = ANY ($2::bigint[])
"""

# Who served it under the lease before was there until then. Who never came to serve it made nothing better:
# what was noted before stands.
_TAKE_OVER: Final = """
UPDATE tables.tables AS t
   SET outage_since = CASE WHEN t.serving_token = $2::bigint THEN $3::timestamptz
                           ELSE coalesce(t.outage_since, $3::timestamptz) END,
       serving_token = NULL
 WHERE t.table_id = $1
"""

_HINTS: Final = """
SELECT t.last_round, t.floor_round, t.outage_since,
       (SELECT array_agg(u.number ORDER BY u.number)
          FROM tables.unfinished_rounds AS u WHERE u.table_id = t.table_id) AS unfinished
  FROM tables.tables AS t WHERE t.table_id = $1
"""

_OPEN_TABLES: Final = "SELECT table_id FROM tables.tables WHERE opened ORDER BY table_id LIMIT $1"

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


async def note(connection: Connection, table: str, notes: Notes) -> None:
    """Write what a batch notes, in its transaction."""
    if notes.opened is not None or notes.opened_round is not None:
        await connection.execute(
            _NOTE, table, notes.opened, notes.opened_round, notes.serving_token, notes.floor_round
        )
    elif notes.serving_token is not None:
        await connection.execute(_SERVE, table, notes.serving_token, notes.floor_round)
    elif notes.floor_round is not None:
        await connection.execute(_NOTE, table, None, None, None, notes.floor_round)
    if notes.unfinished:
        await connection.execute(_BEGIN_UNFINISHED, table, list(notes.unfinished))
    if notes.finished:
        await connection.execute(_END_UNFINISHED, table, list(notes.finished))


async def begin_take_over(connection: Connection, table: str, previous: PreviousOwner | None) -> None:
    """Note that nobody serves the table, and since when."""
    if previous is None:
        await connection.execute(_TAKE_OVER, table, None, None)
        return
    alive_until = _EPOCH + dt.timedelta(microseconds=previous.alive_until_us)
    await connection.execute(_TAKE_OVER, table, previous.token, alive_until)


async def read_hints(connection: Connection, table: str) -> Hints:
    """What is noted of a table; nothing where it was never opened."""
    row = await connection.fetchrow(_HINTS, table)
    if row is None:
        return Hints()
    since = row["outage_since"]
    return Hints(
        row["last_round"],
        tuple(row["unfinished"] or ()),
        row["floor_round"],
        None if since is None else (since - _EPOCH) // dt.timedelta(microseconds=1),
    )


async def open_tables(connection: Connection, limit: int) -> Sequence[str]:
    """The tables that are open, at most so many."""
    return [row[0] for row in await connection.fetch(_OPEN_TABLES, limit)]
