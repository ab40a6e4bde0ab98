"""The right edge of a tree that grows: all that is needed to add leaves and to know the root."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules_core.merkle.hashing import HASH_BYTES, node_hash
from rules_core.merkle.subtrees import Subtree, fold


@dataclass(frozen=True, slots=True)
class Frontier:
    """A tree of `size` leaves by the hashes of the perfect subtrees that it consists of, left to right.

    Raises ValueError where the hashes cannot be those of a tree of that size.
    """

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.hashes) != self.size.bit_count():
            raise ValueError(f"a tree of {self.size} leaves does not consist of {len(self.hashes)} subtrees")
        if any(len(one) != HASH_BYTES for one in self.hashes):
            raise ValueError(f"a hash has {HASH_BYTES} bytes")

    @property
    def root(self) -> bytes:
        """The tree's root."""
        return fold(self.hashes)

    def grown(self, leaves: Iterable[bytes]) -> tuple[Frontier, list[tuple[Subtree, bytes]]]:
        """The tree with more leaves, given by their hashes, and every perfect subtree that came with them.

        Those are to be kept, leaves included: they never change, and every later proof is made of them.
        """
        size, stack = self.size, list(self.hashes)
        made: list[tuple[Subtree, bytes]] = []
        for leaf in leaves:
            found, index, level = leaf, size, 0
            made.append((Subtree(0, index), found))
            while index & 1:
                found = node_hash(stack.pop(), found)
                index >>= 1
                level += 1
                made.append((Subtree(level, index), found))
            stack.append(found)
            size += 1
        return Frontier(size, tuple(stack)), made
