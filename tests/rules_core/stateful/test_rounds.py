"""Stateful properties of the round (RULES.md sections 4 to 7): every house, any commands."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rules_core.round import commands as c
from rules_core.round.state import Step
from tests.rules_core.stateful.anything import IN_PLACE, MAKERS
from tests.rules_core.stateful.choices import Choices
from tests.rules_core.stateful.houses import HOUSES
from tests.rules_core.stateful.machine import RoundMachine
from tests.rules_core.stateful.sensible import play_until
from tests.rules_core.stateful.table import Table

EVERY_HOUSE = pytest.mark.parametrize("name", HOUSES)
SHRUNK = tuple(phase for phase in Phase if phase is not Phase.explain)
FEW = settings(max_examples=20, stateful_step_count=25, phases=SHRUNK)


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
    play(name, settings(FEW, max_examples=200, stateful_step_count=40))


def test_every_kind_of_command_is_tried_and_every_step_has_some_in_place() -> None:
    house = HOUSES["live-shared"]
    table = Table(house, house.limits[0])
    table.do(table.open_command())
    play_until(table, Choices(1), "settled")
    made = {type(make(Choices(seed), table)) for make in MAKERS for seed in range(40)}
    assert made == set(get_args(c.Command))
    assert set(IN_PLACE) == set(get_args(Step))
