"""Corrections that somebody has asked for, so that another person finds them.

A row is there before the table service is asked. Its answer is noted by the same request: whoever posts again
what was interrupted gets the answer that was given, and the row is whole then.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg

from eventstore.postgres import Connection

__all__ = ["Correction", "add", "count_open", "find", "listed", "note"]

_ADD: Final = """
INSERT INTO gateway.floor_corrections (
    request_id, asked_at, table_id, number, proposer, why, state, correction
)
VALUES ($1, $2, $3, $4, $5, $6, 'asked', $7)
    ON CONFLICT (request_id) DO NOTHING
"""
# What is decided stays so; an answer that comes again changes nothing, nor does one about another proposal.
_NOTE: Final = """
UPDATE gateway.floor_corrections
   SET state = $2, resettlement = coalesce($3, resettlement), decided_by = $4, decided_at = $5
 WHERE request_id = $1 AND state IN ('asked', 'proposed')
   AND ($3::uuid IS NULL OR resettlement IS NULL OR resettlement = $3)
"""
_FIND: Final = "SELECT * FROM gateway.floor_corrections WHERE request_id = $1"
_LISTED: Final = """
SELECT * FROM gateway.floor_corrections
 WHERE ($1::text IS NULL OR (table_id = $1 AND number = $2))
 ORDER BY (state IN ('asked', 'proposed')) DESC, asked_at DESC, request_id
 LIMIT $3
"""
_OPEN: Final = "SELECT count(*) FROM gateway.floor_corrections WHERE state IN ('asked', 'proposed')"


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that was asked for."""

    request_id: str
    asked_at: dt.datetime
    table: str
    number: int
    proposer: str
    """`staff:<id>`."""
    why: str
    state: str
    """`asked` (the table service has not answered yet), `refused`, `proposed`, `approved`, `rejected`."""
    resettlement: str
    decided_by: str
    decided_at: dt.datetime | None
    correction: Mapping[str, Any]
    """`reason`, `refund`, `cards` (`place`, `card`), `choices` (as `ChoiceCorrection`)."""

    @property
    def round(self) -> str:
        """The round's name."""
        return f"{self.table}.{self.number}"

    def is_same_wish(self, other: Correction) -> bool:
        """Whether the same person wants the same correction of the same round."""
        mine = (self.proposer, self.table, self.number, dict(self.correction))
        return mine == (other.proposer, other.table, other.number, dict(other.correction))


async def add(connection: Connection, asked: Correction) -> bool:
    """Note that it is being asked for; once for each request. False: the request is another wish's."""
    await connection.execute(
        _ADD,
        asked.request_id,
        asked.asked_at,
        asked.table,
        asked.number,
        asked.proposer,
        asked.why,
        json.dumps(dict(asked.correction)),
    )
    there = await find(connection, asked.request_id)
    return there is not None and there.is_same_wish(asked)


async def note(
    connection: Connection,
    request_id: str,
    state: str,
    *,
    resettlement: str = "",
    decided_by: str | None = None,
    at: dt.datetime | None = None,
) -> None:
    """Note what became of it."""
    known = UUID(resettlement) if resettlement else None
    await connection.execute(_NOTE, request_id, state, known, decided_by, at)


async def find(connection: Connection, request_id: str) -> Correction | None:
    """One, or None."""
    row = await connection.fetchrow(_FIND, request_id)
    return None if row is None else _correction(row)


async def listed(connection: Connection, round_name: str | None, limit: int) -> list[Correction]:
    """Of a round, or of all: those first that wait for somebody, then the newest."""
    table, _, number = (round_name or "").rpartition(".")
    rows = await connection.fetch(
        _LISTED, table if round_name else None, int(number) if round_name else None, limit
    )
    return [_correction(row) for row in rows]


async def count_open(connection: Connection) -> int:
    """How many wait for somebody."""
    return int(await connection.fetchval(_OPEN))


def _correction(row: asyncpg.Record) -> Correction:
    return Correction(
        row["request_id"],
        row["asked_at"],
        row["table_id"],
        row["number"],
        row["proposer"],
        row["why"],
        row["state"],
        str(row["resettlement"] or ""),
        row["decided_by"] or "",
        row["decided_at"],
        json.loads(row["correction"]),
    )
