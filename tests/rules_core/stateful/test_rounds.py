"""Stateful properties of the round (RULES.md sections 4 to 7): every house, any commands."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.rules_core.stateful.houses import HOUSES
from tests.rules_core.stateful.machine import RoundMachine

EVERY_HOUSE = pytest.mark.parametrize("name", HOUSES)
SHRUNK = tuple(phase for phase in Phase if phase is not Phase.explain)
FEW = settings(max_examples=25, stateful_step_count=25, phases=SHRUNK)


def play(name: str, profile: settings) -> None:
    def machine() -> RoundMachine:
        return RoundMachine(HOUSES[name])

    run_state_machine_as_test(machine, settings=profile)  # type: ignore[arg-type]  # any factory will do


@EVERY_HOUSE
def test_any_sequence_of_commands(name: str) -> None:
    play(name, FEW)


@pytest.mark.exhaustive
@EVERY_HOUSE
def test_any_sequence_of_commands_at_length(name: str) -> None:
    play(name, settings(FEW, max_examples=120, stateful_step_count=40))
