"""The audit of the tree: leaves against events, tiles against leaves, checkpoints against tiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import asyncpg

from eventstore.postgres import Connection, Pool
from rules_core.merkle import HASH_BYTES, Frontier, Range, Subtree, fold, leaf_hash, node_hash, subtrees_of
from transparency.audited_events import audit_stream_heads
from transparency.checkpoints import Checkpoint, opened
from transparency.findings import Findings
from transparency.notes import Note, NoteInvalid, VerifierKey
from transparency.proving import tiles_in
from transparency.signing import notes_of
from transparency.tiles import TILE_HASHES, Tile, TreeDamaged, hash_of

# Where the order of the leaves does not go on: what is due there.
_BREAKS: Final = """
SELECT o.due FROM (
    SELECT r.first_index, coalesce(lag(r.first_index + r.events) OVER (ORDER BY r.first_index), 0) AS due
      FROM transparency.runs AS r WHERE r.first_index < $1
) AS o WHERE o.first_index <> o.due ORDER BY o.due LIMIT 1000
"""
_ORDERED: Final = """
SELECT coalesce(max(r.first_index + r.events), 0) FROM transparency.runs AS r WHERE r.first_index < $1
"""
_BEYOND: Final = """
SELECT r.shard, greatest(r.first_position, coalesce(h.position, 0) + 1) AS position
  FROM transparency.runs AS r LEFT JOIN eventstore.shard_heads AS h USING (shard)
 WHERE r.first_index < $1 AND r.first_position + r.events - 1 > coalesce(h.position, 0)
 ORDER BY r.first_index LIMIT 1000
"""
_BETWEEN: Final = """
SELECT r.shard, r.first_position, r.events FROM transparency.runs AS r
 WHERE r.first_index + r.events > $1 AND r.first_index < $2 ORDER BY r.first_index LIMIT 20
"""
_RUNS_OF: Final = """
SELECT first_index, first_position, events FROM transparency.runs
 WHERE shard = $1 AND first_position + events > $2 AND first_position <= $3 ORDER BY first_position
