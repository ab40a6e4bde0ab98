"""Proofs: those that RFC 9162 defines hold, and no other does."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.merkle import (
    ProofOfGrowth,
    Range,
    check_consistency,
    check_inclusion,
    check_multiproof,
    consistency_ranges,
    inclusion_ranges,
    leaf_hash,
    multiproof_ranges,
)
from tests.rules_core.merkle import naive
from tests.rules_core.merkle.test_trees import items_of

MOST = 33


def proof_of(items: list[bytes], ranges: list[Range]) -> list[bytes]:
    """The hashes of the parts."""
    return [naive.part_of(items, part) for part in ranges]


@pytest.mark.parametrize("size", range(1, MOST))
def test_each_leaf_of_each_tree_is_proved_and_nothing_else(size: int) -> None:
    items = items_of(size)
    root = naive.root_of(items)
    for index in range(size):
        proof = proof_of(items, inclusion_ranges(index, size))
        assert proof == naive.path_of(index, items)
        leaf = leaf_hash(items[index])
        assert check_inclusion(leaf, index, size, proof, root)
        assert not check_inclusion(leaf_hash(b"another"), index, size, proof, root)
        for elsewhere in range(-1, size + 2):
            assert check_inclusion(leaf, elsewhere, size, proof, root) == (elsewhere == index)
        assert not check_inclusion(leaf, index, size, [*proof, root], root)
        assert not proof or not check_inclusion(leaf, index, size, proof[:-1], root)
        for at in range(len(proof)):
            changed = [*proof[:at], leaf_hash(proof[at]), *proof[at + 1 :]]
            assert not check_inclusion(leaf, index, size, changed, root)


@pytest.mark.parametrize("second", range(1, MOST))
def test_each_tree_is_proved_to_have_grown_and_no_other(second: int) -> None:
    items = items_of(second)
    root = naive.root_of(items)
    for first in range(1, second + 1):
        before = naive.root_of(items[:first])
        hashes = tuple(proof_of(items, consistency_ranges(first, second)))
        assert list(hashes) == naive.growth_of(first, items)
        proof = ProofOfGrowth(first, second, hashes)
        assert check_consistency(proof, before, root)
        assert not check_consistency(proof, leaf_hash(before), root)
        assert not check_consistency(proof, before, leaf_hash(root))
        assert not check_consistency(dataclasses.replace(proof, hashes=(*hashes, root)), before, root)
        for at in range(len(hashes)):
            changed = (*hashes[:at], leaf_hash(hashes[at]), *hashes[at + 1 :])
            assert not check_consistency(dataclasses.replace(proof, hashes=changed), before, root)
            shorter = (*hashes[:at], *hashes[at + 1 :])
            assert not check_consistency(dataclasses.replace(proof, hashes=shorter), before, root)


@given(st.integers(2, 200), st.data())
def test_a_tree_whose_beginning_was_changed_has_not_grown(second: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, second - 1))
    items = items_of(second)
    before = naive.root_of(items[:first])
    items[data.draw(st.integers(0, first - 1))] = b"changed"
    proof = ProofOfGrowth(first, second, tuple(proof_of(items, consistency_ranges(first, second))))
    assert not check_consistency(proof, before, naive.root_of(items))


@given(st.integers(1, 200), st.data())
def test_many_leaves_are_proved_by_one_proof(size: int, data: st.DataObject) -> None:
    items = items_of(size)
    root = naive.root_of(items)
    indices = sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=12)))
    proof = proof_of(items, multiproof_ranges(indices, size))
    leaves = {index: leaf_hash(items[index]) for index in indices}
    assert check_multiproof(leaves, size, proof, root)
    assert not check_multiproof(leaves, size, [*proof, root], root)
    if proof:
        assert not check_multiproof(leaves, size, proof[:-1], root)
        at = data.draw(st.integers(0, len(proof) - 1))
        assert not check_multiproof(leaves, size, [*proof[:at], root, *proof[at + 1 :]], root)
    changed = data.draw(st.sampled_from(indices))
    assert not check_multiproof(leaves | {changed: leaf_hash(b"another")}, size, proof, root)
    # It is never longer than the paths together, and of one leaf it is the path.
    paths = [inclusion_ranges(index, size) for index in indices]
    assert len(proof) <= sum(len(path) for path in paths)
    assert multiproof_ranges(indices[:1], size) == sorted(paths[0])


def test_what_cannot_be_proved_is_refused() -> None:
    for index, size in ((0, 0), (3, 3), (-1, 3)):
        with pytest.raises(ValueError, match="has none at"):
            inclusion_ranges(index, size)
    for first, second in ((0, 3), (4, 3), (-1, 1)):
        with pytest.raises(ValueError, match="does not grow"):
            consistency_ranges(first, second)
        assert not check_consistency(ProofOfGrowth(first, second, ()), b"", b"")
    for indices, why in (
        ([], "one leaf or more"),
        ([2, 1], "sorted"),
        ([1, 1], "sorted"),
        ([3], "none at 3"),
    ):
        with pytest.raises(ValueError, match=why):
            multiproof_ranges(indices, 3)
    for leaves in ({}, {3: b""}, {-1: b""}):
        assert not check_multiproof(leaves, 3, [], b"")
