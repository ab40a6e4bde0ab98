"""Tries to sign in that failed, with waits that grow."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence
from typing import Final

from eventstore.postgres import Connection
from upcard_gateway.app.staff_proofs import Tried

__all__ = ["PostgresTries"]

LONGEST_WAIT_S: Final = 900
KEPT_S: Final = 86_400
"""A name without a try for so long begins anew."""
_MOST_DOUBLINGS: Final = 10

_MAKE: Final = """
INSERT INTO gateway.staff_tries AS t (whose, failures, tried_at, wait_until)
SELECT unnest($1::bytea[]), 0, $2, $2 ON CONFLICT (whose) DO NOTHING
"""
# In one order, so that no two tries wait for each other.
_LOCK: Final = """
SELECT whose, wait_until FROM gateway.staff_tries WHERE whose = ANY ($1::bytea[]) ORDER BY whose FOR UPDATE
"""
# The try counts as failed from now on: the wait is there before it is known whether it did.
# Where failures are forgotten one by one, tried_at is when the next one's time began: else a place where
# people sign in all day would forget none.
_COUNT: Final = """
UPDATE gateway.staff_tries AS t
   SET failures = n.counted, tried_at = n.counted_at,
       wait_until = $3::timestamptz + make_interval(secs =>
           CASE WHEN n.counted < n.free THEN 0::float8
                ELSE least($4::float8, (2 ^ least(n.counted - n.free, $5::bigint))::float8) END)
  FROM (SELECT g.whose, g.free,
               CASE WHEN old.is_over THEN 1 ELSE o.failures - old.forgotten + 1 END AS counted,
               CASE WHEN old.is_over OR g.forgets_s IS NULL THEN $3::timestamptz
                    ELSE o.tried_at + make_interval(secs => old.forgotten * g.forgets_s)
               END AS counted_at
          FROM unnest($1::bytea[], $2::bigint[], $7::float8[]) AS g (whose, free, forgets_s)
          JOIN gateway.staff_tries AS o ON o.whose = g.whose
         CROSS JOIN LATERAL (
               SELECT coalesce(floor(greatest(0::float8,
                          extract(epoch FROM $3::timestamptz - o.tried_at)::float8) / g.forgets_s), 0)::bigint
                          AS forgotten) AS past
         CROSS JOIN LATERAL (
               SELECT past.forgotten,
                      o.failures <= past.forgotten
                      OR o.tried_at < $3::timestamptz - make_interval(secs => $6::float8) AS is_over) AS old
       ) AS n
 WHERE t.whose = n.whose
"""
_FORGET: Final = "DELETE FROM gateway.staff_tries WHERE whose = ANY ($1::bytea[])"
_TAKE_BACK: Final = """
UPDATE gateway.staff_tries SET failures = greatest(failures - 1, 0), wait_until = tried_at
 WHERE whose = ANY ($1::bytea[])
"""
_PRUNE: Final = """
DELETE FROM gateway.staff_tries WHERE whose IN (
    SELECT whose FROM gateway.staff_tries WHERE tried_at < $1 ORDER BY tried_at LIMIT 5000
    FOR UPDATE SKIP LOCKED)
"""


class PostgresTries:
    """`Tries` on the table. No row says whose it is: a digest of that is its key."""

    async def begin(self, connection: Connection, whose: Sequence[Tried], at: dt.datetime) -> float:
        """See `Tries`."""
        digests = [_digest(one.whose) for one in whose]
        await connection.execute(_MAKE, sorted(digests), at)
        rows = await connection.fetch(_LOCK, digests)
        wait_s: float = max((row["wait_until"] - at).total_seconds() for row in rows)
        if wait_s > 0:
            return wait_s
        await connection.execute(
            _COUNT,
            digests,
            [one.free for one in whose],
            at,
            float(LONGEST_WAIT_S),
            _MOST_DOUBLINGS,
            float(KEPT_S),
            [one.forgets_s for one in whose],
        )
        return 0.0

    async def forget(self, connection: Connection, whose: Sequence[str], take_back: Sequence[str]) -> None:
        """See `Tries`."""
        await connection.execute(_FORGET, [_digest(one) for one in whose])
        await connection.execute(_TAKE_BACK, [_digest(one) for one in take_back])

    @staticmethod
    async def prune(connection: Connection, now: dt.datetime) -> None:
        """Forget some of those that nobody has come to for a day."""
        await connection.execute(_PRUNE, now - dt.timedelta(seconds=KEPT_S))


def _digest(name: str) -> bytes:
    return hashlib.sha256(b"upcard staff tries\0" + name.encode("utf-8", "replace")).digest()
