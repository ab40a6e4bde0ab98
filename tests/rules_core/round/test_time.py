"""Time in a round: cut-offs, each window's own length, extensions (ARCHITECTURE.md, Windows)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import WindowKind
from tests.rules_core.round.scripted import DURATIONS, Scripted, ante, at

CARDS = {
    "box.1": "9s 9h 9d 4c 2d",
    "box.2": "8s 8h 8d 4h 2s",
    "dealer": "Qs Jd Th 5c 3d",
    "switch": "6c 7s 5h 3h Jc",
}


def betting() -> Scripted:
    return Scripted("live-shared@1", CARDS).open().place("p1", ante(2)).place("p2", ante(2))


def options() -> Scripted:
    return betting().deal()


def finals() -> Scripted:
    table = options().option("p1", 2, "sixth").option("p2", 2, "sixth")
    table.close_options()
    table.lay()
    table.confirm()
    return table


def purchase() -> Scripted:
    table = finals().final("p1", 2, "bet").final("p2", 2, "bet")
    table.close_finals()
    table.proceed()
    table.proceed()
    return table


At = Callable[[str], c.Command]
Window = tuple[Callable[[], Scripted], WindowKind, int, At, At]
WINDOWS: list[Window] = [
    # how far, kind, when it closes, the closing command, a choice that arrives at some instant
    (
        betting,
        "betting",
        15,
        c.CloseBetting,
        lambda now: c.PlaceBet("p3", "EUR", "n1", (ante(2),), now),
    ),
    (options, "options", 35, c.CloseOptions, lambda now: c.ChooseOption("p1", 2, "bet", now, (), "n1")),
    (
        finals,
        "final_options",
        40,
        c.CloseFinalOptions,
        lambda now: c.ChooseFinalOption("p1", 2, "bet", now, 0, "n1"),
    ),
    (purchase, "purchase", 25, c.ClosePurchase, lambda now: c.MakePurchase("p1", 2, "n1", now)),
]
EACH = pytest.mark.parametrize(
    ("reach", "kind", "seconds", "close", "choose"), WINDOWS, ids=[window[1] for window in WINDOWS]
)


def just_before(seconds: int) -> str:
    return at(seconds - 1, 999).replace("999000Z", "999999Z")


def choice_events(table: Scripted, command: c.Command) -> list[str]:
    """The kinds of events that a choice gives."""
    decision = table.when(command).decision
    assert isinstance(decision, tuple), decision
    return [type(event).__name__ for event in decision]


RECORDED = {
    "betting": "BetPlaced",
    "options": "OptionChosen",
    "final_options": "FinalOptionChosen",
    "purchase": "PurchaseMade",
}


@EACH
def test_each_window_has_its_own_length_and_cut_off(
    reach: Callable[[], Scripted],
    kind: WindowKind,
    seconds: int,
    close: At,
    choose: At,
) -> None:
    table = reach()
    assert table.state.window is not None
    assert (table.state.window.kind, table.state.window.closes_at) == (kind, at(seconds))
    assert choice_events(table, choose(just_before(seconds))) == [RECORDED[kind]]
    assert choice_events(table, choose(at(seconds))) == ["BetDeclined"]
    table.when(close(just_before(seconds))).refused("window_still_open", closes_at=at(seconds))
    assert isinstance(table.when(close(at(seconds))).decision, tuple)


@EACH
def test_an_extension_moves_the_cut_off(
    reach: Callable[[], Scripted],
    kind: WindowKind,
    seconds: int,
    close: At,
    choose: At,
) -> None:
    table = reach()
    command = c.ExtendWindow(at(seconds + 2), 7_000, "fail_over")
    table.when(command).then(
        e.WindowExtended(kind, None, at(seconds + 7), 7_000, "fail_over", at(seconds + 2))
    )
    table.do(command)
    assert choice_events(table, choose(just_before(seconds + 7))) == [RECORDED[kind]]
    assert choice_events(table, choose(at(seconds + 7))) == ["BetDeclined"]
    table.when(close(just_before(seconds + 7))).refused("window_still_open", closes_at=at(seconds + 7))
    assert isinstance(table.when(close(at(seconds + 7))).decision, tuple)


@EACH
def test_one_window_is_extended_by_at_most_the_rounds_setting_in_all(
    reach: Callable[[], Scripted],
    kind: WindowKind,
    seconds: int,
    close: At,
    choose: At,
) -> None:
    del close, choose
    table = reach()
    table.when(c.ExtendWindow(at(seconds), 60_001, "floor")).refused(
        "extension_out_of_range", maximum_ms=60_000
    )
    table.do(c.ExtendWindow(at(seconds), 45_000, "floor"))
    table.when(c.ExtendWindow(at(seconds), 15_001, "fail_over")).refused(
        "extension_out_of_range", maximum_ms=15_000
    )
    table.when(c.ExtendWindow(at(seconds), 15_000, "fail_over")).then(
        e.WindowExtended(kind, None, at(seconds + 60), 15_000, "fail_over", at(seconds))
    )
    table.do(c.ExtendWindow(at(seconds), 15_000, "fail_over"))
    table.when(c.ExtendWindow(at(seconds), 1, "floor")).refused("extension_out_of_range", maximum_ms=0)


@pytest.mark.parametrize("extend_ms", [0, -1, -5_000])
def test_an_extension_adds_time(extend_ms: int) -> None:
    options().when(c.ExtendWindow(at(16), extend_ms, "floor")).refused(
        "extension_out_of_range", maximum_ms=60_000
    )


def test_an_extension_may_be_as_short_as_a_millisecond() -> None:
    options().when(c.ExtendWindow(at(16), 1, "floor")).then(
        e.WindowExtended("options", None, at(35, 1), 1, "floor", at(16))
    )


def test_a_round_may_allow_no_extension() -> None:
    table = Scripted("live-shared@1", durations=replace(DURATIONS, extension_max_ms=0)).open()
    table.when(c.ExtendWindow(at(1), 1, "floor")).refused("extension_out_of_range", maximum_ms=0)


def test_each_window_has_its_own_allowance() -> None:
    table = betting()
    table.do(c.ExtendWindow(at(1), 60_000, "floor"))
    table.deal()
    table.when(c.ExtendWindow(table.now, 60_000, "floor")).then(
        e.WindowExtended("options", None, at(155), 60_000, "floor", at(75))
    )


def test_a_betting_window_that_starts_again_without_bets_uses_up_no_allowance() -> None:
    table = Scripted("live-shared@1").open()
    for number in range(1, 6):
        table.do(c.CloseBetting(at(15 * number)))
    table.when(c.ExtendWindow(at(80), 60_000, "floor")).then(
        e.WindowExtended("betting", None, at(150), 60_000, "floor", at(80))
    )


def test_a_window_of_an_exclusive_box_is_extended_by_its_box() -> None:
    table = Scripted("three-box@1", CARDS).open().place("p1", ante(2)).deal()
    table.when(c.ExtendWindow(at(16), 1_500, "fail_over")).then(
        e.WindowExtended("options", 2, at(36, 500), 1_500, "fail_over", at(16))
    )
    table.option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    table.when(c.ExtendWindow(at(16), 2_000, "floor")).then(
        e.WindowExtended("final_options", 2, at(42), 2_000, "floor", at(16))
    )


def test_an_extended_window_still_closes_early_when_everyone_has_decided() -> None:
    table = options()
    table.do(c.ExtendWindow(at(16), 30_000, "fail_over"))
    table.option("p1", 2, "bet").option("p2", 2, "bet")
    table.when(c.CloseOptions(at(17))).then(e.OptionsClosed(None, at(17), ()))


def test_only_an_open_window_is_extended() -> None:
    table = Scripted("live-shared@1", CARDS)
    table.when(c.ExtendWindow(at(0), 1_000, "floor")).refused("window_not_open")
    table.open().place("p1", ante(2)).close_betting()
    table.when(c.ExtendWindow(at(16), 1_000, "floor")).refused("window_not_open")
    table.lay()
    table.when(c.ExtendWindow(at(16), 1_000, "floor")).refused("window_not_open")


def test_windows_start_when_they_open_not_when_the_one_before_closed() -> None:
    table = betting().close_betting().lay()
    table.when(c.ConfirmCards(at(99), "system")).then(e.OptionsOpened(None, at(99), at(119), "system"))


MALFORMED = [
    "",
    "yesterday",
    "2026-01-01T12:00:01Z",
    "2026-01-01 12:00:01.000000Z",
    "2026-02-30T12:00:01.000000Z",
]


@pytest.mark.parametrize("now", MALFORMED)
def test_a_round_opens_at_an_instant(now: str) -> None:
    new = Scripted("live-shared@1")
    new.when(replace(new.open_command(), at=now)).refused("time_invalid")


@pytest.mark.parametrize("now", ["", "2026-01-01T12:00:01Z", "2026-01-01 12:00:01.000000Z", "0"])
def test_a_bet_arrives_at_an_instant(now: str) -> None:
    betting().when(c.PlaceBet("p3", "EUR", "n1", (ante(2),), now)).refused("time_invalid")


@pytest.mark.parametrize("bets", [True, False])
def test_betting_closes_at_an_instant(*, bets: bool) -> None:
    table = betting() if bets else Scripted("live-shared@1").open()
    table.when(c.CloseBetting("yesterday")).refused("time_invalid")
