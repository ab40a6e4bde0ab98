"""Opening a round pins rules, engine and limits (RULES.md 5, last line; ARCHITECTURE.md, The log, 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round.limits import AmountRange, BoxLimits, CurrencyLimits, Durations
from rules_core.rulesets.shipped import shipped
from tests.rules_core.round.scripted import DURATIONS, Scripted, limits_for

DAY_MS = 24 * 60 * 60 * 1000
MOST = 2**53 - 1
LIVE = limits_for(shipped("live-shared@1"))
CLASSIC = limits_for(shipped("classic@1"))


def opening(ruleset: str = "live-shared@1", **changes: object) -> tuple[Scripted, c.OpenRound]:
    """A new round, and what opens it with something changed."""
    new = Scripted(ruleset)
    return new, replace(new.open_command(), **changes)  # type: ignore[arg-type]  # any field of the command


@pytest.mark.parametrize(
    ("key", "value"),
    [("ruleset", "live-shared@2"), ("ruleset", "classic@1"), ("ruleset_sha256", "00" * 32)],
)
def test_the_ruleset_is_the_one_that_decides(key: str, value: str) -> None:
    new = Scripted("live-shared@1")
    command = replace(new.open_command(), **{key: value})  # type: ignore[arg-type]  # one of two texts
    new.when(command).refused("ruleset_differs", ruleset="live-shared@1")


@pytest.mark.parametrize("engine", [0, 2])
def test_the_engine_is_the_one_that_decides(engine: int) -> None:
    new, command = opening(engine=engine)
    new.when(command).refused("engine_differs", engine=1)


@pytest.mark.parametrize("number", [0, -1])
def test_rounds_are_numbered_from_one(number: int) -> None:
    new, command = opening(number=number)
    new.when(command).refused("round_number_invalid", number=number)


@pytest.mark.parametrize("key", ["betting_ms", "options_ms", "final_options_ms", "purchase_ms"])
@pytest.mark.parametrize("length", [0, -1, DAY_MS + 1])
def test_every_window_has_a_bounded_length(key: str, length: int) -> None:
    new, command = opening(durations=replace(DURATIONS, **{key: length}))
    new.when(command).refused("durations_invalid", key=key)


@pytest.mark.parametrize("length", [-1, DAY_MS + 1])
def test_extensions_are_bounded(length: int) -> None:
    new, command = opening(durations=replace(DURATIONS, extension_max_ms=length))
    new.when(command).refused("durations_invalid", key="extension_max_ms")


@pytest.mark.parametrize("length", [1, DAY_MS])
def test_a_window_from_a_millisecond_to_a_day(length: int) -> None:
    new, command = opening(durations=Durations(length, length, length, length, DAY_MS))
    assert isinstance(new.when(command).decision, tuple)


@pytest.mark.parametrize("limits", [(), (LIVE, LIVE)])
def test_limits_are_for_one_currency_or_more_each_once(limits: tuple[CurrencyLimits, ...]) -> None:
    new, command = opening(limits=limits)
    new.when(command).refused("limits_invalid")


WRONG: list[tuple[str, dict[str, object]]] = [
    ("currency", {"currency": "eur"}),
    ("currency", {"currency": "EURO"}),
    ("currency", {"currency": ""}),
    ("currency", {"currency": "ÄÖÜ"}),
    ("chip", {"chip": 0}),
    ("chip", {"chip": -50}),
    ("chip", {"chip": MOST + 1}),
    ("ante", {"ante": AmountRange(0, 5_000)}),
    ("ante", {"ante": AmountRange(200, 100)}),
    ("ante", {"ante": AmountRange(100, 5_001)}),
    ("ante", {"ante": AmountRange(101, 5_000)}),
    ("ante", {"chip": 1, "ante": AmountRange(100, MOST + 1)}),
    ("bonus_player", {"bonus_player": AmountRange(0, 100)}),
    ("bonus_dealer", {"bonus_dealer": AmountRange(50, 75)}),
    ("boxes", {"boxes": (BoxLimits(0),)}),
    ("boxes", {"boxes": (BoxLimits(4),)}),
    ("boxes", {"boxes": (BoxLimits(2), BoxLimits(2))}),
    ("boxes.2.ante", {"boxes": (BoxLimits(2, AmountRange(100, 10)),)}),
    ("boxes.2.max_payout", {"boxes": (BoxLimits(2, max_payout=-1),)}),
    ("insurance_max", {"insurance_max": -1}),
    ("max_payout", {"max_payout": -1}),
    ("max_payout", {"max_payout": MOST + 1}),
    ("player_total_max", {"player_total_max": -1}),
]


@pytest.mark.parametrize(
    ("key", "changes"), WRONG, ids=[f"{key} {number}" for number, (key, _) in enumerate(WRONG)]
)
def test_limits_that_cannot_hold(key: str, changes: dict[str, object]) -> None:
    new, command = opening(limits=(replace(LIVE, **changes),))  # type: ignore[arg-type]  # any field of the limits
    new.when(command).refused("limits_invalid", key=key)


@pytest.mark.parametrize("key", ["bonus_player", "bonus_dealer"])
def test_limits_of_a_bonus_that_the_ruleset_has_not(key: str) -> None:
    with_bonus = replace(CLASSIC, **{key: AmountRange(50, 100)})  # type: ignore[arg-type]  # one of two fields
    new, command = opening("classic@1", limits=(with_bonus,))
    new.when(command).refused("limits_invalid", key=key)


def test_a_table_may_take_no_bonus_though_the_ruleset_has_one() -> None:
    new, command = opening(limits=(replace(LIVE, bonus_player=None, bonus_dealer=None),))
    assert isinstance(new.when(command).decision, tuple)


def test_limits_at_their_bounds() -> None:
    limits = replace(
        LIVE,
        chip=1,
        ante=AmountRange(1, MOST // 1_000_000),
        insurance_max=0,
        max_payout=MOST,
        player_total_max=0,
        boxes=(BoxLimits(1, AmountRange(5, 5), 0), BoxLimits(3)),
    )
    new, command = opening(limits=(limits,))
    assert isinstance(new.when(command).decision, tuple)
