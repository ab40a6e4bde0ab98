"""Proofs that a tree was only ever added to (RFC 9162, section 2.1.4)."""

from __future__ import annotations

from dataclasses import dataclass

from rules_core.merkle.hashing import node_hash
from rules_core.merkle.subtrees import Range, split_of


@dataclass(frozen=True, slots=True)
class ProofOfGrowth:
    """Says that the first tree is the beginning of the second one."""

    first_size: int
    second_size: int
    hashes: tuple[bytes, ...]
    """Of the parts that `consistency_ranges` names."""


def consistency_ranges(first_size: int, second_size: int) -> list[Range]:
    """The parts whose hashes prove that a tree grew from the first size to the second, in RFC 9162's order.

    None where nothing has to be proved: the sizes are equal. Raises ValueError: a size is below 1, or the
    second one smaller.
    """
    if not 1 <= first_size <= second_size:
        raise ValueError(f"a tree of {first_size} leaves does not grow to {second_size}")
    found: list[Range] = []
    begin, end, whole = 0, second_size, True
    # `first_size` falls into what is left; once the way went right, what it ends has to be named.
    while first_size != end:
        middle = begin + split_of(end - begin)
        if first_size <= middle:
            found.append(Range(middle, end))
            end = middle
        else:
            found.append(Range(begin, middle))
            begin, whole = middle, False
    if not whole:
        found.append(Range(begin, end))
    return found[::-1]


def check_consistency(proof: ProofOfGrowth, first_root: bytes, second_root: bytes) -> bool:
    """Tell whether the tree with the second root begins with the tree of the first one."""
    first_size, second_size = proof.first_size, proof.second_size
    if not 1 <= first_size <= second_size:
        return False
    ranges = consistency_ranges(first_size, second_size)
    if len(proof.hashes) != len(ranges):
        return False
    known = dict(zip(ranges, proof.hashes, strict=True))
    # The first tree is itself a part of the second one where its size is a power of two.
    if first_size == second_size or first_size.bit_count() == 1:
        known[Range(0, first_size)] = first_root
    return (
        _root(known, Range(0, second_size)) == second_root
        and _root(known, Range(0, first_size)) == first_root
    )


def _root(known: dict[Range, bytes], part: Range) -> bytes:
    """The hash of a part of either tree: what is known makes up both."""
    if part in known:
        return known[part]
    middle = part.begin + split_of(len(part))
    return node_hash(_root(known, Range(part.begin, middle)), _root(known, Range(middle, part.end)))
