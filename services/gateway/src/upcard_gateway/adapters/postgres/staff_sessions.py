"""Sessions of staff in their table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, Literal

import asyncpg

from eventstore.postgres import Connection
from upcard_gateway.app.staff_sessions import NewSession, SessionLine
from upcard_gateway.domain.staff import EndReason

__all__ = ["PostgresStaffSessions"]

_BEGIN: Final = """
INSERT INTO gateway.staff_sessions
       (session, staff, token_hash, enrolling, begun_at, seen_at, ends_by, address, browser)
VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8)
"""
_OPEN: Final = """
SELECT session FROM gateway.staff_sessions WHERE staff = $1 AND ended_at IS NULL ORDER BY begun_at, session
"""
_END: Final = """
WITH ending AS (
    SELECT session FROM gateway.staff_sessions
     WHERE session = ANY ($1::text[]) AND ended_at IS NULL ORDER BY session FOR UPDATE)
UPDATE gateway.staff_sessions AS s SET ended_at = $2, end_reason = $3
  FROM ending WHERE s.session = ending.session RETURNING s.session
"""
_UNLOCK: Final = """
UPDATE gateway.staff_sessions SET locked_at = NULL, seen_at = $2
 WHERE session = $1 AND locked_at IS NOT NULL AND ended_at IS NULL AND ends_by > $2
"""
_LOCK: Final = """
UPDATE gateway.staff_sessions SET locked_at = $2
 WHERE session = $1 AND locked_at IS NULL AND ended_at IS NULL AND NOT enrolling
"""
_LINES: Final = """
SELECT session, begun_at, seen_at, ended_at, end_reason, locked_at, enrolling, address, browser
  FROM gateway.staff_sessions WHERE staff = $1
 ORDER BY (ended_at IS NULL) DESC, begun_at DESC, session LIMIT $2
"""
_WAS_AT: Final = """
SELECT EXISTS (
    SELECT FROM gateway.staff_people AS p JOIN gateway.staff_sessions AS n USING (staff)
     WHERE p.sign_in_name = $1 AND n.address = $2 AND n.address <> '' AND NOT n.enrolling)
"""
_PRUNE: Final = """
DELETE FROM gateway.staff_sessions WHERE session IN (
    SELECT session FROM gateway.staff_sessions WHERE ended_at < $1 ORDER BY ended_at LIMIT 1000
    FOR UPDATE SKIP LOCKED)
"""
KEPT: Final = dt.timedelta(days=30)
"""For how long an ended session is listed."""


class PostgresStaffSessions:
    """`SessionTables` on the table."""

    async def begin(self, connection: Connection, session: NewSession) -> None:
        """See `SessionTables`."""
        await connection.execute(
            _BEGIN,
            session.session,
            session.staff,
            session.token_hash,
            session.enrolling,
            session.begun_at,
            session.ends_by,
            session.address,
            session.browser,
        )

    async def open_of(self, connection: Connection, staff: str) -> Sequence[str]:
        """See `SessionTables`."""
        return [row["session"] for row in await connection.fetch(_OPEN, staff)]

    async def end(
        self, connection: Connection, sessions: Sequence[str], at: dt.datetime, reason: EndReason
    ) -> Sequence[str]:
        """See `SessionTables`."""
        if not sessions:
            return []
        rows = await connection.fetch(_END, list(sessions), at, reason)
        return sorted(row["session"] for row in rows)

    async def unlock(self, connection: Connection, session: str, at: dt.datetime) -> bool:
        """See `SessionTables`."""
        return await connection.execute(_UNLOCK, session, at) == "UPDATE 1"

    async def lock(self, connection: Connection, session: str, at: dt.datetime) -> bool:
        """See `SessionTables`."""
        return await connection.execute(_LOCK, session, at) == "UPDATE 1"

    async def was_at(self, connection: Connection, sign_in_name: str, address: str) -> bool:
        """See `SessionTables`."""
        return bool(await connection.fetchval(_WAS_AT, sign_in_name, address))

    async def lines(self, connection: Connection, staff: str, limit: int) -> Sequence[SessionLine]:
        """See `SessionTables`."""
        return [
            SessionLine(
                row["session"],
                _state(row),
                row["begun_at"],
                row["seen_at"],
                row["ended_at"],
                row["end_reason"],
                row["address"],
                row["browser"],
            )
            for row in await connection.fetch(_LINES, staff, limit)
        ]

    @staticmethod
    async def prune(connection: Connection, now: dt.datetime) -> None:
        """Forget some sessions that ended long ago."""
        await connection.execute(_PRUNE, now - KEPT)


def _state(row: asyncpg.Record) -> Literal["live", "locked", "enrolling", "ended"]:
    if row["ended_at"] is not None:
        return "ended"
    if row["enrolling"]:
        return "enrolling"
    return "live" if row["locked_at"] is None else "locked"
