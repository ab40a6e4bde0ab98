"""A house's own ruleset: what is refused, with the key and why; what is accepted (docs/rulesets.md)."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rules_core.rulesets.model import BonusRow, Fraction, InsuranceRules, Ruleset, Seating
from rules_core.rulesets.parse import RulesetError, parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import shipped

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "ruleset.schema.json").read_bytes())
Json = dict[str, Any]
GONE = object()
DEEP = ["purchase", "seating", "insurance", "insurance.fraction"]

MINIMAL: Json = {
    "id": "north-hall-2@17",
    "title": "Nördliche Halle",
    "table": "exclusive",
    "boxes": 1,
    "box_kinds": ["open"],
    "open_cards": "public",
    "seating": {
        "open_boxes_max": 1,
        "blind_boxes_max": 0,
        "blind_needs_open_boxes": 0,
        "neighbours_only": False,
        "equal_antes": "no",
    },
    "windows": ["options", "final_options"],
    "exchange_max": 1,
    "insurance": None,
    "purchase": None,
    "cap_includes_insurance": False,
    "paired_straight": "straight_and_pair",
    "bonus_player": [
        {"hand": "two_pair", "rank": "A", "pays": 3},
        {"hand": "two_pair", "rank": "2", "jackpot_share_percent": 1},
        {"hand": "two_pair", "pays": 1},
    ],
    "bonus_dealer": None,
}


def house(start: str | Json, changes: dict[str, object]) -> Json:
    """A ruleset with some keys, given by dotted paths, set to other values or taken out."""
    changed: Json = deepcopy(ruleset_object(shipped(start)) if isinstance(start, str) else start)
    for path, value in changes.items():
        place: Any = changed
        *way, last = path.split(".")
        for step in way:
            place = place[int(step) if isinstance(place, list) else step]
        key: Any = int(last) if isinstance(place, list) else last
        if value is GONE:
            del place[key]
        else:
            place[key] = value
    return changed


def refusal(obj: object) -> tuple[str, str]:
    error = parse_ruleset(obj)
    assert isinstance(error, RulesetError), error
    return error.key, error.message


LIVE = "live-shared@1"
FOUR = "four-box@1"
THREE = "three-box@1"
DARK = "dark-boxes@1"
SHARE = "bonus_player.1.jackpot_share_percent"
TWO_WINDOWS = ["options", "final_options"]


def all_paths(obj: Any, before: str = "") -> list[str]:
    """The dotted path of every key, of objects and of what they hold."""
    found = []
    for key, value in obj.items():
        found.append(before + key)
        if isinstance(value, dict):
            found += all_paths(value, f"{before}{key}.")
    return found


@pytest.mark.parametrize("path", all_paths(ruleset_object(shipped(FOUR))))
def test_every_key_must_be_there(path: str) -> None:
    assert refusal(house(FOUR, {path: GONE})) == (
        path,
        "is missing; every parameter is stated, none is assumed",
    )


@pytest.mark.parametrize("path", ["", *(f"{part}." for part in DEEP)])
def test_no_key_may_be_there_that_means_nothing(path: str) -> None:
    key, message = refusal(house(FOUR, {f"{path}insurence": 1}))
    assert (key, message.partition(";")[0]) == (f"{path}insurence", "is not a parameter")


@pytest.mark.parametrize("path", all_paths(ruleset_object(shipped(FOUR))))
@pytest.mark.parametrize("wrong", [1.5, -1, "maybe", [[]], {"a": 1}], ids=str)
def test_every_key_refuses_other_types_and_values_by_name(path: str, wrong: object) -> None:
    if path == "title" and wrong == "maybe":
        wrong = 7
    key, message = refusal(house(FOUR, {path: wrong}))
    assert key.startswith(path)
    assert message


WRONG: list[tuple[str | Json, dict[str, object], str, str]] = [
    # single keys
    (LIVE, {"id": "Live@1"}, "id", "must be name@version"),
    (LIVE, {"id": "live"}, "id", "must be name@version"),
    (LIVE, {"id": "live@0"}, "id", "must be name@version"),
    (LIVE, {"id": "live@01"}, "id", "must be name@version"),
    (LIVE, {"id": "-live@1"}, "id", "must be name@version"),
    (LIVE, {"id": "li--ve@1"}, "id", "must be name@version"),
    (LIVE, {"id": "live@1\n"}, "id", "must be 1 to 64 printable characters"),
    (LIVE, {"id": "a" * 63 + "@1"}, "id", "must be 1 to 64 printable characters"),
    (LIVE, {"title": ""}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": " x"}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": "a\u0000b"}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": "\ud800"}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": "x "}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": "a\u202eb"}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"title": "a\u200bb"}, "title", "must be 1 to 100 printable characters"),
    (LIVE, {"table": "shard"}, "table", 'must be one of shared, exclusive; not "shard"'),
    (LIVE, {"table": True}, "table", "must be one of shared, exclusive; not true"),
    (LIVE, {"boxes": True}, "boxes", "must be an integer of 1 to 9, not true"),
    (LIVE, {"boxes": "3"}, "boxes", 'must be an integer of 1 to 9, not "3"'),
    (LIVE, {"boxes": 10}, "boxes", "must be 1 to 9, not 10"),
    (LIVE, {"boxes": 10**20}, "boxes", "must be 1 to 9, not a very large number"),
    (LIVE, {"box_kinds": []}, "box_kinds", "must have 1 to 9 items, not 0"),
    (LIVE, {"box_kinds": "open"}, "box_kinds", 'must be a list, not "open"'),
    (LIVE, {"box_kinds.1": "shut"}, "box_kinds.1", 'must be one of open, blind, any; not "shut"'),
    (LIVE, {"seating": []}, "seating", "must be an object, not a list"),
    (LIVE, {"seating.open_boxes_max": 0}, "seating.open_boxes_max", "must be 1 to 3, not 0"),
    (LIVE, {"seating.neighbours_only": 0}, "seating.neighbours_only", "must be true or false, not 0"),
    (LIVE, {"exchange_max": 0}, "exchange_max", "must be 1 to 5, not 0"),
    (LIVE, {"exchange_max": 6}, "exchange_max", "must be 1 to 5, not 6"),
    (LIVE, {"exchange_max": None}, "exchange_max", "must be an integer of 1 to 5, not null"),
    (LIVE, {"windows": ["options", "final"]}, "windows.1", "must be one of options, final_options, purchase"),
    (LIVE, {"insurance.fraction": "1/2"}, "insurance.fraction", 'must be an object, not "1/2"'),
    (LIVE, {"insurance.fraction": 0.5}, "insurance.fraction", "must be an object, not a float"),
    (LIVE, {"insurance.fraction.numerator": 0}, "insurance.fraction.numerator", "must be 1 to 10000, not 0"),
    (LIVE, {"insurance.fraction.denominator": 0}, "insurance.fraction.denominator", "must be 1 to 10000"),
    (LIVE, {"insurance.fraction.numerator": 3}, "insurance.fraction", "3/2 is more than the whole"),
    # bonus tables
    (LIVE, {"bonus_player": []}, "bonus_player", "must have 1 to 40 items, not 0"),
    (LIVE, {"bonus_player": {}}, "bonus_player", "must be a list, not an object"),
    (LIVE, {"bonus_player.3": 75}, "bonus_player.3", "must be an object, not 75"),
    (LIVE, {"bonus_player.3.hand": "nothing"}, "bonus_player.3.hand", "must be one of royal_flush"),
    (LIVE, {"bonus_player.3.hand": GONE}, "bonus_player.3.hand", "is missing"),
    (LIVE, {"bonus_player.3.odds": 75}, "bonus_player.3.odds", "is not a parameter"),
    (LIVE, {"bonus_player.3.pays": 0}, "bonus_player.3.pays", "must be 1 to 1000000, not 0"),
    (LIVE, {"bonus_player.3.pays": GONE}, "bonus_player.3", "must have either pays or jackpot_share_percent"),
    (LIVE, {"bonus_player.3.jackpot_share_percent": 5}, "bonus_player.3", "must have either pays or"),
    (LIVE, {"bonus_player.3.rank": "7"}, "bonus_player.3.rank", "only three_of_a_kind and two_pair can be"),
    (LIVE, {"bonus_player.6.rank": 7}, "bonus_player.6.rank", "must be one of 2, 3, 4"),
    (LIVE, {"bonus_player.6.rank": "10"}, "bonus_player.6.rank", "must be one of 2, 3, 4"),
    (LIVE, {"bonus_player.6.rank": None}, "bonus_player.6.rank", "must be one of 2, 3, 4"),
    (LIVE, {"bonus_player.4.hand": "full_house"}, "bonus_player.4", "can never be paid"),
    (MINIMAL, {"bonus_player.1.rank": GONE}, "bonus_player.2", "can never be paid"),
    (MINIMAL, {"bonus_player.1.rank": "A"}, "bonus_player.1", "can never be paid"),
    (MINIMAL, {"bonus_player.0.rank": GONE}, "bonus_player.1", "can never be paid"),
    (DARK, {SHARE: 0}, SHARE, "must be 1 to 100, not 0"),
    (DARK, {SHARE: 101}, SHARE, "must be 1 to 100, not 101"),
    (LIVE, {"bonus_dealer.0": {"hand": "flush", "jackpot_share_percent": 5}},
        "bonus_dealer.0.jackpot_share_percent", "only the box's own bonus"),
    # contradictions
    (LIVE, {"box_kinds": ["blind", "open"]}, "box_kinds", "must have one entry for each of the 3 boxes"),
    (LIVE, {"open_cards": "private"}, "open_cards", "must be public on a shared table"),
    (LIVE, {"box_kinds.0": "any"}, "box_kinds", "must be open or blind for each box of a shared table"),
    (LIVE, {"box_kinds.1": "blind"}, "box_kinds", "must let at least one box be open"),
    (LIVE, {"seating.open_boxes_max": 2}, "seating.open_boxes_max", "must be at most 1"),
    (LIVE, {"seating.blind_boxes_max": 3}, "seating.blind_boxes_max", "must be at most 2"),
    (LIVE, {"seating.blind_boxes_max": 0}, "seating.blind_boxes_max", "must not be 0"),
    (THREE, {"seating.blind_boxes_max": None}, "seating.blind_boxes_max", "must be 0: no box can be blind"),
    (THREE, {"seating.blind_boxes_max": 1}, "seating.blind_boxes_max", "must be at most 0"),
    (THREE, {"seating.blind_needs_open_boxes": 1}, "seating.blind_needs_open_boxes", "must be 0"),
    (FOUR, {"seating.blind_needs_open_boxes": 3}, "seating.blind_needs_open_boxes", "is more than"),
    (LIVE, {"windows": ["options", "final_options"]}, "windows", "must be options, final_options, purchase"),
    (LIVE, {"windows": ["options", "purchase", "final_options"]}, "windows", "must be options"),
    (LIVE, {"windows": ["options", "options", "purchase"]}, "windows", "must be options, final_options"),
    (MINIMAL, {"windows": ["options", "final_options", "purchase"]}, "windows", "must be options"),
    (MINIMAL, {"windows": ["final_options"]}, "windows", "must be options, final_options, in"),
    (LIVE, {"purchase": None, "windows": TWO_WINDOWS}, "insurance.may_purchase", "must be false"),
    (FOUR, {"insurance": None}, "cap_includes_insurance", "must be false: there is no insurance"),
    (THREE, {"purchase.blind_boxes": True}, "purchase.blind_boxes", "must be false: no box can be blind"),
    (LIVE, {"boxes": 9, "box_kinds": ["blind"] * 2 + ["open"] * 7}, "boxes", "would need 56 cards of 52"),
    (FOUR, {"boxes": 9, "box_kinds": ["any"] * 9}, "boxes", "would need 54 cards of 52"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "changes", "key", "message"), WRONG)
def test_what_is_refused_names_the_key_and_why(
    start: str | Json, changes: dict[str, object], key: str, message: str
) -> None:
    found = refusal(house(start, changes))
    assert found[0] == key
    assert found[1].startswith(message)


@pytest.mark.parametrize("obj", [None, [], "live-shared@1", 1], ids=str)
def test_what_is_no_object_is_refused_as_a_whole(obj: object) -> None:
    key, message = refusal(obj)
    assert (key, message.partition(",")[0]) == ("", "must be an object")


def test_a_key_that_is_no_text_is_refused() -> None:
    odd: Any = {**MINIMAL}
    odd[5] = 1
    assert refusal(odd)[0] == "5"


def test_a_small_house_of_its_own() -> None:
    ruleset = parse_ruleset(MINIMAL)
    assert isinstance(ruleset, Ruleset)
    assert ruleset == Ruleset(
        id="north-hall-2@17",
        title="Nördliche Halle",
        table="exclusive",
        boxes=1,
        box_kinds=("open",),
        open_cards="public",
        seating=Seating(1, 0, 0, neighbours_only=False, equal_antes="no"),
        windows=("options", "final_options"),
        exchange_max=1,
        insurance=None,
        purchase=None,
        cap_includes_insurance=False,
        paired_straight="straight_and_pair",
        bonus_player=(
            BonusRow("two_pair", 12, 3, None),
            BonusRow("two_pair", 0, None, 1),
            BonusRow("two_pair", None, 1, None),
        ),
        bonus_dealer=None,
        sha256=ruleset.sha256,
    )
    assert ruleset_object(ruleset) == MINIMAL


def test_insurance_of_a_third_and_nine_boxes_are_possible() -> None:
    changes: dict[str, object] = {
        "insurance.fraction": {"numerator": 1, "denominator": 3},
        "boxes": 9,
        "box_kinds": ["any"] * 9,
        "purchase.same_rank_redraw": "once",
    }
    ruleset = parse_ruleset(house(FOUR, changes))
    assert isinstance(ruleset, Ruleset)
    assert ruleset.insurance == InsuranceRules(
        fraction=Fraction(1, 3),
        on_tie="returned",
        when_beaten="returned",
        ante_on_no_game="one_to_one",
        may_purchase=True,
    )


def test_the_shortest_and_longest_title() -> None:
    assert [type(parse_ruleset(MINIMAL | {"title": title})) for title in ("N", "N" * 100, "N" * 101)] == [
        Ruleset,
        Ruleset,
        RulesetError,
    ]


def test_the_order_of_keys_does_not_matter_and_any_value_does() -> None:
    plain = parse_ruleset(MINIMAL)
    turned = parse_ruleset(dict(reversed(MINIMAL.items())))
    other = parse_ruleset({**MINIMAL, "title": "Nordhalle"})
    assert isinstance(plain, Ruleset)
    assert isinstance(other, Ruleset)
    assert plain == turned
    assert plain.sha256 != other.sha256


def test_schema_accepts_and_refuses_likewise() -> None:
    """Whatever the schema refuses the parser refuses; the parser also knows the contradictions."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert validator.is_valid(MINIMAL)
    refused = [row[2] for row in WRONG if not validator.is_valid(house(row[0], row[1]))]
    beyond = [row[2] for row in WRONG if validator.is_valid(house(row[0], row[1]))]
    assert len(refused) > 40
    assert {key.partition(".")[0] for key in beyond} <= {
        "id", "title", "box_kinds", "open_cards", "seating", "boxes", "insurance", "bonus_player", "windows",
        "purchase", "cap_includes_insurance",
    }  # fmt: skip
