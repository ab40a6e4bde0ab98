"""Rounds of every ruleset: what is held is what is staked, at every moment, with and without reserves."""

from __future__ import annotations

import pytest

from tests.table.domain.tables import RULESETS
from tests.table.funding.funded import played


@pytest.mark.parametrize("reserve", [False, True], ids=["plain", "reserve"])
@pytest.mark.parametrize("ruleset", RULESETS)
def test_holds_are_stakes_and_reserves(ruleset: str, reserve: bool) -> None:  # noqa: FBT001 - a parameter
    asked = 0
    for seed in range(8):
        table = played(ruleset, seed, 5, reserve=reserve)
        assert table.state.step == "settled"
        asked += table.asked
    assert asked > 8 * 5
