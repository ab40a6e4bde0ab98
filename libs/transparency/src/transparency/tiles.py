"""Tiles: 256 hashes of one level in a row, so that a tree of ten million leaves is some forty thousand rows.

Only every eighth level of the tree is kept, the leaves' own among them; a hash between two of these is made
of the lower one's, at most 128 of them and all in one tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rules_core.merkle import HASH_BYTES, Subtree, node_hash

TILE_LEVELS: Final = 8
TILE_HASHES: Final = 1 << TILE_LEVELS


class TreeDamaged(Exception):
    """A hash of the tree is not where it must be: its tables were changed from outside."""


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """Which tile: of its level the 256 hashes from 256 * index on."""

    level: int
    index: int


def tile_of(subtree: Subtree) -> Tile:
    """Where a subtree's hash is, or those that it is made of."""
    level, above = divmod(subtree.level, TILE_LEVELS)
    return Tile(level, (subtree.index << above) >> TILE_LEVELS)


def hash_of(subtree: Subtree, tiles: Mapping[Tile, bytes]) -> bytes:
    """A subtree's hash out of its tile. Raises TreeDamaged: the tile is not there, or too short."""
    above = subtree.level % TILE_LEVELS
    tile = tile_of(subtree)
    first = (subtree.index << above) % TILE_HASHES
    raw = tiles.get(tile, b"")[first * HASH_BYTES : (first + (1 << above)) * HASH_BYTES]
    if len(raw) != HASH_BYTES << above:
        raise TreeDamaged(f"tile {tile.index} of level {tile.level} lacks hashes from {first} on")
    hashes = [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]
    while len(hashes) > 1:
        hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
    return hashes[0]


def additions(made: Iterable[tuple[Subtree, bytes]]) -> dict[Tile, bytes]:
    """What a tree's growth adds to each tile; `made` is in the order in which the subtrees came to be."""
    found: dict[Tile, list[bytes]] = {}
    for subtree, value in made:
        if subtree.level % TILE_LEVELS == 0:
            tile = Tile(subtree.level // TILE_LEVELS, subtree.index >> TILE_LEVELS)
            found.setdefault(tile, []).append(value)
    return {tile: b"".join(values) for tile, values in found.items()}


def tiles_of(subtrees: Sequence[Subtree]) -> list[Tile]:
    """The tiles that these subtrees' hashes are made of, each once."""
    return sorted({tile_of(one) for one in subtrees})
