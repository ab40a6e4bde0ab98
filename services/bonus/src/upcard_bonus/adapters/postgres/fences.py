"""Fences of pools, and the settled rounds that wait for them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from eventstore.postgres import Connection
from upcard_bonus.app.ports import Waiting

_ADD: Final = """
INSERT INTO bonus.fences (jackpot, round, expires_at)
SELECT jackpot, $2, $3 FROM unnest($1::text[]) AS u (jackpot) ON CONFLICT DO NOTHING
"""

_OF_ROUND: Final = "SELECT jackpot, expires_at FROM bonus.fences WHERE round = $1"

_DROP: Final = """
DELETE FROM bonus.fences AS f USING unnest($1::text[], $2::text[]) AS u (jackpot, round)
 WHERE (f.jackpot, f.round) = (u.jackpot, u.round)
"""

_EXPIRED: Final = """
SELECT jackpot, round FROM bonus.fences WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT $1
"""

# A round waits once: the same settling again, after a rollback or by hand, changes nothing.
_QUEUE: Final = """
INSERT INTO bonus.waiting_rounds (jackpot, round, cause_event, correlation_id)
SELECT jackpot, round, cause_event, correlation_id
  FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[])
    WITH ORDINALITY AS u (jackpot, round, cause_event, correlation_id, place)
 ORDER BY place
ON CONFLICT DO NOTHING
"""

_FIRST: Final = """
SELECT place, round, cause_event, correlation_id
  FROM bonus.waiting_rounds WHERE jackpot = $1 ORDER BY place LIMIT $2
"""

_TAKE: Final = "DELETE FROM bonus.waiting_rounds WHERE jackpot = $1 AND place = ANY ($2::bigint[])"

_UNFENCED: Final = """
SELECT DISTINCT w.jackpot FROM bonus.waiting_rounds AS w
 WHERE NOT EXISTS (SELECT FROM bonus.fences AS f WHERE f.jackpot = w.jackpot) LIMIT $1
"""

_WAITING: Final = """
SELECT u.jackpot, (SELECT count(*) FROM (
           SELECT FROM bonus.waiting_rounds AS w WHERE w.jackpot = u.jackpot LIMIT $2) AS s) AS number
  FROM unnest($1::text[]) AS u (jackpot)
"""


class FenceTables:
    """A part of `app.ports.Jackpots`."""

    async def add_fences(
        self, connection: Connection, names: Collection[str], round_name: str, expires_at: dt.datetime
    ) -> None:
        """See `Jackpots`."""
        await connection.execute(_ADD, list(names), round_name, expires_at)

    async def fences_of(self, connection: Connection, round_name: str) -> Mapping[str, dt.datetime]:
        """See `Jackpots`."""
        return {row["jackpot"]: row["expires_at"] for row in await connection.fetch(_OF_ROUND, round_name)}

    async def drop_fences(self, connection: Connection, fences: Iterable[tuple[str, str]]) -> None:
        """See `Jackpots`."""
        rows = list(fences)
        if rows:
            await connection.execute(_DROP, *zip(*rows, strict=True))

    async def expired_fences(self, connection: Connection, most: int) -> Sequence[tuple[str, str]]:
        """See `Jackpots`."""
        return [(row["jackpot"], row["round"]) for row in await connection.fetch(_EXPIRED, most)]

    async def queue(self, connection: Connection, waiting: Iterable[tuple[str, Waiting]]) -> None:
        """See `Jackpots`."""
        rows = [(jackpot, *one) for jackpot, one in waiting]
        if rows:
            await connection.execute(_QUEUE, *zip(*rows, strict=True))

    async def take_waiting(
        self, connection: Connection, jackpot: str, most: int
    ) -> tuple[Sequence[Waiting], bool]:
        """See `Jackpots`."""
        rows = await connection.fetch(_FIRST, jackpot, most + 1)
        taken = rows[:most]
        if taken:
            await connection.execute(_TAKE, jackpot, [row["place"] for row in taken])
        waiting = [Waiting(row["round"], row["cause_event"], row["correlation_id"]) for row in taken]
        return waiting, len(rows) > most

    async def unfenced_waiting(self, connection: Connection, most: int) -> Sequence[str]:
        """See `Jackpots`."""
        return [row["jackpot"] for row in await connection.fetch(_UNFENCED, most)]

    async def waiting(self, connection: Connection, names: Collection[str], most: int) -> dict[str, int]:
        """See `Jackpots`."""
        rows = await connection.fetch(_WAITING, list(names), most)
        return {row["jackpot"]: row["number"] for row in rows}
