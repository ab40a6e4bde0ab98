"""RULES.md section 6: the five shipped rulesets, parameter by parameter, pinned for ever."""

from __future__ import annotations

import hashlib
import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from rules_core.canonical import canonical_bytes
from rules_core.rulesets import shipped as shipped_module
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import UnknownRuleset, shipped, shipped_ids

DOCS = Path(__file__).parents[2] / "docs"
PINNED = json.loads((Path(__file__).parent / "pinned_rulesets.json").read_bytes())
SCHEMA = json.loads((DOCS / "ruleset.schema.json").read_bytes())
DATA = Path(shipped_module.__file__).parent / "data"

LIVE, DARK, CLASSIC, THREE, FOUR = (
    "live-shared@1",
    "dark-boxes@1",
    "classic@1",
    "three-box@1",
    "four-box@1",
)
HOUSES = (LIVE, DARK, CLASSIC, THREE, FOUR)

# Each row of the table in RULES.md section 6: the keys it fixes, and their values house by house.
TABLE: dict[str, tuple[tuple[Any, ...], ...]] = {
    "boxes": ((3,), (6,), (6,), (3,), (4,)),
    "table": (("shared",), *[("exclusive",)] * 4),
    "box_kinds": (
        (["blind", "open", "blind"],),
        (["any"] * 6,),
        (["any"] * 6,),
        (["open"] * 3,),
        (["any"] * 4,),
    ),
    "seating.open_boxes_max": ((1,), (2,), (2,), (2,), (2,)),
    "seating.blind_boxes_max seating.blind_needs_open_boxes": ((2, 0), (None, 0), (None, 2), (0, 0), (2, 0)),
    "seating.neighbours_only": ((False,), (True,), (False,), (False,), (False,)),
    "open_cards": (("public",), *[("private",)] * 4),
    "seating.equal_antes": (("no",), ("open_boxes",), ("no",), ("all_boxes",), ("no",)),
    "windows": ((["options", "final_options", "purchase"],),) * 5,
    "exchange_max": ((5,), (5,), (4,), (5,), (5,)),
    "insurance.fraction.numerator insurance.fraction.denominator": ((1, 2), (1, 1), (1, 2), (1, 1), (1, 2)),
    "insurance.on_tie": (("lost",), ("returned",), ("lost",), ("lost",), ("returned",)),
    "insurance.when_beaten": (("returned",), ("returned",), ("lost",), ("lost",), ("returned",)),
    "insurance.ante_on_no_game": (("returned",), *[("one_to_one",)] * 4),
    "insurance.may_purchase": ((True,), (True,), (False,), (True,), (True,)),
    "purchase.blind_boxes": ((True,), (False,), (True,), (False,), (False,)),
    "purchase.needs_combination": ((True,), *[(False,)] * 4),
    "purchase.same_rank_redraw": (("never",), ("once",), ("once",), ("never",), ("until_different",)),
    "purchase.ante_after_failed": (
        ("returned",),
        ("returned",),
        ("one_to_one",),
        ("returned",),
        ("returned",),
    ),
    "cap_includes_insurance": ((False,), (True,), (False,), (False,), (True,)),
    "paired_straight": (("two_straights",),) * 5,
}
BONUS_LIVE = [
    {"hand": "royal_flush", "pays": 1000},
    {"hand": "straight_flush", "pays": 500},
    {"hand": "four_of_a_kind", "pays": 100},
    {"hand": "full_house", "pays": 75},
    {"hand": "flush", "pays": 50},
    {"hand": "straight", "pays": 40},
    {"hand": "three_of_a_kind", "rank": "7", "pays": 20},
    {"hand": "two_pair", "rank": "7", "pays": 5},
    {"hand": "ace_king", "pays": 1},
]
BONUS_DARK = [
    {"hand": "royal_flush", "jackpot_share_percent": 100},
    {"hand": "straight_flush", "jackpot_share_percent": 10},
    {"hand": "four_of_a_kind", "pays": 200},
    {"hand": "full_house", "pays": 70},
    {"hand": "flush", "pays": 50},
    {"hand": "straight", "pays": 40},
    {"hand": "three_of_a_kind", "pays": 7},
    {"hand": "two_pair", "pays": 2},
]
BONUS = {LIVE: (BONUS_LIVE, BONUS_LIVE), DARK: (BONUS_DARK, None)}


def value_at(obj: Any, path: str) -> object:
    for part in path.split("."):
        obj = obj[part]
    return obj


def paths(obj: dict[str, Any], before: str = "") -> set[str]:
    """The dotted paths of all keys that hold no object."""
    found: set[str] = set()
    for key, value in obj.items():
        found |= paths(value, f"{before}{key}.") if isinstance(value, dict) else {before + key}
    return found


