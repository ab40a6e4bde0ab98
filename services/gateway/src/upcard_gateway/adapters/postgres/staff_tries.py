"""Tries to sign in that failed, with waits that grow."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence
from typing import Final

from eventstore.postgres import Connection

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
_COUNT: Final = """
UPDATE gateway.staff_tries AS t
   SET failures = n.counted, tried_at = $3::timestamptz,
       wait_until = $3::timestamptz + make_interval(secs =>
           CASE WHEN n.counted < n.free THEN 0::float8
                ELSE least($4::float8, (2 ^ least(n.counted - n.free, $5::bigint))::float8) END)
  FROM (SELECT g.whose, g.free,
               CASE WHEN o.tried_at < $3::timestamptz - make_interval(secs => $6::float8) THEN 1
                    ELSE o.failures + 1 END AS counted
          FROM unnest($1::bytea[], $2::bigint[]) AS g (whose, free)
          JOIN gateway.staff_tries AS o ON o.whose = g.whose) AS n
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

    async def begin(self, connection: Connection, whose: Sequence[tuple[str, int]], at: dt.datetime) -> float:
        """See `Tries`."""
        digests = [_digest(name) for name, _ in whose]
        await connection.execute(_MAKE, sorted(digests), at)
        rows = await connection.fetch(_LOCK, digests)
        wait_s: float = max((row["wait_until"] - at).total_seconds() for row in rows)
        if wait_s > 0:
            return wait_s
        await connection.execute(
            _COUNT,
            digests,
            [free for _, free in whose],
            at,
            float(LONGEST_WAIT_S),
            _MOST_DOUBLINGS,
            float(KEPT_S),
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
