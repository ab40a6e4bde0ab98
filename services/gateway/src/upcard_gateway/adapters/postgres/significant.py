"""The log of significant events, and what the floor is shown of tables, in the gateway's database."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from eventstore.postgres import Connection
from upcard_gateway.app.significant import FloorNote
from upcard_gateway.domain.significant import Kind, Significant

__all__ = ["FloorTable", "PostgresBook", "Wanted", "floor_tables", "listed", "one", "staff_names"]

# The wallet's events name an account; whose it is and in what currency is known here.
_PUT: Final = """
INSERT INTO gateway.significant_events (
    event_id, happened_at, kind, source, stream, position, actor, table_id, round, player, account, staff,
    currency, amount, reason, data
)
SELECT found.event_id, found.happened_at, found.kind, found.source, found.stream, found.position, found.actor,
       found.table_id, found.round, coalesce(found.player, accounts.player), found.account, found.staff,
       coalesce(found.currency, accounts.currency), found.amount, found.reason, found.data
  FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
              $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[],
              $15::text[], $16::jsonb[])
       AS found (event_id, happened_at, kind, source, stream, position, actor, table_id, round, player,
                 account, staff, currency, amount, reason, data)
  LEFT JOIN gateway.accounts AS accounts ON accounts.account = found.account
    ON CONFLICT (event_id) DO NOTHING
"""

# The newest notes of a table count: an older one that came again would change nothing.
_NOTE: Final = """
INSERT INTO gateway.floor_tables AS known (
    table_id, position, dealer, dealer_since, shift, shift_since, manual_since, manual_reason
)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::timestamptz[],
                     $7::timestamptz[], $8::text[])
    ON CONFLICT (table_id) DO UPDATE
       SET position = excluded.position, dealer = excluded.dealer, dealer_since = excluded.dealer_since,
           shift = excluded.shift, shift_since = excluded.shift_since, manual_since = excluded.manual_since,
           manual_reason = excluded.manual_reason
     WHERE known.position < excluded.position
"""
_TABLES: Final = "SELECT * FROM gateway.floor_tables WHERE $1::text[] IS NULL OR table_id = ANY ($1::text[])"

_LISTED: Final = """
SELECT * FROM gateway.significant_events
 WHERE ($1::text[] IS NULL OR kind = ANY ($1::text[]))
   AND ($2::text IS NULL OR table_id = $2)
   AND ($3::text IS NULL OR round = $3)
   AND ($4::text IS NULL OR player = $4)
   AND ($5::text IS NULL OR staff = $5 OR actor = 'staff:' || $5)
   AND ($6::timestamptz IS NULL OR happened_at >= $6)
   AND ($7::timestamptz IS NULL OR happened_at < $7)
   AND ($8::timestamptz IS NULL OR (happened_at, event_id) < ($8, $9::uuid))
 ORDER BY happened_at DESC, event_id DESC
 LIMIT $10
"""
_NAMES: Final = "SELECT staff, name FROM gateway.staff_people WHERE staff = ANY ($1::text[])"
_ONE: Final = "SELECT * FROM gateway.significant_events WHERE event_id = $1"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries are wanted; what is left out restricts nothing."""

    kinds: tuple[Kind, ...] = ()
    table: str | None = None
    round: str | None = None
    player: str | None = None
    staff: str | None = None
    since: dt.datetime | None = None
    until: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class FloorTable:
    """What is known of a table's dealer, shift and manual mode."""

    table: str
    dealer: str | None = None
    dealer_since: dt.datetime | None = None
    shift: str | None = None
    shift_since: dt.datetime | None = None
    manual_since: dt.datetime | None = None
    manual_reason: str | None = None


