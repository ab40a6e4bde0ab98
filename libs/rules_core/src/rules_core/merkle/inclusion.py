"""Proofs that a tree holds a leaf at an index (RFC 9162, section 2.1.3)."""

from __future__ import annotations

from collections.abc import Sequence

from rules_core.merkle.hashing import node_hash
from rules_core.merkle.subtrees import Range, split_of


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """The parts whose hashes prove a leaf, from the leaf upwards, as RFC 9162 orders them.

    Raises ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has none at {index}")
    found: list[Range] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + split_of(end - begin)
        if index < middle:
            found.append(Range(middle, end))
            end = middle
        else:
            found.append(Range(begin, middle))
            begin = middle
    return found[::-1]


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a proof shows this leaf, by its hash, at this index of the tree of this root and size.

    Root and size belong together: both come from whoever vouches for the tree.
    """
    if not 0 <= index < size:
        return False
    ranges = inclusion_ranges(index, size)
    if len(proof) != len(ranges):
        return False
    found = leaf
    for part, other in zip(ranges, proof, strict=True):
        found = node_hash(found, other) if part.begin > index else node_hash(other, found)
    return found == root
