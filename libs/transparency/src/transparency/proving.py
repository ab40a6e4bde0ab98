"""Proofs out of the tree as it is kept: a few tiles, read in one question, whatever the tree's size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eventstore.postgres import Connection
from rules_core.merkle import (
    ProofOfGrowth,
    Range,
    Subtree,
    consistency_ranges,
    fold,
    inclusion_ranges,
    multiproof_ranges,
    subtrees_of,
)
from transparency.signing import notes_of
from transparency.tiles import Tile, hash_of, tiles_of

MOST_LEAVES: Final = 10_000
"""Most leaves of one proof."""

_INDICES: Final = """
SELECT u.turn, r.first_index + (u.position - r.first_position) AS index
  FROM unnest($1::smallint[], $2::bigint[]) WITH ORDINALITY AS u (shard, position, turn)
 CROSS JOIN LATERAL (
    SELECT f.first_index, f.first_position, f.events FROM transparency.runs AS f
     WHERE f.shard = u.shard AND f.first_position <= u.position
     ORDER BY f.first_position DESC LIMIT 1
 ) AS r
 WHERE u.position < r.first_position + r.events
 ORDER BY u.turn
"""

_TILES: Final = """
SELECT t.level, t.index, t.hashes FROM unnest($1::smallint[], $2::bigint[]) AS u (level, index)
  JOIN transparency.tiles AS t USING (level, index)
"""

_SIGNED_FROM: Final = "SELECT min(size) FROM transparency.signatures WHERE name = $1 AND size > $2"


class NotInTree(LookupError):
    """An event is not in the tree, or in none yet that was signed; it will be in a moment if it is stored."""


@dataclass(frozen=True, slots=True)
class Proved:
    """Events that are in the tree of a signed checkpoint."""

    checkpoint: bytes
    """The note that vouches for the tree."""
    size: int
    indices: tuple[int, ...]
    """Which leaves the events are, in the order in which they were asked for."""
    hashes: tuple[bytes, ...]
    """One proof for all of them (`rules_core.merkle.check_multiproof`)."""


async def prove(connection: Connection, origin: str, events: Sequence[tuple[int, int]]) -> Proved:
    """Prove events, each named by its shard and its position there, in the earliest checkpoint with them all.

    Raises NotInTree, ValueError: none is asked for, or more than MOST_LEAVES; TreeDamaged.
    """
    if not 1 <= len(events) <= MOST_LEAVES:
        raise ValueError(f"a proof is of 1 to {MOST_LEAVES} events")
    indices = await indices_of(connection, events)
    size = await connection.fetchval(_SIGNED_FROM, origin, max(indices))
    if size is None:
        raise NotInTree("no checkpoint with all of these events is signed yet")
    note = (await notes_of(connection, origin, [size]))[size]
    hashes = await _read(connection, multiproof_ranges(sorted(set(indices)), size))
    return Proved(bytes(note), size, tuple(indices), hashes)


async def indices_of(connection: Connection, events: Sequence[tuple[int, int]]) -> list[int]:
    """Which leaf each event is, by shard and position. Raises NotInTree."""
    rows = await connection.fetch(
        _INDICES, [shard for shard, _ in events], [position for _, position in events]
    )
    if len(rows) != len(events):
        missing = sorted({turn + 1 for turn in range(len(events))} - {row["turn"] for row in rows})
        shard, position = events[missing[0] - 1]
        raise NotInTree(f"the tree has no event {position} of shard {shard} yet")
    return [row["index"] for row in rows]


async def inclusion(connection: Connection, index: int, size: int) -> tuple[bytes, ...]:
    """RFC 9162's proof of one leaf in the tree of this size. Raises ValueError, TreeDamaged."""
    return await _read(connection, inclusion_ranges(index, size))


async def growth(connection: Connection, first_size: int, second_size: int) -> ProofOfGrowth:
    """The proof that the tree grew from one size to the other. Raises ValueError, TreeDamaged."""
    hashes = await _read(connection, consistency_ranges(first_size, second_size))
    return ProofOfGrowth(first_size, second_size, hashes)


async def _read(connection: Connection, parts: Sequence[Range]) -> tuple[bytes, ...]:
    wanted = [subtrees_of(part) for part in parts]
    tiles = await tiles_in(connection, [one for some in wanted for one in some])
    return tuple(fold([hash_of(one, tiles) for one in some]) for some in wanted)


async def tiles_in(connection: Connection, subtrees: Sequence[Subtree]) -> dict[Tile, bytes]:
    """The tiles with these subtrees' hashes; one that is not there is left out."""
    asked = tiles_of(subtrees)
    rows = await connection.fetch(_TILES, [tile.level for tile in asked], [tile.index for tile in asked])
    return {Tile(row["level"], row["index"]): row["hashes"] for row in rows}
