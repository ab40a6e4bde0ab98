"""The audit of the tree: leaves against events, tiles against leaves, checkpoints against tiles."""

from __future__ import annotations

from bisect import bisect_right
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

_RUNS: Final = "SELECT first_index, shard, first_position, events FROM transparency.runs ORDER BY first_index"
_RUNS_OF: Final = """
SELECT first_index, first_position, events FROM transparency.runs
 WHERE shard = $1 AND first_position + events > $2 AND first_position <= $3 ORDER BY first_position
"""
_TREE: Final = "SELECT size, frontier FROM transparency.tree"
_CHECKPOINTS: Final = """
SELECT size, root FROM transparency.checkpoints WHERE size > $1 ORDER BY size LIMIT 500
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
        self._begins: list[int] = []
        self._runs: list[tuple[int, int, int]] = []

    async def begin(self) -> None:
        """Read how large the tree is, and the order of its leaves."""
        async with self._pool.acquire() as connection:
            row = await connection.fetchrow(_TREE)
            runs = await connection.fetch(_RUNS)
        if row is None:
            self._findings.add("tree_wrong", "the tree", "its own row is gone")
            return
        self._size = row["size"]
        due = 0
        for run in runs:
            if run["first_index"] >= self._size:
                break
            if run["first_index"] != due:
                self._findings.add("order_wrong", f"leaf {due}", "no event is noted as this leaf")
            due = run["first_index"] + run["events"]
            self._begins.append(run["first_index"])
            self._runs.append((run["shard"], run["first_position"], run["events"]))
        if due < self._size:
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
            rows = await connection.fetch("SELECT shard, position FROM eventstore.shard_heads")
        heads: dict[int, int] = {row["shard"]: row["position"] for row in rows}
        for shard, first, events in self._runs:
            if first + events - 1 > heads.get(shard, 0):
                where = f"shard {shard}, position {max(first, heads.get(shard, 0) + 1)}"
                self._findings.add("event_missing", where, "the tree has it, the log has not")

    async def _levels(self) -> None:
        """Compute each level of tiles from the one below it, and the tree's edge."""
        frontier: list[bytes] = []
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

    async def _root(self, connection: Connection, size: int) -> bytes:
        subtrees = subtrees_of(Range(0, size))
        tiles = await tiles_in(connection, subtrees)
        return fold([hash_of(one, tiles) for one in subtrees])

    async def _checkpoints(self) -> None:
        after, last = 0, 0
        while True:
            async with self._pool.acquire() as connection:
                rows = await connection.fetch(_CHECKPOINTS, after)
                notes = await notes_of(connection, self._origin, [row["size"] for row in rows])
                for row in rows:
                    last = row["size"]
                    if last > self._size:
                        continue
                    self._findings.checkpoints += 1
                    where = f"checkpoint {last}"
                    try:
                        if await self._root(connection, last) != row["root"]:
                            self._findings.add("checkpoint_wrong", where, "its root is not the tree's")
                    except TreeDamaged as damage:
                        self._findings.add("tree_wrong", where, str(damage))
                    self._signed(where, notes.get(last))
            if len(rows) < _PAGE:
                break
            after = rows[-1]["size"]
        if last < self._size:
            self._findings.add(
                "checkpoint_missing", f"checkpoint {self._size}", "the tree has none of its size"
            )

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
                self._findings.add(
                    "outside_disagrees",
                    f"checkpoint {found.size}",
                    f"the log is another than the one that was signed: {self._between(agreed, found.size)}",
                )

    async def _agrees(self, found: Checkpoint) -> bool:
        if not found.size:
            return found.root == Frontier().root
        async with self._pool.acquire() as connection:
            try:
                return await self._root(connection, found.size) == found.root
            except TreeDamaged:
                return False

    def _between(self, agreed: int, size: int) -> str:
        """Which events lie between two checkpoints."""
        first, last = max(0, bisect_right(self._begins, agreed) - 1), bisect_right(self._begins, size - 1)
        named = [
            f"shard {shard} {position}..{position + events - 1}"
            for shard, position, events in self._runs[first : min(last, first + 20)]
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
