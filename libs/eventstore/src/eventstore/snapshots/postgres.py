"""Snapshots in the service's database, beside its log."""

from typing import Final

from eventstore.postgres.connections import Pool
from eventstore.snapshots.model import Snapshot

_SAVE: Final = """
INSERT INTO eventstore.snapshots AS s (stream, kind, version, position, hash, state)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (stream, kind, version) DO UPDATE
   SET position = excluded.position, hash = excluded.hash, state = excluded.state,
       saved_at = excluded.saved_at
 WHERE s.position <= excluded.position
"""

_LOAD: Final = """
SELECT stream, kind, version, position, hash, state FROM eventstore.snapshots
 WHERE stream = $1 AND kind = $2 AND version = $3
"""

_DISCARD: Final = """
DELETE FROM eventstore.snapshots
 WHERE stream = $1 AND kind = $2 AND version = $3 AND position = $4 AND hash = $5
"""

_DISCARD_OLD: Final = """
DELETE FROM eventstore.snapshots AS s USING (
    SELECT stream, kind, version FROM eventstore.snapshots
     WHERE kind = $1 AND version < $2 LIMIT $3 FOR UPDATE SKIP LOCKED
) AS old
 WHERE s.stream = old.stream AND s.kind = old.kind AND s.version = old.version
"""


class PostgresSnapshots:
    """`Snapshots` over a pool (`open_pool`)."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def save(self, snapshot: Snapshot) -> None:
        """See `Snapshots`."""
        async with self._pool.acquire() as connection:
            await connection.execute(
                _SAVE,
                snapshot.stream,
                snapshot.kind,
                snapshot.version,
                snapshot.position,
                snapshot.hash,
                snapshot.state,
            )

    async def load(self, stream: str, kind: str, version: int) -> Snapshot | None:
        """See `Snapshots`."""
        async with self._pool.acquire() as connection:
            row = await connection.fetchrow(_LOAD, stream, kind, version)
        return None if row is None else Snapshot(*row)

    async def discard(self, snapshot: Snapshot) -> None:
        """See `Snapshots`."""
        async with self._pool.acquire() as connection:
            await connection.execute(
                _DISCARD,
                snapshot.stream,
                snapshot.kind,
                snapshot.version,
                snapshot.position,
                snapshot.hash,
            )

    async def discard_older_versions(self, kind: str, version: int, *, at_most: int = 1_000) -> int:
        """Forget states of this kind in versions before this one; how many have gone.

        For when no instance of an older release is left. Again, until it says 0.
        """
        async with self._pool.acquire() as connection:
            status = await connection.execute(_DISCARD_OLD, kind, version, at_most)
        return int(status.removeprefix("DELETE "))