"""
_TREE: Final = "SELECT size, frontier FROM transparency.tree"
_CHECKPOINTS: Final = """
SELECT size, root FROM transparency.checkpoints WHERE size > $1 AND size <= $2 ORDER BY size LIMIT 500
"""
_PAGE: Final = 500


class TreeAudit:
    """One audit of a tree, as large as it was at the beginning."""

    def __init__(self, pool: Pool, origin: str, keys: tuple[VerifierKey, ...], findings: Findings) -> None:
        self._pool = pool
        self._origin = origin
        self._keys = keys
        self._findings = findings
        self._size = 0

    async def begin(self) -> None:
        """Read how large the tree is, and whether every leaf is noted as some event."""
        async with self._pool.acquire() as connection:
            self._size = await connection.fetchval("SELECT size FROM transparency.tree") or 0
            known = await connection.fetchval("SELECT count(*) FROM transparency.tree")
            breaks = await connection.fetch(_BREAKS, self._size)
            ordered = await connection.fetchval(_ORDERED, self._size)
        if not known:
            self._findings.add("tree_wrong", "the tree", "its own row is gone")
            return
        missing = [row["due"] for row in breaks]
        if ordered < self._size:
            missing.append(ordered)
        for due in missing:
            self._findings.add("order_wrong", f"leaf {due}", "no event is noted as this leaf")

    async def compare(self, shard: int, first: int, hashes: Sequence[bytes]) -> None:
        """Compare events of a shard with the leaves that they are."""
        if not hashes:
            return
        last = first + len(hashes) - 1
        async with self._pool.acquire() as connection:
            runs = await connection.fetch(_RUNS_OF, shard, first, last)
            parts = [part for run in runs if (part := self._part(run, first, last))]
            tiles = await tiles_in(
                connection,
                [Subtree(0, index) for _, begin, end in parts for index in _one_a_tile(begin, end)],
            )
        for position, begin, end in parts:
            some = hashes[position - first : position - first + end - begin]
            due = [leaf_hash(value) for value in some]
            if _kept(tiles, begin, end) != b"".join(due):
                self._differ(shard, position, begin, due, tiles)
            self._findings.leaves += len(due)

    def _part(self, run: asyncpg.Record, first: int, last: int) -> tuple[int, int, int] | None:
        """Of a run what lies between two positions: its first position, and its leaves from and up to."""
        position = max(first, run["first_position"])
        begin = run["first_index"] + position - run["first_position"]
        end = min(begin + min(last, run["first_position"] + run["events"] - 1) - position + 1, self._size)
        return (position, begin, end) if begin < end else None

    def _differ(
        self, shard: int, position: int, begin: int, due: Sequence[bytes], tiles: dict[Tile, bytes]
    ) -> None:
        for turn, value in enumerate(due):
            index = begin + turn
            try:
                kept = hash_of(Subtree(0, index), tiles)
            except TreeDamaged as damage:
                self._findings.add("tree_wrong", f"leaf {index}", str(damage))
                continue
            if kept != value:
                where = f"shard {shard}, position {position + turn}"
                self._findings.add("leaf_wrong", where, f"it is not what leaf {index} was made of")

    async def end(self, outside: Iterable[bytes]) -> None:
        """Look at what is above the leaves, and at every checkpoint."""
        await audit_stream_heads(self._pool, self._findings)
        if self._findings.leaves < self._size:
            await self._leaves_without_events()
        await self._levels()
        await self._checkpoints()
        await self._outside(outside)

    async def _leaves_without_events(self) -> None:
        """Leaves beyond their shard's head: events were cut off, and the head with them."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_BEYOND, self._size)
        for row in rows:
            where = f"shard {row['shard']}, position {row['position']}"
            self._findings.add("event_missing", where, "the tree has it, the log has not")

    async def _levels(self) -> None:
        """Compute each level of tiles from the one below it, and the tree's edge."""
        count, level = self._size, 0
        while count:
            above = count // TILE_HASHES
            async with self._pool.acquire() as connection:
                for first in range(0, above, _PAGE):
                    await self._tiles(connection, level, range(first, min(above, first + _PAGE)))
            count, level = above, level + 1
        async with self._pool.acquire() as connection:
            row = await connection.fetchrow(_TREE)
            if self._size and row is not None and row["size"] == self._size:
                subtrees = subtrees_of(Range(0, self._size))
                tiles = await tiles_in(connection, subtrees)
                try:
                    frontier = [hash_of(one, tiles) for one in subtrees]
                except TreeDamaged as damage:
                    self._findings.add("tree_wrong", "the tree's edge", str(damage))
                    return
                if b"".join(frontier) != row["frontier"]:
                    self._findings.add("tree_wrong", "the tree's edge", "it is not made of the tree's leaves")

    async def _tiles(self, connection: Connection, level: int, indices: range) -> None:
        lower = [Subtree(level * 8 + 8, index) for index in indices]
        below = {Tile(level, index): lower[at] for at, index in enumerate(indices)}
        tiles = await tiles_in(connection, [Subtree(level * 8, index * TILE_HASHES) for index in indices])
        kept = await tiles_in(connection, lower)
        for tile, subtree in below.items():
            raw = tiles.get(tile, b"")
            if len(raw) != TILE_HASHES * HASH_BYTES:
                self._findings.add("tree_wrong", f"tile {tile.index} of level {level}", "it lacks hashes")
                continue
            hashes = [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]
            while len(hashes) > 1:
                hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
            try:
                fits = hash_of(subtree, kept) == hashes[0]
            except TreeDamaged:
                fits = False
            if not fits:
                where = (
                    f"leaves {subtree.index << subtree.level} to {((subtree.index + 1) << subtree.level) - 1}"
                )
                self._findings.add("tree_wrong", where, f"level {level + 1} is not made of them")

    async def _roots(self, connection: Connection, sizes: Sequence[int]) -> dict[int, bytes | TreeDamaged]:
        """The tree's root at each of these sizes, by one question; or what is wrong with it there."""
        parts = {size: subtrees_of(Range(0, size)) for size in sizes}
        tiles = await tiles_in(connection, [one for some in parts.values() for one in some])
        found: dict[int, bytes | TreeDamaged] = {}
        for size, some in parts.items():
            try:
                found[size] = fold([hash_of(one, tiles) for one in some])
            except TreeDamaged as damage:
                found[size] = damage
        return found

    async def _checkpoints(self) -> None:
        after, last = 0, 0
        while True:
            async with self._pool.acquire() as connection:
                rows = await connection.fetch(_CHECKPOINTS, after, self._size)
                sizes = [row["size"] for row in rows]
                notes = await notes_of(connection, self._origin, sizes)
                roots = await self._roots(connection, sizes)
            for row in rows:
                last = row["size"]
                self._findings.checkpoints += 1
                where, root = f"checkpoint {last}", roots[last]
                if isinstance(root, TreeDamaged):
                    self._findings.add("tree_wrong", where, str(root))
                elif root != row["root"]:
                    self._findings.add("checkpoint_wrong", where, "its root is not the tree's")
                self._signed(where, notes.get(last))
            if len(rows) < _PAGE:
                break
            after = last
        if last < self._size:
            where = f"checkpoint {self._size}"
            self._findings.add("checkpoint_missing", where, "the tree has none of its size")

    def _signed(self, where: str, note: Note | None) -> None:
        if note is None:
            return  # the signer has not come by yet; the largest one that it signed vouches for all before it
        try:
            if not note.verified(self._keys):
                self._findings.add("checkpoint_unsigned", where, "none of the log's keys signed it")
        except NoteInvalid as problem:
            self._findings.add("signature_wrong", where, str(problem))

    async def _outside(self, outside: Iterable[bytes]) -> None:
        agreed = 0
        for raw in outside:
            try:
                found, _ = opened(raw, self._origin, self._keys)
            except NoteInvalid as problem:
                self._findings.add("signature_wrong", "a checkpoint outside", str(problem))
                continue
            self._findings.outside += 1
            if await self._agrees(found):
                agreed = max(agreed, found.size)
            else:
                between = await self._between(agreed, found.size)
                self._findings.add(
                    "outside_disagrees",
                    f"checkpoint {found.size}",
                    f"the log is another than the one that was signed: {between}",
                )

    async def _agrees(self, found: Checkpoint) -> bool:
        if not found.size:
            return found.root == Frontier().root
        async with self._pool.acquire() as connection:
            roots = await self._roots(connection, [found.size])
        return roots[found.size] == found.root

    async def _between(self, agreed: int, size: int) -> str:
        """Which events lie between two checkpoints."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_BETWEEN, agreed, size)
        named = [
            f"shard {row['shard']} {row['first_position']}..{row['first_position'] + row['events'] - 1}"
            for row in rows
        ]
        return f"leaves {agreed} to {size - 1}, which are {', '.join(named) or 'not there'}"


def _one_a_tile(begin: int, end: int) -> range:
    """A leaf of each tile that these leaves lie in."""
    return range(begin - begin % TILE_HASHES, end, TILE_HASHES)


def _kept(tiles: dict[Tile, bytes], begin: int, end: int) -> bytes:
    """The leaves' hashes in a row; shorter where a tile lacks some."""
    raw = b"".join(tiles.get(Tile(0, index // TILE_HASHES), b"") for index in _one_a_tile(begin, end))
    first = begin % TILE_HASHES * HASH_BYTES
    return raw[first : first + (end - begin) * HASH_BYTES]
