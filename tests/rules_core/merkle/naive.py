"""A tree as RFC 9162 defines it (section 2.1.1), built anew from all its leaves for each question."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from rules_core.merkle import Range, Subtree


def root_of(items: Sequence[bytes]) -> bytes:
    """MTH of the items."""
    if not items:
        return sha256(b"").digest()
    if len(items) == 1:
        return sha256(b"\x00" + items[0]).digest()
    left = 1
    while left * 2 < len(items):
        left *= 2
    return sha256(b"\x01" + root_of(items[:left]) + root_of(items[left:])).digest()


def part_of(items: Sequence[bytes], part: Range) -> bytes:
    """The hash over a part of them."""
    return root_of(items[part.begin : part.end])


def kept_of(items: Sequence[bytes], wanted: Sequence[Subtree]) -> list[bytes]:
    """What whoever keeps the tree would answer."""
    return [root_of(items[one.index << one.level : (one.index + 1) << one.level]) for one in wanted]


def path_of(index: int, items: Sequence[bytes]) -> list[bytes]:
    """PATH (section 2.1.3.1), from the leaf upwards."""
    if len(items) == 1:
        return []
    left = 1
    while left * 2 < len(items):
        left *= 2
    if index < left:
        return [*path_of(index, items[:left]), root_of(items[left:])]
    return [*path_of(index - left, items[left:]), root_of(items[:left])]


def growth_of(first: int, items: Sequence[bytes], *, whole: bool = True) -> list[bytes]:
    """SUBPROOF (section 2.1.4.1)."""
    if first == len(items):
        return [] if whole else [root_of(items)]
    left = 1
    while left * 2 < len(items):
        left *= 2
    if first <= left:
        return [*growth_of(first, items[:left], whole=whole), root_of(items[left:])]
    return [*growth_of(first - left, items[left:], whole=False), root_of(items[:left])]
