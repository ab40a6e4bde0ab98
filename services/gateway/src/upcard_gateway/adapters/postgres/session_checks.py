"""Where the words of sessions' limits are kept."""

from __future__ import annotations

import datetime as dt
from typing import Final

from eventstore.postgres import Pool
from upcard_gateway.app.game_orders import Verdict

__all__ = ["PostgresChecks"]

PRUNED_AT_ONCE: Final = 5_000

_KNOWN: Final = "SELECT reason, maximum FROM gateway.session_checks WHERE session = $1 AND request_id = $2"
_KEEP: Final = """
INSERT INTO gateway.session_checks (session, request_id, reason, maximum) VALUES ($1, $2, $3, $4)
ON CONFLICT (session, request_id) DO NOTHING
"""
_PRUNE: Final = """
WITH old AS (
    SELECT session, request_id FROM gateway.session_checks WHERE checked_at < $1 ORDER BY checked_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM gateway.session_checks AS c USING old
 WHERE c.session = old.session AND c.request_id = old.request_id
"""


class PostgresChecks:
    """See `SessionChecks`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def known(self, session: str, request_id: str) -> Verdict | None:
        """See `SessionChecks`."""
        async with self._pool.acquire() as connection:
            row = await connection.fetchrow(_KNOWN, session, request_id)
        return None if row is None else Verdict(row["reason"], row["maximum"])

    async def keep(self, session: str, request_id: str, verdict: Verdict) -> Verdict:
        """See `SessionChecks`."""
        async with self._pool.acquire() as connection:
            await connection.execute(_KEEP, session, request_id, verdict.reason, verdict.maximum)
            row = await connection.fetchrow(_KNOWN, session, request_id)
        return verdict if row is None else Verdict(row["reason"], row["maximum"])

    async def prune(self, before: dt.datetime) -> int:
        """Remove words that are older, a bounded number: how many."""
        async with self._pool.acquire() as connection:
            status: str = await connection.execute(_PRUNE, before, PRUNED_AT_ONCE)
        return int(status.rpartition(" ")[2])
