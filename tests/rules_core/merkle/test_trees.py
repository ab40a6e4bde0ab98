"""Trees that grow: roots, the hashes that are kept, what stands for a part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_core.merkle import EMPTY_ROOT, Frontier, Range, Subtree, fold, leaf_hash, node_hash, subtrees_of
from rules_core.merkle.subtrees import hashes_of
from tests.rules_core.merkle import naive

ITEMS = [
    bytes.fromhex(one)
    for one in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The items that tests of Certificate Transparency have in common, and the roots over the first 1 to 8."""
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def items_of(count: int) -> list[bytes]:
    """So many different items."""
    return [b"%d" % number for number in range(count)]


@pytest.mark.parametrize("size", range(1, 9))
def test_roots_are_those_of_everybody(size: int) -> None:
    tree, _ = Frontier().grown(leaf_hash(item) for item in ITEMS[:size])
    assert tree.root.hex() == ROOTS[size - 1]
    assert tree.size == size


def test_an_empty_tree_has_a_root() -> None:
    assert Frontier().root == EMPTY_ROOT
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(st.lists(st.integers(0, 20), max_size=8))
def test_a_tree_that_grows_in_steps_is_the_tree_of_all_its_items(steps: list[int]) -> None:
    tree, items = Frontier(), items_of(sum(steps))
    kept: dict[Subtree, bytes] = {}
    for count in steps:
        tree, made = tree.grown(leaf_hash(item) for item in items[tree.size : tree.size + count])
        assert not kept.keys() & {subtree for subtree, _ in made}
        kept.update(made)
    assert tree.root == naive.root_of(items)
    assert tree.size == len(items)
    # Each perfect subtree was told once, and no other.
    complete = {
        Subtree(level, index)
        for level in range(len(items).bit_length())
        for index in range(len(items) >> level)
    }
    assert kept.keys() == complete
    wanted = sorted(complete)
    assert [kept[one] for one in wanted] == naive.kept_of(items, wanted)


@given(st.integers(1, 300), st.data())
def test_a_part_is_made_of_what_is_kept(size: int, data: st.DataObject) -> None:
    items = items_of(size)
    level = data.draw(st.integers(0, size.bit_length() - 1))
    begin = data.draw(st.integers(0, (size - 1) >> level)) << level
    part = Range(begin, min(size, begin + (1 << level)))
    asked = []

    def read(wanted: object) -> list[bytes]:
        asked.append(wanted)
        return naive.kept_of(items, wanted)  # type: ignore[arg-type]  # what hashes_of gives

    assert hashes_of([part, Range(0, size)], read) == [naive.part_of(items, part), naive.root_of(items)]
    assert len(asked) == 1


@pytest.mark.parametrize("part", [Range(0, 0), Range(3, 3), Range(-1, 2), Range(4, 2)])
def test_a_part_without_leaves_has_no_hash(part: Range) -> None:
    with pytest.raises(ValueError, match="begins at 0 or later and has leaves"):
        subtrees_of(part)


@pytest.mark.parametrize("part", [Range(1, 3), Range(2, 6), Range(3, 8)])
def test_a_part_that_no_tree_consists_of_has_no_hash(part: Range) -> None:
    with pytest.raises(ValueError, match="no hash stands for"):
        subtrees_of(part)


@pytest.mark.parametrize(
    ("size", "hashes"), [(1, ()), (3, (b"a" * 32,)), (0, (b"a" * 32,)), (-1, ()), (1, (b"short",))]
)
def test_a_frontier_is_refused_that_is_none(size: int, hashes: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match=r"does not consist of|bytes"):
        Frontier(size, hashes)


def test_a_leaf_is_never_taken_for_a_node() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert node_hash(left, right) != leaf_hash(left + right)
    assert node_hash(left, right) != node_hash(right, left)
    assert fold([]) == EMPTY_ROOT
