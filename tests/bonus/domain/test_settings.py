"""Which jackpots there can be, and what changing one does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bonus.domain.pools import NEXT_SECRET, SECRET, after, pool_of
from upcard_bonus.domain.jackpot_events import JackpotChanged, JackpotSeeded, JackpotSettings
from upcard_bonus.domain.jackpot_settings import (
    LARGEST_POOL,
    MILLION,
    MOST_TABLES,
    change_jackpot,
    open_jackpot,
)
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.domain.secret_size import secret_size

SETTINGS = JackpotSettings(1_000, 10_000, None, reseed=True, tables=("t1", "t2"))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (replace(SETTINGS, seed=-1), "seed_invalid"),
        (replace(SETTINGS, seed=LARGEST_POOL + 1), "seed_invalid"),
        (replace(SETTINGS, contribution_ppm=-1), "contribution_invalid"),
        (replace(SETTINGS, contribution_ppm=MILLION + 1), "contribution_invalid"),
        (replace(SETTINGS, must_hit_by=1_000), "must_hit_by_invalid"),
        (replace(SETTINGS, must_hit_by=LARGEST_POOL + 1), "must_hit_by_invalid"),
        (replace(SETTINGS, must_hit_by=1_001, reseed=False), "must_hit_by_needs_reseeding"),
        (replace(SETTINGS, tables=("t1", "t1")), "tables_invalid"),
        (replace(SETTINGS, tables=("t/1",)), "tables_invalid"),
        (replace(SETTINGS, tables=tuple(f"t{n}" for n in range(MOST_TABLES + 1))), "tables_invalid"),
    ],
)
def test_impossible_settings_are_refused(settings: JackpotSettings, reason: str) -> None:
    assert open_jackpot("j1", "op1", "EUR", settings, SECRET) == Refused(reason)
    assert change_jackpot(pool_of(), settings, SECRET) == Refused(reason)


def test_impossible_ids_are_refused() -> None:
    assert open_jackpot("j/1", "op1", "EUR", SETTINGS, SECRET) == Refused("id_invalid")
    assert open_jackpot("j1", "", "EUR", SETTINGS, SECRET) == Refused("id_invalid")
    assert open_jackpot("j1", "op1", "eur", SETTINGS, SECRET) == Refused("currency_invalid")


def test_the_same_settings_change_nothing() -> None:
    state = pool_of()
    assert change_jackpot(state, state.settings, SECRET) == ()


def test_a_cycle_keeps_its_size_when_the_largest_one_changes() -> None:
    state = pool_of(must_hit_by=5_000)
    settings = replace(state.settings, must_hit_by=9_000)
    events = change_jackpot(state, settings, NEXT_SECRET)
    assert events == (JackpotChanged("j1", settings),)
    assert after(state, events).size == state.size


def test_a_jackpot_that_gets_a_size_begins_a_new_cycle() -> None:
    state = pool_of(2_000)
    settings = replace(state.settings, must_hit_by=5_000)
    events = change_jackpot(state, settings, NEXT_SECRET)
    assert not isinstance(events, Refused)
    size = secret_size(NEXT_SECRET, 2_000, 5_000)
    assert events == (
        JackpotChanged("j1", settings),
        JackpotSeeded("j1", "op1", "EUR", 0, 2_000, 2, "new_cycle", None, size),
    )
    assert after(state, events).size == size
    assert change_jackpot(pool_of(5_000), settings, SECRET) == Refused("must_hit_by_reached")
