"""A case written as JSON and read again; the bytes of a result (CONTRACTS.md section 1)."""

from __future__ import annotations

import random
import re
from pathlib import Path

from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.case_json import case_object, parse_case
from rules_core.settlement.model import WAGER_ORDER, Case, CaseError, Line, Settlement
from rules_core.settlement.reasons import REASONS
from rules_core.settlement.result_json import error_object, line_object
from rules_core.settlement.settle import settle
from tests.oracle.cases import random_case
from tests.rules_core.settling import QUEENS, Json, blind, box, case

DOCUMENT = Path(__file__).parents[2] / "docs" / "settlement-reasons.md"
TRIPS = "9s 9h 9d 4c 2d"
PAIR = "8s 8h 5d 4c 3d"


def read(wanted: Json) -> Case:
    found = parse_case(wanted)
    assert isinstance(found, Case), found
    return found


def test_whole_case_is_written_as_it_was_read() -> None:
    """One of each option, a free bet, and caps of a box's own beside the case's."""
    free = {"stake": 10, "funding": "free-1"}
    wanted = case(
        "live-shared@1",
        QUEENS,
        box(PAIR, "exchange", "Kd 7s", (4, 2), ante=free),
        box(PAIR, "sixth", "Kd", player="p2", bonus_player=free, max_payout=None),
        box(PAIR, "none", player="p3", final="fold", max_payout=7),
        box(PAIR, "fold", player="p4"),
        blind(TRIPS, bonus_dealer=free),
        cap=500,
    )
    assert case_object(read(wanted)) == wanted


def test_case_that_is_read_twice_is_the_same() -> None:
    dice = random.Random(5)
    for _ in range(300):
        found = parse_case(random_case(dice))
        if isinstance(found, Case):
            assert read(case_object(found)) == found


def test_house_ruleset_is_written_whole() -> None:
    own = ruleset_object(shipped("classic@1")) | {"id": "my-house@1", "exchange_max": 3}
    wanted = case("", QUEENS, box(TRIPS)) | {"ruleset": own}
    assert case_object(read(wanted)) == wanted


def test_any_script_can_write_a_player() -> None:
    wanted = case("classic@1", QUEENS, box(TRIPS, player="игрок 🂡"))
    assert case_object(read(wanted)) == wanted


def test_case_without_boxes_can_be_written() -> None:
    wanted = case("classic@1", QUEENS)
    assert case_object(read(wanted)) == wanted


def test_line_shows_share_and_funding_only_where_there_is_one() -> None:
    plain = {"wager": "ante", "stake": 1, "returned": 2, "reason": "r"}
    assert line_object(Line("ante", 1, 2, "r")) == plain
    assert line_object(Line("ante", 1, 2, "r", 10, "f")) == plain | {
        "jackpot_share_percent": 10,
        "funding": "f",
    }


def test_error_shows_box_and_player_only_where_there_is_one() -> None:
    assert error_object(CaseError("c", "m")) == {"error": {"code": "c", "message": "m"}}
    assert error_object(CaseError("c", "m", 2, "p")) == {
        "error": {"code": "c", "message": "m", "box": 2, "player": "p"}
    }


def test_reasons_are_slugs_that_begin_with_their_wager() -> None:
    assert len(set(REASONS)) == len(REASONS)
    assert [slug for slug in REASONS if not slug.startswith(WAGER_ORDER)] == []


def test_every_reason_occurs_and_no_other() -> None:
    dice = random.Random(2)
    jackpot = case("dark-boxes@1", QUEENS, box("9s 8s 7s 6s 5s", bonus_player=1))
    found = {
        line.reason
        for wanted in [jackpot, *(random_case(dice) for _ in range(600))]
        if isinstance(parsed := parse_case(wanted), Case) and isinstance(result := settle(parsed), Settlement)
        for entry in result.boxes
        for line in entry.lines
    }
    assert sorted(found) == list(REASONS)


def test_every_reason_is_documented_in_order_of_the_wagers() -> None:
    slugs = re.findall(r"^\| `(\w+)` \|", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(slugs) == list(REASONS)
    assert slugs == sorted(slugs, key=lambda slug: [slug.startswith(wager) for wager in WAGER_ORDER][::-1])