def test_the_five_rulesets_are_shipped() -> None:
    assert shipped_ids() == tuple(sorted(HOUSES))


@pytest.mark.parametrize("row", TABLE)
@pytest.mark.parametrize("house", HOUSES)
def test_parameter_of_section_6(house: str, row: str) -> None:
    obj = ruleset_object(shipped(house))
    assert tuple(value_at(obj, path) for path in row.split()) == TABLE[row][HOUSES.index(house)]


@pytest.mark.parametrize("house", HOUSES)
def test_bonus_tables_of_section_6(house: str) -> None:
    obj = ruleset_object(shipped(house))
    assert (obj["bonus_player"], obj["bonus_dealer"]) == BONUS.get(house, (None, None))


def test_no_parameter_is_left_unchecked() -> None:
    checked = {path for row in TABLE for path in row.split()}
    assert paths(ruleset_object(shipped(LIVE))) - checked == {"id", "title", "bonus_player", "bonus_dealer"}


def test_published_rulesets_never_change() -> None:
    """A digest that differs means: undo the change and publish a new version instead."""
    assert {name: shipped(name).sha256 for name in shipped_ids()} == PINNED


@pytest.mark.parametrize("house", HOUSES)
def test_digest_is_of_the_canonical_json_of_the_file(house: str) -> None:
    written = json.loads((DATA / f"{house}.json").read_bytes())
    assert shipped(house).sha256 == hashlib.sha256(canonical_bytes(written)).hexdigest()


@pytest.mark.parametrize("house", HOUSES)
def test_object_is_the_exact_inverse(house: str) -> None:
    written = json.loads((DATA / f"{house}.json").read_bytes())
    assert ruleset_object(shipped(house)) == written
    assert list(ruleset_object(shipped(house))) == list(written)
    assert parse_ruleset(written) == shipped(house)


@pytest.mark.parametrize("house", HOUSES)
def test_shipped_files_obey_the_schema(house: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads((DATA / f"{house}.json").read_bytes()), SCHEMA)


def test_a_ruleset_is_read_once_and_cannot_be_changed() -> None:
    assert shipped(LIVE) is shipped(LIVE)
    with pytest.raises(FrozenInstanceError):
        shipped(LIVE).exchange_max = 4  # type: ignore[misc] # that it cannot be is the point


def test_unknown_ruleset_is_named() -> None:
    with pytest.raises(UnknownRuleset, match="live-shared@2"):
        shipped("live-shared@2")
    assert issubclass(UnknownRuleset, KeyError)


@pytest.mark.parametrize("content", [b"{}", (DATA / f"{THREE}.json").read_bytes()])
def test_damaged_package_is_noticed(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shipped file that is wrong, or holds another ruleset than its name says, is no ruleset."""
    file = SimpleNamespace(read_bytes=lambda: content)
    monkeypatch.setattr(shipped_module, "_folder", lambda: SimpleNamespace(joinpath=lambda _: file))
    with pytest.raises(RuntimeError, match="four-box@1"):
        shipped_module._read.__wrapped__("four-box@1")


@pytest.mark.parametrize(
    ("house", "opens", "blinds"),
    [
        (LIVE, [2], [1, 3]),
        (DARK, [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        (THREE, [1, 2, 3], []),
    ],
)
def test_which_boxes_may_be_open_and_blind(house: str, opens: list[int], blinds: list[int]) -> None:
    ruleset = shipped(house)
    numbers = range(1, ruleset.boxes + 1)
    assert [box for box in numbers if ruleset.box_may_be(box, blind=False)] == opens
    assert [box for box in numbers if ruleset.box_may_be(box, blind=True)] == blinds


def test_shared_and_private_tables() -> None:
    assert {house: (shipped(house).shared, shipped(house).private) for house in HOUSES} == {
        LIVE: (True, False),
        DARK: (False, True),
        CLASSIC: (False, True),
        THREE: (False, True),
        FOUR: (False, True),
    }


def test_every_key_is_documented() -> None:
    text = (DOCS / "rulesets.md").read_text(encoding="utf-8")
    keys = {
        path.removesuffix(".numerator").removesuffix(".denominator")
        for path in paths(ruleset_object(shipped(LIVE)))
    }
    assert {key for key in keys if f"| `{key}` |" not in text} == set()
    row_keys = {"hand", "rank", "pays", "jackpot_share_percent"}
    assert {key for key in row_keys if f"| `{key}` |" not in text} == set()


def test_shipped_rulesets_are_rulesets() -> None:
    assert all(type(shipped(name)) is Ruleset for name in shipped_ids())
