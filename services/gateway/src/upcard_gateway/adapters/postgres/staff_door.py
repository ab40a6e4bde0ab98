"""What lets staff's browsers in: each look is at the database, so nothing that changed there is missed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eventstore.coordination.outages import bounded_call
from eventstore.postgres import Connection
from upcard_gateway.adapters.postgres.staff_sessions import PostgresStaffSessions
from upcard_gateway.adapters.postgres.staff_tries import PostgresTries
from upcard_gateway.app.staff import Noted, StaffLog
from upcard_gateway.app.staff_sessions import Standing, State
from upcard_gateway.app.staff_signing_in import token_hash
from upcard_gateway.domain.staff import StaffEvent, StaffLocked, StaffSignedOut

__all__ = ["Idle", "PostgresDoor"]

_LOOK: Final = """
SELECT n.session, n.staff, n.enrolling, n.seen_at, n.ends_by, n.locked_at, s.roles, p.name
  FROM gateway.staff_sessions AS n JOIN gateway.staff AS s USING (staff)
  LEFT JOIN gateway.staff_people AS p USING (staff)
 WHERE n.token_hash = $1 AND n.ended_at IS NULL AND s.disabled_at IS NULL
"""
_SEEN: Final = """
UPDATE gateway.staff_sessions SET seen_at = greatest(seen_at, $2)
 WHERE session = $1 AND locked_at IS NULL AND ended_at IS NULL
"""
# A sign that came meanwhile keeps it from being locked.
_LOCK_IDLE: Final = """
WITH idle AS (
    SELECT n.session, n.staff, n.seen_at
      FROM gateway.staff_sessions AS n JOIN gateway.staff AS s USING (staff)
     WHERE n.ended_at IS NULL AND n.locked_at IS NULL AND NOT n.enrolling AND n.ends_by > $1::timestamptz
       AND ($2::text IS NULL OR n.session = $2)
       AND n.seen_at <= $1::timestamptz - make_interval(
               secs => CASE WHEN 'dealer' = ANY (s.roles) THEN $3::float8 ELSE $4::float8 END)
     ORDER BY n.session LIMIT 500 FOR UPDATE OF n SKIP LOCKED)
UPDATE gateway.staff_sessions AS n SET locked_at = $1::timestamptz
  FROM idle WHERE n.session = idle.session
RETURNING n.session, n.staff, extract(epoch FROM $1::timestamptz - idle.seen_at)::bigint AS idle_s
"""
_END_DUE: Final = """
WITH due AS (
    SELECT session FROM gateway.staff_sessions
     WHERE ended_at IS NULL AND ends_by <= $1 AND ($2::text IS NULL OR session = $2)
     ORDER BY session LIMIT 500 FOR UPDATE SKIP LOCKED)
UPDATE gateway.staff_sessions AS n SET ended_at = $1, end_reason = 'expired'
  FROM due WHERE n.session = due.session RETURNING n.session, n.staff
"""
_SEEN_EVERY: Final = dt.timedelta(seconds=5)
_WITHIN_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Idle:
    """After how many seconds without a sign sessions lock themselves."""

    dealer_s: int
    others_s: int

    def of(self, roles: Sequence[str]) -> dt.timedelta:
        """Of a member with these roles."""
        return dt.timedelta(seconds=self.dealer_s if "dealer" in roles else self.others_s)


class PostgresDoor:
    """`Door` on the tables."""

    def __init__(self, log: StaffLog, idle: Idle) -> None:
        self._log = log
        self._idle = idle

    async def standing(self, token: str, *, passive: bool) -> Standing | None:
        """See `Door`. Raises TimeoutError, or what asyncpg raises."""
        now = self._log.now()
        found: Any = None

        async def look(connection: Connection) -> None:
            nonlocal found
            found = await connection.fetchrow(_LOOK, token_hash(token))
            if found is None or found["ends_by"] <= now or found["locked_at"] is not None:
                return
            idle_for = now - found["seen_at"]
            if not passive and _SEEN_EVERY <= idle_for < self._idle.of(found["roles"]):
                await connection.execute(_SEEN, found["session"], now)

        await bounded_call(self._log.pool, _WITHIN_S, look)
        if found is None:
            return None
        if found["ends_by"] <= now:
            await self._sweep(found["session"])
            return None
        locked = found["locked_at"] is not None
        if not found["enrolling"] and not locked and now - found["seen_at"] >= self._idle.of(found["roles"]):
            await self._sweep(found["session"])
            locked = True
        state: State = "locked" if locked else "live"
        if found["enrolling"]:
            state = "enrolling"
        return Standing(
            found["session"], found["staff"], found["name"] or "", frozenset(found["roles"]), state
        )

    async def sweep(self) -> None:
        """Lock what is idle, end what is over, forget what is old. Raises what asyncpg raises."""
        await self._sweep(None)
        async with self._log.pool.acquire() as connection:
            await PostgresStaffSessions.prune(connection, self._log.now())
            await PostgresTries.prune(connection, self._log.now())

    async def _sweep(self, session: str | None) -> None:
        now = self._log.now()

        async def work(connection: Connection) -> tuple[None, Noted]:
            noted: list[tuple[str, StaffEvent]] = []
            rows = await connection.fetch(
                _LOCK_IDLE, now, session, float(self._idle.dealer_s), float(self._idle.others_s)
            )
            noted += [
                (row["staff"], StaffLocked(row["staff"], row["session"], row["idle_s"])) for row in rows
            ]
            rows = await connection.fetch(_END_DUE, now, session)
            noted += [(row["staff"], StaffSignedOut(row["staff"], row["session"], "expired")) for row in rows]
            return None, noted

        await self._log.commit("system", work)
