"""Every golden settlement, to the unit, the order of its lines included (tests/golden/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rules_core.engine import ENGINE
from rules_core.rulesets.shipped import shipped
from rules_core.settlement.case_json import case_object, parse_case
from rules_core.settlement.codes import CASE_ERRORS
from rules_core.settlement.model import WAGER_ORDER, Case
from rules_core.settlement.reasons import REASONS
from tests.rules_core.settling import outcome_of

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "settlements.json").read_bytes())
SETTLED = [row for row in GOLDEN if row.get("expected") != {"rejected": True}]
REJECTED = [row for row in GOLDEN if row.get("expected") == {"rejected": True}]


def sums(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    return {line["wager"]: {"stake": line["stake"], "returned": line["returned"]} for line in lines}


def name(row: dict[str, Any]) -> str:
    return f"{row['id']}: {row['about']}"


@pytest.mark.parametrize("row", SETTLED, ids=name)
def test_golden_case_settles_to_the_unit(row: dict[str, Any]) -> None:
    result = outcome_of(row["case"])
    entries = [entry | {"lines": sums(entry["lines"])} for entry in result["boxes"]]
    assert entries == row.get("expected_boxes", [row.get("expected")])


@pytest.mark.parametrize("row", SETTLED, ids=name)
def test_golden_case_has_its_lines_in_order_and_a_known_reason_for_each(row: dict[str, Any]) -> None:
    for entry in outcome_of(row["case"])["boxes"]:
        wagers = [line["wager"] for line in entry["lines"]]
        assert wagers == [wager for wager in WAGER_ORDER if wager in wagers]
        assert [line["reason"] for line in entry["lines"] if line["reason"] not in REASONS] == []


@pytest.mark.parametrize("row", SETTLED, ids=name)
def test_golden_case_names_ruleset_digest_and_engine(row: dict[str, Any]) -> None:
    result = outcome_of(row["case"])
    ruleset = row["case"]["ruleset"]
    assert list(result) == ["ruleset", "ruleset_sha256", "engine", "dealer", "boxes"]
    assert (result["ruleset"], result["ruleset_sha256"], result["engine"]) == (
        ruleset,
        shipped(ruleset).sha256,
        ENGINE,
    )


@pytest.mark.parametrize("row", REJECTED, ids=name)
def test_golden_case_that_breaks_a_rule_is_an_error(row: dict[str, Any]) -> None:
    result = outcome_of(row["case"])
    assert list(result) == ["error"]
    assert result["error"]["code"] in CASE_ERRORS


@pytest.mark.parametrize("row", GOLDEN, ids=name)
def test_golden_case_survives_being_written_and_read_again(row: dict[str, Any]) -> None:
    case = parse_case(row["case"])
    assert isinstance(case, Case)
    assert parse_case(case_object(case)) == case
