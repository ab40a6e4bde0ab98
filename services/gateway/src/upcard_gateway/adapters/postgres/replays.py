"""Signed calls that came already, shared by all instances."""

from __future__ import annotations

import datetime as dt
from typing import Final

from eventstore.coordination.outages import bounded_call
from eventstore.postgres import Connection, Pool

_NOTE: Final = """
INSERT INTO gateway.signed_calls (digest, good_until) VALUES ($1, $2) ON CONFLICT DO NOTHING
"""
_PRUNE: Final = """
DELETE FROM gateway.signed_calls WHERE digest IN (
    SELECT digest FROM gateway.signed_calls WHERE good_until < $1 ORDER BY good_until LIMIT $2
)
"""
_NOTE_WITHIN_S: Final = 5.0
_PRUNED_AT_ONCE: Final = 5_000


class SignedCalls:
    """The table of signed calls that came already."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def first(self, digest: bytes, good_until: dt.datetime) -> bool:
        """Note that this came; False: it had come before.

        Raises TimeoutError, or what asyncpg raises: then it is not known, and the call is not let in.
        """

        async def work(connection: Connection) -> str:
            return await connection.execute(_NOTE, digest, good_until)

        return await bounded_call(self._pool, _NOTE_WITHIN_S, work) == "INSERT 0 1"

    async def prune(self, now: dt.datetime) -> int:
        """Forget some of what cannot come again, and how many that were; 0: there is no more."""
        async with self._pool.acquire() as connection:
            status = await connection.execute(_PRUNE, now, _PRUNED_AT_ONCE)
        return int(status.rpartition(" ")[2])
