from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rules_core.round.limits import AmountRange, Durations
from rules_core.round.refusal import Refusal
from tests.table.domain.tables import CHIPS, RULESETS, config_of, limits_of
from upcard_table.domain.config import ChipValues, TableConfig, check_config, ruleset_of

SHARED = limits_of("live-shared@1")
DARK = limits_of("dark-boxes@1")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_ruleset_has_a_configuration(ruleset: str) -> None:
    config = config_of(ruleset)
    assert check_config(config) is None
    assert ruleset_of(config).id == ruleset


def test_several_currencies_each_with_limits_and_chips() -> None:
    config = config_of(
        limits=(SHARED, replace(SHARED, currency="JPY")),
        chips=(ChipValues("JPY", CHIPS), ChipValues("EUR", CHIPS)),
    )
    assert check_config(config) is None
    assert config.limits_in("JPY") == replace(SHARED, currency="JPY")
    assert config.limits_in("SEK") is None


@pytest.mark.parametrize(
    ("code", "key", "changes"),
    [
        ("name_invalid", "name", {"name": ""}),
        ("name_invalid", "name", {"name": "x" * 65}),
        ("name_invalid", "name", {"name": "two\nlines"}),
        ("durations_invalid", "betting_ms", {"durations": Durations(0, 1, 1, 1, 0)}),
        ("durations_invalid", "confirm_cards_ms", {"confirm_cards_ms": 0}),
        ("durations_invalid", "close_drain_ms", {"close_drain_ms": -1}),
        ("durations_invalid", "close_drain_ms", {"close_drain_ms": 10_001}),
        ("durations_invalid", "default_hold_ms", {"default_hold_ms": 10_001}),
        ("limits_invalid", "limits", {"limits": ()}),
        ("limits_invalid", "limits", {"limits": (SHARED, SHARED)}),
        ("limits_invalid", "ante", {"limits": (replace(SHARED, ante=AmountRange(100, 99)),)}),
        ("chips_invalid", "chips", {"chips": ()}),
        ("chips_invalid", "chips", {"chips": (ChipValues("SEK", CHIPS),)}),
        ("chips_invalid", "chips", {"chips": (ChipValues("EUR", CHIPS[:9]),)}),
        ("chips_invalid", "chips", {"chips": (ChipValues("EUR", CHIPS[::-1]),)}),
        ("chips_invalid", "chips", {"chips": (ChipValues("EUR", (100, *CHIPS[:9])),)}),
        ("chips_invalid", "chips", {"chips": (ChipValues("EUR", (50, *CHIPS[1:])),)}),
        ("chips_invalid", "chips", {"chips": (ChipValues("EUR", (0, *CHIPS[1:])),)}),
        ("jackpot_not_played", "jackpot", {"jackpot": "jackpot-1"}),
    ],
)
def test_what_no_table_can_have_names_its_key(code: str, key: str, changes: dict[str, Any]) -> None:
    refused(config_of(**changes), code, key)


def test_a_ruleset_that_nobody_ships_is_refused() -> None:
    refused(replace(config_of(), ruleset="house@1"), "ruleset_unknown", "ruleset")


@pytest.mark.parametrize(
    ("code", "key", "changes"),
    [
        ("jackpot_missing", "jackpot", {"jackpot": None}),
        ("word_invalid", "jackpot", {"jackpot": "a jackpot"}),
        ("jackpot_stake_varies", "limits", {"limits": (replace(DARK, bonus_player=AmountRange(100, 200)),)}),
        ("jackpot_currency_invalid", "limits", {"limits": (replace(DARK, bonus_player=None),)}),
        (
            "jackpot_currency_invalid",
            "limits",
            {
                "limits": (DARK, replace(DARK, currency="SEK")),
                "chips": (ChipValues("EUR", CHIPS), ChipValues("SEK", CHIPS)),
            },
        ),
    ],
)
def test_6_a_jackpot_has_one_currency_and_one_stake(code: str, key: str, changes: dict[str, Any]) -> None:
    refused(config_of("dark-boxes@1", **changes), code, key)


def test_6_a_jackpots_stake_may_vary_where_the_house_says_so() -> None:
    limits = (replace(DARK, bonus_player=AmountRange(100, 200)),)
    assert check_config(config_of("dark-boxes@1", limits=limits, jackpot_stake_may_vary=True)) is None


def test_without_bonus_b_no_jackpot_is_needed() -> None:
    config = config_of("dark-boxes@1", limits=(replace(DARK, bonus_player=None),), jackpot=None)
    assert check_config(config) is None


def refused(config: TableConfig, code: str, key: str) -> None:
    found = check_config(config)
    assert isinstance(found, Refusal)
    assert (found.code, found.data["key"]) == (code, key)
    assert found.message