class PostgresBook:
    """A `Book` in the gateway's database."""

    async def put(self, connection: Connection, found: Sequence[Significant]) -> None:
        """See `Book`."""
        await connection.execute(
            _PUT,
            [one.event_id for one in found],
            [one.at for one in found],
            [one.kind for one in found],
            [one.source for one in found],
            [one.stream for one in found],
            [one.position for one in found],
            [one.actor for one in found],
            [one.table for one in found],
            [one.round for one in found],
            [one.player for one in found],
            [one.account for one in found],
            [one.staff for one in found],
            [one.currency for one in found],
            [one.amount for one in found],
            [one.reason for one in found],
            [json.dumps(dict(one.data)) for one in found],
        )

    async def note(self, connection: Connection, notes: Sequence[FloorNote]) -> None:
        """See `Book`."""
        tables = sorted({note.table for note in notes})
        known = await floor_tables(connection, tables)
        positions: dict[str, int] = {}
        for note in notes:
            known[note.table] = _after(known.get(note.table, FloorTable(note.table)), note)
            positions[note.table] = note.position
        rows = [known[table] for table in tables]
        await connection.execute(
            _NOTE,
            tables,
            [positions[table] for table in tables],
            [row.dealer for row in rows],
            [row.dealer_since for row in rows],
            [row.shift for row in rows],
            [row.shift_since for row in rows],
            [row.manual_since for row in rows],
            [row.manual_reason for row in rows],
        )


def _after(known: FloorTable, note: FloorNote) -> FloorTable:
    dealer, shift = (known.dealer, known.dealer_since), (known.shift, known.shift_since)
    manual = (known.manual_since, known.manual_reason)
    match note.type:
        case "DealerSignedIn":
            dealer = (note.dealer, note.at)
        case "DealerSignedOut":
            dealer = (None, None)
        case "ShiftStarted":
            shift = (note.shift, note.at)
        case "ShiftEnded":
            shift = (None, None)
        case "ManualModeEntered":
            manual = (note.at, note.reason)
        case "ManualModeLeft":
            manual = (None, None)
        case _:  # TableClosed, which ends all of it but manual mode
            dealer, shift = (None, None), (None, None)
    return FloorTable(known.table, *dealer, *shift, *manual)


async def floor_tables(connection: Connection, tables: Sequence[str] | None = None) -> dict[str, FloorTable]:
    """What is known of these tables, or of all; by table. Those that nothing is known of are missing."""
    rows = await connection.fetch(_TABLES, None if tables is None else list(tables))
    return {
        row["table_id"]: FloorTable(
            row["table_id"],
            row["dealer"],
            row["dealer_since"],
            row["shift"],
            row["shift_since"],
            row["manual_since"],
            row["manual_reason"],
        )
        for row in rows
    }


async def listed(
    connection: Connection, wanted: Wanted, before: tuple[dt.datetime, UUID] | None, limit: int
) -> list[Significant]:
    """Entries, the newest first; `before`: only those older than this one."""
    at, event = before if before is not None else (None, None)
    rows = await connection.fetch(
        _LISTED,
        list(wanted.kinds) or None,
        wanted.table,
        wanted.round,
        wanted.player,
        wanted.staff,
        wanted.since,
        wanted.until,
        at,
        event,
        limit,
    )
    return [_entry(row) for row in rows]


async def one(connection: Connection, event_id: UUID) -> Significant | None:
    """The entry of an event, or None."""
    row = await connection.fetchrow(_ONE, event_id)
    return None if row is None else _entry(row)


async def staff_names(connection: Connection, staff: Sequence[str]) -> dict[str, str]:
    """The names of members of staff by their ids; who was erased, or is none, is missing."""
    return {row["staff"]: row["name"] for row in await connection.fetch(_NAMES, list(staff))}


def _entry(row: asyncpg.Record) -> Significant:
    return Significant(
        row["event_id"],
        row["happened_at"],
        row["kind"],
        row["source"],
        row["stream"],
        row["position"],
        row["actor"],
        row["table_id"],
        row["round"],
        row["player"],
        row["account"],
        row["staff"],
        row["currency"],
        row["amount"],
        row["reason"],
        json.loads(row["data"]),
    )
