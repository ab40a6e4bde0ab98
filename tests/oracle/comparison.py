"""The same cases settled by rules_core and by the oracle."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from rules_core.settlement.case_json import parse_case
from rules_core.settlement.model import CaseError
from rules_core.settlement.result_json import error_object, settlement_object
from rules_core.settlement.settle import settle
from tests.oracle.cases import case_of_house, random_case
from tests.oracle.checks import Case
from tests.oracle.features import features_of
from tests.oracle.houses import House, random_house
from tests.oracle.mutations import mutate_case
from tests.oracle.settlement import Result, settle_slow, why_broken

DIFFERENCES_SHOWN = 5


@dataclass
class Tally:
    """What was compared, and where the two did not agree."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def compare(self, case: Case, kind: str, house: House | None = None) -> Result:
        """Settle the case twice and note the outcome; gives the oracle's result."""
        rules = house.rules if house else None
        slow = settle_slow(case, rules)
        core = core_result({**case, "ruleset": house.as_json} if house else case)
        self.counts[f"{kind} case"] += 1
        if slow != core:
            self.differences.append(difference(case, slow, core, house))
        if "error" in slow:
            self.counts[f"refused: {without_details(str(why_broken(case, rules)))}"] += 1
        else:
            self.counts[f"{kind} case, settled"] += 1
            self.counts.update(features_of(case, slow, rules))
        return slow

    def shown(self) -> str:
        """The first differences, for the message of a failed test."""
        first = "\n\n".join(self.differences[:DIFFERENCES_SHOWN])
        return f"{len(self.differences)} differences\n\n{first}"

    def report(self) -> str:
        """Every count, a line each."""
        return "\n".join(f"{count:8} {name}" for name, count in sorted(self.counts.items()))


def compare_random(seed: int, cases: int, mutations: int) -> Tally:
    """Compare so many random cases, and so many that come from a good one by one change."""
    rng, tally = random.Random(seed), Tally()
    for number in range(cases):
        case = random_case(rng)
        slow = tally.compare(case, "random")
        due = mutations * (number + 1) // cases
        while "error" not in slow and tally.counts["changed case"] < due:
            tally.compare(mutate_case(rng, case), "changed")
    return tally


def compare_own_houses(seed: int, cases: int) -> Tally:
    """Compare so many random cases, each of a house that has mixed its rules anew."""
    rng, tally = random.Random(seed), Tally()
    for _ in range(cases):
        house = random_house(rng)
        tally.compare(case_of_house(rng, house.name, house.rules), "own house's", house)
    return tally


def core_result(case: Case) -> Result:
    """What rules_core says of the case, less reasons and digest; `{"error": True}` for a refusal."""
    parsed = parse_case(deepcopy(case))
    settlement = parsed if isinstance(parsed, CaseError) else settle(parsed)
    if isinstance(settlement, CaseError):
        check_error(error_object(settlement), case)
        return {"error": True}
    result: dict[str, Any] = settlement_object(settlement)
    digest = result.pop("ruleset_sha256")
    assert re.fullmatch("[0-9a-f]{64}", digest)
    for box in result["boxes"]:
        for line in box["lines"]:
            assert re.fullmatch("[a-z][a-z_]*", line.pop("reason"))
    return result


def check_error(error: dict[str, Any], case: Case) -> None:
    """A refusal has a code and a message, and names a box of the case or none (CONTRACTS.md section 1)."""
    assert set(error) == {"error"}
    detail = error["error"]
    assert {"code", "message"} <= set(detail) <= {"code", "message", "box", "player"}, detail
    assert re.fullmatch("[a-z][a-z_]*", detail["code"])
    assert detail["message"]
    for key in ("box", "player"):
        if key in detail:
            assert detail[key] in [box.get(key) for box in case["boxes"]], detail


def difference(case: Case, slow: Result, core: Result, house: House | None) -> str:
    """A case on which the two do not agree, so that it can be settled by hand."""
    lines = ["case   " + json.dumps(case), "oracle " + json.dumps(slow), "core   " + json.dumps(core)]
    if "error" in slow:
        lines.append(f"the oracle refuses: {why_broken(case, house.rules if house else None)}")
    if house:
        lines.append("house  " + json.dumps(house.as_json))
    return "\n".join(lines)


def without_details(words: str) -> str:
    """The rule, without the figures and the card of this case."""
    return re.sub(r"\d+|'.*'", "..", words)
