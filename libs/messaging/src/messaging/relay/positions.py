"""The relay's positions: one a shard, moved only by who holds the lease, and only from where they were."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eventstore import SHARDS
from eventstore.coordination import LeaseLost
from eventstore.postgres import Connection

# Rows are locked in the order of their shards, here and below: nobody waits in a circle.
_CLAIM: Final = """
WITH missing AS (
    INSERT INTO messaging.relay_positions (topic, shard, token)
    SELECT $1, generate_series(0, 63), $2 ON CONFLICT DO NOTHING
    RETURNING shard, position
), held AS (
    SELECT shard FROM messaging.relay_positions WHERE topic = $1 AND token <= $2
     ORDER BY shard FOR NO KEY UPDATE
), claimed AS (
    UPDATE messaging.relay_positions AS p SET token = $2
      FROM held WHERE p.topic = $1 AND p.shard = held.shard AND p.token <= $2
    RETURNING p.shard, p.position
)
SELECT shard, position FROM missing UNION ALL SELECT shard, position FROM claimed
"""

_STORE: Final = """
WITH moves AS (
    SELECT * FROM unnest($3::smallint[], $4::bigint[], $5::bigint[]) AS u (shard, before, through)
), held AS (
    SELECT p.shard, m.before, m.through FROM messaging.relay_positions AS p JOIN moves AS m USING (shard)
     WHERE p.topic = $1 ORDER BY p.shard FOR NO KEY UPDATE OF p
)
UPDATE messaging.relay_positions AS p SET position = held.through, updated_at = clock_timestamp()
  FROM held
 WHERE p.topic = $1 AND p.token = $2 AND p.shard = held.shard AND p.position = held.before
RETURNING p.shard
"""

_LOOK: Final = """
SELECT shard, position, token, (SELECT max(epoch) FROM eventstore.epochs) AS epoch
  FROM messaging.relay_positions WHERE topic = $1
"""

_STATUS: Final = """
SELECT h.shard, coalesce(p.position, 0), h.position, p.updated_at
  FROM eventstore.shard_heads AS h
  LEFT JOIN messaging.relay_positions AS p ON p.topic = $1 AND p.shard = h.shard
 ORDER BY h.shard
"""

_REPUBLISH: Final = """
WITH held AS (
    SELECT shard, position FROM messaging.relay_positions
     WHERE topic = $1 AND shard = ANY ($2::smallint[]) ORDER BY shard FOR NO KEY UPDATE
), moved AS (
    UPDATE messaging.relay_positions AS p SET position = $3 - 1, updated_at = clock_timestamp()
      FROM held WHERE p.topic = $1 AND p.shard = held.shard AND held.position >= $3
    RETURNING p.shard, held.position AS position_before
)
INSERT INTO messaging.republications (topic, shard, from_position, position_before, asked_by, reason)
SELECT $1, shard, $3, position_before, $4, $5 FROM moved
RETURNING shard, from_position, position_before
"""


class NothingToRepublish(Exception):
    """None of these shards has been published as far as that: what was not yet published will be anyway."""


@dataclass(frozen=True, slots=True)
class Found:
    """Positions as the database has them now, and the log's epoch."""

    positions: Mapping[int, int]
    epoch: int


@dataclass(frozen=True, slots=True)
class RelayPosition:
    """How far one shard is published. `moved_at` is None where it has never been."""

    shard: int
    position: int
    head: int
    moved_at: dt.datetime | None

    @property
    def lag(self) -> int:
        """Events that are still to be published."""
        return self.head - self.position


@dataclass(frozen=True, slots=True)
class Republication:
    """A shard that is published again, from a position; it had been published up to `position_before`."""

    shard: int
    from_position: int
    position_before: int


async def claim_positions(connection: Connection, topic: str, token: int) -> Found:
    """Take all positions of a topic over under a lease's token; earlier holders cannot move them any more.

    Raises LeaseLost when a later holder has them already.
    """
    rows = await connection.fetch(_CLAIM, topic, token)
    if len(rows) < SHARDS:
        raise LeaseLost(f"relay of {topic}: a later relay has taken the positions over")
    return await look_at_positions(connection, topic, token)


async def store_positions(
    connection: Connection, topic: str, token: int, moves: Sequence[tuple[int, int, int]]
) -> frozenset[int]:
    """Move positions, each (shard, from, to) only if it is still ours and still there; the shards moved."""
    rows = await connection.fetch(_STORE, topic, token, *([move[n] for move in moves] for n in range(3)))
    return frozenset(row[0] for row in rows)


async def look_at_positions(connection: Connection, topic: str, token: int) -> Found:
    """The positions as they are now. Raises LeaseLost when they are someone else's."""
    rows = await connection.fetch(_LOOK, topic)
    if len(rows) < SHARDS or any(row["token"] != token for row in rows):
        raise LeaseLost(f"relay of {topic}: a later relay has taken the positions over")
    return Found({row["shard"]: row["position"] for row in rows}, rows[0]["epoch"])


async def relay_positions(connection: Connection, topic: str) -> tuple[RelayPosition, ...]:
    """How far each of the 64 shards is published, beside its head: the lag is a metric."""
    return tuple(RelayPosition(*row) for row in await connection.fetch(_STATUS, topic))


async def republish(
    connection: Connection,
    topic: str,
    shards: Sequence[int],
    *,
    from_position: int,
    asked_by: str,
    reason: str,
) -> tuple[Republication, ...]:
    """Have the events of these shards published again, from a position to the end.

    The active relay notices within its `poll_interval_s`, and goes on from there; when none is active, the
    next one does. Shards that are not published that far are left as they are. Noted with who and why.
    Consumers pass over what they know. Raises NothingToRepublish, ValueError.
    """
    if not shards or not all(0 <= shard < SHARDS for shard in shards):
        raise ValueError(f"a shard is 0 to {SHARDS - 1}")
    if from_position < 1:
        raise ValueError(f"a position of an event is 1 or more, not {from_position}")
    if not 0 < len(asked_by) <= 200 or not 0 < len(reason) <= 1_000:
        raise ValueError("who asks is 1 to 200 characters, why is 1 to 1,000")
    rows = await connection.fetch(_REPUBLISH, topic, sorted(set(shards)), from_position, asked_by, reason)
    if not rows:
        raise NothingToRepublish(
            f"topic {topic}: none of the shards {sorted(set(shards))} is published up to {from_position}"
        )
    return tuple(sorted((Republication(*row) for row in rows), key=lambda one: one.shard))
