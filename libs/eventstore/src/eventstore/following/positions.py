"""The table of positions: one row a follower, source and shard, locked by whoever applies."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.checking import check_shard
from eventstore.following.pages import OWN, Position
from eventstore.following.planning import Known, Planned
from eventstore.postgres.connections import Connection

# `failed` holds for all shards of a follower, and comes before `forked` in the alphabet too.
_COLUMNS: Final = """
    p.shard, p.position, p.hash, p.recent, p.epoch, p.parked, p.updated_at,
    (SELECT min(s.kind) FROM eventstore.stopped_followers AS s
      WHERE s.follower = p.follower AND s.source = p.source AND (s.shard = p.shard OR s.kind = 'failed'))
        AS stopped
"""
_READ: Final = f"""
SELECT {_COLUMNS} FROM eventstore.positions AS p
 WHERE p.follower = $1 AND p.source = $2 AND p.shard = ANY ($3::smallint[])
 ORDER BY p.shard
"""  # noqa: S608 - nothing but constants is put in
_LOCK: Final = _READ + " FOR NO KEY UPDATE OF p"
_MAKE: Final = """
INSERT INTO eventstore.positions (follower, source, shard)
SELECT $1, $2, u.shard FROM unnest($3::smallint[]) AS u (shard)
    ON CONFLICT DO NOTHING
"""
_MOVE: Final = """
UPDATE eventstore.positions AS p
   SET position = u.position, hash = u.hash, recent = u.recent, epoch = u.epoch,
       updated_at = clock_timestamp()
  FROM unnest($3::smallint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::integer[])
       AS u (shard, position, hash, recent, epoch)
 WHERE p.follower = $1 AND p.source = $2 AND p.shard = u.shard
"""
_COUNT_PARKED: Final = """
UPDATE eventstore.positions AS p
   SET parked = (SELECT count(*) FROM eventstore.parked_streams AS s
                  WHERE s.follower = $1 AND s.source = $2 AND s.shard = $3)
 WHERE p.follower = $1 AND p.source = $2 AND p.shard = $3
"""
_EPOCH: Final = """
UPDATE eventstore.positions SET epoch = $5
 WHERE follower = $1 AND source = $2 AND shard = $3 AND position = $4
"""
_ALL: Final = """
SELECT p.follower, p.source, p.shard, p.position, p.hash, p.epoch, p.parked, p.updated_at,
       (SELECT min(s.kind) FROM eventstore.stopped_followers AS s
         WHERE s.follower = p.follower AND s.source = p.source AND (s.shard = p.shard OR s.kind = 'failed'))
           AS stopped,
       h.position AS head
  FROM eventstore.positions AS p
  LEFT JOIN eventstore.shard_heads AS h ON h.shard = p.shard AND p.source = $2
 WHERE $1::text IS NULL OR p.follower = $1
 ORDER BY p.follower, p.source, p.shard
"""
_FORGET_PARKED: Final = """
WITH again AS (
    SELECT s.stream FROM eventstore.parked_streams AS s
     WHERE s.follower = $1 AND s.source = $2 AND s.shard = $3
       AND NOT EXISTS (SELECT FROM eventstore.parked_events AS e
                        WHERE e.follower = $1 AND e.source = $2 AND e.stream = s.stream
                          AND e.shard_position <= $4)
), emptied AS (
    DELETE FROM eventstore.parked_events AS e USING again
     WHERE e.follower = $1 AND e.source = $2 AND e.stream = again.stream
)
DELETE FROM eventstore.parked_streams AS s USING again
 WHERE s.follower = $1 AND s.source = $2 AND s.stream = again.stream
"""


@dataclass(frozen=True, slots=True)
class FollowerPosition:
    """A follower's position in one shard. `head` is the shard's end, for this database's own log."""

    follower: str
    source: str
    position: Position
    head: int | None

    @property
    def lag(self) -> int | None:
        """Events that are still to come; None where the source is another service's log."""
        return None if self.head is None else self.head - self.position.position


async def make_positions(connection: Connection, follower: str, source: str, shards: Collection[int]) -> None:
    """Make the rows that are missing, at position 0."""
    await connection.execute(_MAKE, follower, source, sorted(shards))


async def read_positions(
    connection: Connection, follower: str, source: str, shards: Collection[int]
) -> dict[int, Position]:
    """Where a follower stands in these shards; those without a row are left out."""
    rows = await connection.fetch(_READ, follower, source, sorted(shards))
    return {row["shard"]: _position(row) for row in rows}


async def lock_positions(
    connection: Connection, follower: str, source: str, shards: Collection[int]
) -> dict[int, Known]:
    """Lock the rows of these shards up to the end of the transaction, ascending; makes missing ones."""
    wanted = sorted(shards)
    rows = await connection.fetch(_LOCK, follower, source, wanted)
    if len(rows) < len(wanted):
        await make_positions(connection, follower, source, wanted)
        rows = await connection.fetch(_LOCK, follower, source, wanted)
    return {
        row["shard"]: Known(
            row["shard"],
            row["position"],
            row["hash"],
            row["recent"],
            row["epoch"],
            row["parked"],
            row["stopped"],
        )
        for row in rows
    }


async def move_positions(
    connection: Connection, follower: str, source: str, moves: Sequence[Planned]
) -> None:
    """Write where locked rows stand from now on."""
    await connection.execute(
        _MOVE,
        follower,
        source,
        [move.shard for move in moves],
        [move.through for move in moves],
        [move.hash for move in moves],
        [move.recent for move in moves],
        [move.epoch for move in moves],
    )


async def count_parked(connection: Connection, follower: str, source: str, shard: int) -> None:
    """Write anew how many streams of a shard are parked, after that has changed, under the row's lock."""
    await connection.execute(_COUNT_PARKED, follower, source, shard)


async def accept_epoch(
    connection: Connection, follower: str, source: str, position: Position, epoch: int
) -> bool:
    """Note the epoch in which a position was checked; False when the follower has moved on since."""
    done: str = await connection.execute(_EPOCH, follower, source, position.shard, position.position, epoch)
    return done == "UPDATE 1"


async def all_positions(connection: Connection, follower: str | None = None) -> tuple[FollowerPosition, ...]:
    """The positions of all followers, or of one, in all shards."""
    rows = await connection.fetch(_ALL, follower, OWN)
    return tuple(
        FollowerPosition(row["follower"], row["source"], _position(row), row["head"]) for row in rows
    )


async def reset_position(
    connection: Connection, follower: str, source: str, shard: int, position: int
) -> int:
    """Set a follower's position in a shard by hand, in a transaction; returns the old one.

    Back: events have their effect again, so the handler must bear it. Forward: events are left out. Whatever
    stopped the shard stays noted (`resume`); parked streams whose kept events come again are forgotten.
    Raises LookupError when this follower has no such position.
    """
    check_shard(shard)
    if position < 0:
        raise ValueError(f"a position is 0 or more, not {position}")
    async with connection.transaction():
        rows = await connection.fetch(_LOCK, follower, source, [shard])
        if not rows:
            raise LookupError(f"{follower} of {source} has no position in shard {shard}")
        await connection.execute(_FORGET_PARKED, follower, source, shard, position)
        await count_parked(connection, follower, source, shard)
        await connection.execute(
            _MOVE, follower, source, [shard], [position], [None], [b""], [rows[0]["epoch"]]
        )
    before: int = rows[0]["position"]
    return before


def _position(row: asyncpg.Record) -> Position:
    return Position(
        row["shard"],
        row["position"],
        row["hash"],
        row["epoch"],
        row["parked"],
        row["stopped"],
        row["updated_at"],
    )
