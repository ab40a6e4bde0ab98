"""One proof for many leaves of a tree: what their paths share is there once.

The hashes are those of the largest parts without a wanted leaf, from left to right. Whoever knows the size
and the indices knows which parts these are, so that the proof is a bare list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rules_core.merkle.hashing import node_hash
from rules_core.merkle.subtrees import Range, split_of


def multiproof_ranges(indices: Sequence[int], size: int) -> list[Range]:
    """The parts whose hashes prove leaves, from left to right; `indices` are sorted and each there once.

    Raises ValueError: they are not, there is none, or the tree has no such leaf.
    """
    _check(indices, size)
    return list(_ranges(indices, Range(0, size)))


def check_multiproof(leaves: Mapping[int, bytes], size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a proof shows all of these leaves, by index and hash, in the tree of this root and size.

    Root and size belong together: both come from whoever vouches for the tree.
    """
    indices = sorted(leaves)
    if not indices or indices[0] < 0 or indices[-1] >= size:
        return False
    given = iter(proof)
    found = _root(leaves, indices, Range(0, size), given)
    return found == root and next(given, None) is None


def _check(indices: Sequence[int], size: int) -> None:
    if not indices:
        raise ValueError("a proof is of one leaf or more")
    if any(later <= earlier for earlier, later in pairwise(indices)):
        raise ValueError("indices have to be sorted, each there once")
    if indices[0] < 0 or indices[-1] >= size:
        raise ValueError(
            f"a tree of {size} leaves has none at {indices[0] if indices[0] < 0 else indices[-1]}"
        )


def _wanted(indices: Sequence[int], part: Range) -> bool:
    at = bisect_left(indices, part.begin)
    return at < len(indices) and indices[at] < part.end


def _halves(part: Range) -> tuple[Range, Range]:
    middle = part.begin + split_of(len(part))
    return Range(part.begin, middle), Range(middle, part.end)


def _ranges(indices: Sequence[int], part: Range) -> Iterator[Range]:
    if not _wanted(indices, part):
        yield part
    elif len(part) > 1:
        for half in _halves(part):
            yield from _ranges(indices, half)


def _root(
    leaves: Mapping[int, bytes], indices: Sequence[int], part: Range, given: Iterator[bytes]
) -> bytes | None:
    if not _wanted(indices, part):
        return next(given, None)
    if len(part) == 1:
        return leaves[part.begin]
    left, right = (_root(leaves, indices, half, given) for half in _halves(part))
    return None if left is None or right is None else node_hash(left, right)
