"""Which connection each player has, over all instances, and what became of their sessions meanwhile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eventstore.postgres import Pool

__all__ = ["Held", "PlayConnections", "Stands"]

_TAKE: Final = """
INSERT INTO gateway.play_connections (player, session, connection, instance) VALUES ($1, $2, $3, $4)
ON CONFLICT (player) DO UPDATE
   SET since = clock_timestamp(), session = excluded.session, connection = excluded.connection,
       instance = excluded.instance
"""
_RELEASE: Final = "DELETE FROM gateway.play_connections WHERE player = $1 AND connection = $2"
_LOOK: Final = """
SELECT asked.connection, coalesce(c.connection <> asked.connection, false) AS taken, s.end_reason,
       s.due_at <= $4 AS due, s.ends_by <= s.due_at AS longest
  FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (player, connection, session)
  LEFT JOIN gateway.play_connections c ON c.player = asked.player
  LEFT JOIN gateway.sessions s ON s.session = asked.session
 WHERE c.connection <> asked.connection OR s.session IS NULL OR s.ended_at IS NOT NULL OR s.due_at <= $4
"""
_SEEN: Final = """
WITH locked AS (
    SELECT player FROM gateway.players WHERE player = ANY ($1::text[]) ORDER BY player
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE gateway.sessions s
   SET seen_at = greatest(s.seen_at, $3),
       due_at = least(greatest(s.seen_at, $3) + s.idle_s * interval '1 second', s.ends_by)
  FROM locked
 WHERE s.player = locked.player AND s.session = ANY ($2::text[]) AND s.ended_at IS NULL
   AND s.redeemed_at IS NOT NULL AND s.due_at > $3
RETURNING s.session
"""
_PRUNE: Final = """
DELETE FROM gateway.play_connections WHERE player IN (
    SELECT c.player FROM gateway.play_connections c JOIN gateway.sessions s ON s.session = c.session
     WHERE s.ended_at < $1 LIMIT 1000
)
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A connection of this instance."""

    player: str
    connection: str
    session: str


@dataclass(frozen=True, slots=True)
class Stands:
    """A connection that has to end."""

    connection: str
    taken: bool
    """The player has a newer one."""
    ended: str | None
    """Why the session is over; None: it is not."""


class PlayConnections:
    """The rows of `gateway.play_connections`. Every method raises what asyncpg raises."""

    def __init__(self, pool: Pool, instance: str) -> None:
        self._pool = pool
        self._instance = instance[:200]

    async def take(self, held: Held) -> None:
        """This connection is the player's from now on; whichever was it before is not."""
        async with self._pool.acquire() as connection:
            await connection.execute(_TAKE, held.player, held.session, held.connection, self._instance)

    async def release(self, held: Held) -> None:
        """The connection is gone; a newer one of the player's stays."""
        async with self._pool.acquire() as connection:
            await connection.execute(_RELEASE, held.player, held.connection)

    async def look(self, held: Sequence[Held], now: dt.datetime) -> tuple[Stands, ...]:
        """Those of these that have to end."""
        if not held:
            return ()
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(
                _LOOK,
                [one.player for one in held],
                [one.connection for one in held],
                [one.session for one in held],
                now,
            )
        return tuple(Stands(row["connection"], row["taken"], _ended(row)) for row in rows)

    async def seen(self, players: Sequence[Held], now: dt.datetime) -> frozenset[str]:
        """There was a sign of these players: the sessions that know it. Others are just being changed."""
        if not players:
            return frozenset()
        async with self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(
                _SEEN, [one.player for one in players], [one.session for one in players], now
            )
        return frozenset(row["session"] for row in rows)

    async def prune(self, before: dt.datetime) -> None:
        """Forget connections of sessions that ended before a moment."""
        async with self._pool.acquire() as connection:
            await connection.execute(_PRUNE, before)


def _ended(row: object) -> str | None:
    found: dict[str, object] = dict(row)  # type: ignore[call-overload]  # asyncpg's record is a mapping
    if found["end_reason"] is not None:
        return str(found["end_reason"])
    if found["due"] is None:
        return "player_erased"
    if not found["due"]:
        return None
    return "expired" if found["longest"] else "idle"
