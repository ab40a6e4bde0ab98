"""Which hashes stand for a part of a tree: the perfect subtrees that make it up, each kept once.

A tree of n leaves consists of one perfect subtree for each bit of n. So does every part of it that a proof
names: a proof is built from kept hashes, however large the tree, and nothing kept ever changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rules_core.merkle.hashing import EMPTY_ROOT, node_hash

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Subtree:
    """A perfect subtree: the 2**level leaves from index * 2**level on."""

    level: int
    index: int


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The leaves from `begin` up to `end`, without it."""

    begin: int
    end: int

    def __len__(self) -> int:
        """How many there are."""
        return self.end - self.begin


def split_of(size: int) -> int:
    """How many leaves are on the left: the greatest power of two below `size`, which is 2 or more."""
    return 1 << ((size - 1).bit_length() - 1)


def subtrees_of(part: Range) -> list[Subtree]:
    """The perfect subtrees that make up a part, from left to right.

    Raises ValueError: the part is empty, or none that a tree consists of, so that no hash stands for it.
    """
    if not 0 <= part.begin < part.end:
        raise ValueError(f"a part begins at 0 or later and has leaves, unlike {part.begin}..{part.end}")
    found = []
    begin, left = part.begin, len(part)
    while left:
        level = left.bit_length() - 1
        if begin & ((1 << level) - 1):
            raise ValueError(f"no hash stands for the leaves {part.begin}..{part.end}")
        found.append(Subtree(level, begin >> level))
        begin += 1 << level
        left -= 1 << level
    return found


def fold(hashes: Sequence[bytes]) -> bytes:
    """The hash over perfect subtrees that follow each other, each smaller than the one before it."""
    if not hashes:
        return EMPTY_ROOT
    found = hashes[-1]
    for left in reversed(hashes[:-1]):
        found = node_hash(left, found)
    return found


def hashes_of(ranges: Sequence[Range], read: Callable[[Sequence[Subtree]], Sequence[bytes]]) -> list[bytes]:
    """The hash of each part, by one question for all the subtrees that they consist of."""
    wanted = [subtrees_of(part) for part in ranges]
    answer = iter(read([subtree for some in wanted for subtree in some]))
    return [fold(_taken(answer, len(some))) for some in wanted]


def _taken(items: Iterator[T], count: int) -> list[T]:
    return [next(items) for _ in range(count)]
