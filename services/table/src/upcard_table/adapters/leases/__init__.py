"""Leases of many tables, kept by one statement a round for all that an instance owns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar
from uuid import uuid4

from eventstore.coordination.leases import check_lease_terms
from eventstore.coordination.outages import PASSING, bounded_call
from eventstore.postgres import Connection, Pool
from upcard_table.app.ports import LogAway, Owner, PreviousOwner, Standing, TableLease

T = TypeVar("T")

_TABLE: Final = "table "
_INSTANCE: Final = "owner of tables "
_RELEASED: Final = " (released)"
_LONGEST_CALL_S: Final = 5.0

# As `eventstore.coordination.leases.acquire`, for many. What `old` says tells when the last holder was alive:
# it renewed at `expires_at - ttl`, or gave it back at `expires_at`.
_TAKE: Final = """
INSERT INTO eventstore.leases AS l (name, holder, claim, token, acquired_at, expires_at)
SELECT $2 || u.table_id, $3, $4, 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $5)
  FROM unnest($1::text[]) AS u (table_id) ORDER BY u.table_id
ON CONFLICT (name) DO UPDATE
   SET holder = excluded.holder, claim = excluded.claim, token = l.token + 1,
       acquired_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => $5)
 WHERE l.expires_at <= clock_timestamp()
RETURNING substr(new.name, length($2) + 1) AS table_id, new.token AS token, old.token AS old_token,
          (extract(epoch FROM CASE WHEN right(old.holder, length($6)) = $6 THEN old.expires_at
                                   ELSE greatest(old.acquired_at, old.expires_at - make_interval(secs => $5))
                              END) * 1000000)::bigint AS alive_until_us
"""

_KEEP: Final = """
WITH mine AS (
    INSERT INTO eventstore.leases AS l (name, holder, claim, token, acquired_at, expires_at)
    VALUES ($5 || $6, $6, $7, 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $4))
    ON CONFLICT (name) DO UPDATE
       SET expires_at = clock_timestamp() + make_interval(secs => $4), claim = $7, holder = $6
)
UPDATE eventstore.leases AS l SET expires_at = clock_timestamp() + make_interval(secs => $4)
  FROM unnest($1::text[], $2::bigint[], $3::uuid[]) AS u (name, token, claim)
 WHERE l.name = u.name AND l.token = u.token AND l.claim = u.claim
RETURNING l.name
"""

_GIVE_BACK: Final = """
UPDATE eventstore.leases AS l
   SET expires_at = clock_timestamp(), holder = left(l.holder, 180) || $4
  FROM unnest($1::text[], $2::bigint[], $3::uuid[]) AS u (name, token, claim)
 WHERE l.name = u.name AND l.token = u.token AND l.claim = u.claim
"""

_LEAVE: Final = "UPDATE eventstore.leases SET expires_at = clock_timestamp() WHERE name = $1 AND claim = $2"

_FREE: Final = """
SELECT t.table_id FROM tables.tables AS t
  LEFT JOIN eventstore.leases AS l ON l.name = $1 || t.table_id
 WHERE (t.opened OR EXISTS (SELECT FROM tables.unfinished_rounds AS u WHERE u.table_id = t.table_id))
   AND (l.name IS NULL OR l.expires_at <= clock_timestamp())
 ORDER BY l.expires_at NULLS FIRST LIMIT $2
"""

_OPEN: Final = "SELECT count(*) FROM tables.tables WHERE opened"

# Each live instance, those that own nothing included.
_OWNED: Final = """
SELECT i.holder, count(l.name)
  FROM eventstore.leases AS i
  LEFT JOIN eventstore.leases AS l
    ON l.holder = i.holder AND starts_with(l.name, $2) AND l.expires_at > clock_timestamp()
 WHERE starts_with(i.name, $1) AND i.expires_at > clock_timestamp()
 GROUP BY i.holder
"""

_OWNER: Final = """
SELECT EXISTS (SELECT FROM tables.tables WHERE table_id = $2),
       (SELECT holder FROM eventstore.leases WHERE name = $1 || $2 AND expires_at > clock_timestamp())
"""


class TableLeases:
    """The port `Leases`. `ttl_s`: after so long without a sign of life an owner is replaced."""

    def __init__(self, pool: Pool, *, instance: str, address: str, ttl_s: float) -> None:
        self.holder = f"{instance} {address}"
        self.ttl_s = ttl_s
        check_lease_terms(_INSTANCE + self.holder, self.holder + _RELEASED, ttl_s)
        self._pool = pool
        self._claim = uuid4()

    async def take(self, tables: Sequence[str]) -> Sequence[TableLease]:
        """See `Leases`. A claim is of one try: an answer that is lost costs the lease's time."""
        claim = uuid4()
        rows = await self._call(
            lambda connection: connection.fetch(
                _TAKE, list(tables), _TABLE, self.holder, claim, self.ttl_s, _RELEASED
            )
        )
        return [
            TableLease(
                row["table_id"],
                row["token"],
                claim,
                None if row["old_token"] is None else PreviousOwner(row["old_token"], row["alive_until_us"]),
            )
            for row in rows
        ]

    async def keep(self, held: Sequence[TableLease]) -> frozenset[str]:
        """See `Leases`."""
        rows = await self._call(
            lambda connection: connection.fetch(
                _KEEP, *_columns(held), self.ttl_s, _INSTANCE, self.holder, self._claim
            ),
            self.ttl_s / 3,  # an answer that comes later is of little use: ask again
        )
        return frozenset(row[0].removeprefix(_TABLE) for row in rows)

    async def give_back(self, held: Sequence[TableLease]) -> None:
        """See `Leases`."""
        await self._call(lambda connection: connection.execute(_GIVE_BACK, *_columns(held), _RELEASED))

    async def leave(self) -> None:
        """See `Leases`."""
        await self._call(lambda connection: connection.execute(_LEAVE, _INSTANCE + self.holder, self._claim))

    async def standing(self, limit: int) -> Standing:
        """See `Leases`."""

        async def read(connection: Connection) -> Standing:
            free = await connection.fetch(_FREE, _TABLE, limit)
            owned = await connection.fetch(_OWNED, _INSTANCE, _TABLE)
            count: int = await connection.fetchval(_OPEN)
            return Standing(count, tuple(row[0] for row in free), {row[0]: row[1] for row in owned})

        return await self._call(read)

    async def owner_of(self, table: str) -> Owner:
        """See `Leases`."""
        row = await self._call(lambda connection: connection.fetchrow(_OWNER, _TABLE, table))
        if row is None or row[1] is None:
            return Owner(row is not None and row[0], None)
        return Owner(known=True, address=row[1].rpartition(" ")[2])

    async def _call(self, work: Callable[[Connection], Awaitable[T]], timeout_s: float | None = None) -> T:
        async def run(connection: Connection) -> T:
            return await work(connection)

        try:
            return await bounded_call(self._pool, min(timeout_s or self.ttl_s, _LONGEST_CALL_S), run)
        except PASSING as error:
            raise LogAway(type(error).__name__) from error


def _columns(held: Sequence[TableLease]) -> tuple[list[str], list[int], list[object]]:
    return [_TABLE + one.table for one in held], [one.token for one in held], [one.claim for one in held]
