"""The chainer: takes a log's events into the tree, and commits a checkpoint with them.

One transaction a step, under the lock of the tree's row: events since the last one, the order in which they
were taken, what they add to the tiles, the tree's new edge, the checkpoint. Signing comes afterwards, of what
is committed. So any number of chainers may run, and any of them die anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from rules_core.merkle import HASH_BYTES, Frontier, leaf_hash
from transparency.tiles import Tile, TreeDamaged, additions

STEP_EVENTS: Final = 10_000
"""Most events of one step."""

_TREE: Final = "SELECT size, frontier FROM transparency.tree FOR UPDATE"

_BEHIND: Final = """
SELECT h.shard, p.position AS after, h.position AS head
  FROM eventstore.shard_heads AS h JOIN transparency.shard_positions AS p USING (shard)
 WHERE h.position > p.position ORDER BY h.shard
"""

_EVENTS: Final = """
WITH asked AS MATERIALIZED (
    SELECT u.turn, u.shard, u.after, u.through,
           coalesce((SELECT max(s.period) FROM eventstore.shard_periods AS s
                      WHERE s.shard = u.shard AND s.first_position <= u.after + 1), 0) AS period
      FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
           AS u (shard, after, through, turn)
)
SELECT a.shard, e.shard_position, e.hash FROM asked AS a CROSS JOIN LATERAL (
    SELECT f.shard_position, f.hash FROM eventstore.events AS f
     WHERE f.shard = a.shard AND f.shard_position > a.after AND f.shard_position <= a.through
       AND f.period >= a.period
     OFFSET 0
) AS e
 ORDER BY a.turn, e.shard_position
"""

_ADD_RUNS: Final = """
INSERT INTO transparency.runs (first_index, shard, first_position, events)
SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[])
"""

_ADD_TO_TILES: Final = """
INSERT INTO transparency.tiles AS t (level, index, hashes)
SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])
    ON CONFLICT (level, index) DO UPDATE SET hashes = t.hashes || excluded.hashes
"""

_MOVE: Final = """
UPDATE transparency.shard_positions AS p SET position = u.through
  FROM unnest($1::smallint[], $2::bigint[]) AS u (shard, through) WHERE p.shard = u.shard
"""

_SET_TREE: Final = "UPDATE transparency.tree SET size = $1, frontier = $2"
_ADD_CHECKPOINT: Final = "INSERT INTO transparency.checkpoints (size, root) VALUES ($1, $2)"


class LogDamaged(Exception):
    """The log has no event where one must be, so that nothing more is taken into the tree."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did."""

    events: int
    """How many came into the tree; 0: it has all of them."""
    size: int
    """Its leaves afterwards."""
    behind: int
    """Events of the log that it does not have yet."""


@dataclass(frozen=True, slots=True)
class _Part:
    shard: int
    after: int
    through: int


async def take_in(connection: Connection, *, most: int = STEP_EVENTS) -> Step:
    """Take at most so many events into the tree and commit a checkpoint of it; a transaction of its own.

    Raises LogDamaged, TreeDamaged, and what asyncpg raises: then nothing was taken in.
    """
    async with connection.transaction():
        row = await connection.fetchrow(_TREE)
        if row is None:
            raise TreeDamaged("the tree's own row is gone")
        tree = Frontier(row["size"], _hashes(row["frontier"]))
        behind = await connection.fetch(_BEHIND)
        waiting = sum(one["head"] - one["after"] for one in behind)
        parts = _parts(behind, most)
        if not parts:
            return Step(0, tree.size, 0)
        leaves = await _leaves(connection, parts)
        grown, made = tree.grown(leaf_hash(one) for one in leaves)
        await _write(connection, tree, grown, parts, additions(made))
        return Step(len(leaves), grown.size, waiting - len(leaves))


def _hashes(raw: bytes) -> tuple[bytes, ...]:
    return tuple(raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES))


def _parts(behind: Sequence[asyncpg.Record], most: int) -> list[_Part]:
    """An equal share for each shard that is behind, so that none waits for another's backlog."""
    found: list[_Part] = []
    left = most
    for turn, one in enumerate(sorted(behind, key=lambda row: row["head"] - row["after"])):
        share = min(one["head"] - one["after"], left // (len(behind) - turn))
        if share:
            found.append(_Part(one["shard"], one["after"], one["after"] + share))
            left -= share
    return sorted(found, key=lambda part: part.shard)


async def _leaves(connection: Connection, parts: Sequence[_Part]) -> list[bytes]:
    rows = await connection.fetch(
        _EVENTS,
        [part.shard for part in parts],
        [part.after for part in parts],
        [part.through for part in parts],
    )
    found = iter(rows)
    for part in parts:
        for position in range(part.after + 1, part.through + 1):
            row = next(found, None)
            if row is None or (row["shard"], row["shard_position"]) != (part.shard, position):
                raise LogDamaged(f"shard {part.shard} has no event at {position}")
    return [row["hash"] for row in rows]


async def _write(
    connection: Connection,
    tree: Frontier,
    grown: Frontier,
    parts: Sequence[_Part],
    added: dict[Tile, bytes],
) -> None:
    first = tree.size
    indices = []
    for part in parts:
        indices.append(first)
        first += part.through - part.after
    shards = [part.shard for part in parts]
    await connection.execute(
        _ADD_RUNS,
        indices,
        shards,
        [part.after + 1 for part in parts],
        [part.through - part.after for part in parts],
    )
    tiles = list(added.items())
    await connection.execute(
        _ADD_TO_TILES,
        [tile.level for tile, _ in tiles],
        [tile.index for tile, _ in tiles],
        [hashes for _, hashes in tiles],
    )
    await connection.execute(_MOVE, shards, [part.through for part in parts])
    await connection.execute(_SET_TREE, grown.size, b"".join(grown.hashes))
    await connection.execute(_ADD_CHECKPOINT, grown.size, grown.root)
