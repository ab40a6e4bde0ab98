"""What a day's figures are checked for: each kind of difference is found, and named."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from upcard_gateway.app.reports import (
    Call,
    CallKind,
    Changes,
    Checking,
    KindTotal,
    Line,
    PlayersHave,
    Totals,
    WalletKind,
)

AT = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
NOTHING = Changes(0, 0, 0, 0)


def call(kind: CallKind, amount: int) -> Call:
    return Call(f"c-{kind}-{amount}", kind, "done", amount, ("x",), AT)


def line(
    kind: str,
    cash: int,
    *calls: Call,
    held: int = 0,
    wallet: WalletKind = "seamless",
    round_name: str | None = "t1.1",
) -> Line:
    changes = Changes(cash, held, 0, 0)
    return Line(
        f"tx-{kind}-{cash}", AT, kind, "p1", "a1", "EUR", wallet, changes, round_name, None, "e1", None, calls
    )


HOLD = line("hold", -50, call("bet", 50), held=50)
WON = line("settlement", 80, call("win", 80), held=-50)
CORRECTED = line("correction", -30, call("rollback_of_win", 80), call("win", 50))
LINES = [HOLD, WON, CORRECTED]
SAID = Totals(
    (
        KindTotal("EUR", "seamless", "correction", 1, Changes(-30, 0, 0, 0)),
        KindTotal("EUR", "seamless", "hold", 1, Changes(-50, 50, 0, 0)),
        KindTotal("EUR", "seamless", "settlement", 1, Changes(80, -50, 0, 0)),
    ),
    (PlayersHave("EUR", "seamless", 1, Changes(7, 0, 0, 0), Changes(7, 0, 0, 0)),),
    (),
)


def differences(lines: list[Line], said: Totals = SAID, *, calls_are_kept: bool = True) -> list[str]:
    checking = Checking(calls_are_kept=calls_are_kept)
    for place in range(0, len(lines), 2):
        checking.take(lines[place : place + 2])
    assert checking.lines == len(lines)
    return [f"{one.what}: {one.about} {one.expected} {one.found}" for one in checking.differences(said)]


def test_a_day_that_agrees() -> None:
    assert differences(LINES) == []


def test_a_line_that_is_missing() -> None:
    assert differences([HOLD, WON]) == [
        "lines_and_totals: transactions of correction in EUR (seamless) 1 0",
        "lines_and_totals: cash of correction in EUR (seamless) -30 0",
    ]


def test_a_line_that_is_one_too_many() -> None:
    assert differences([*LINES, line("tip", -5)]) == [
        "lines_and_totals: transactions of tip in EUR (seamless) 0 1",
        "lines_and_totals: cash of tip in EUR (seamless) 0 -5",
    ]


def test_a_balance_that_does_not_follow() -> None:
    balance = replace(SAID.balances[0], closing=Changes(9, 0, 0, 0))
    assert differences(LINES, replace(SAID, balances=(balance,))) == [
        "totals_and_balances: closing cash in EUR (seamless) 9 7"
    ]


@pytest.mark.parametrize(
    "calls", [(), (call("bet", 49),), (call("win", 50),), (call("bet", 50), call("bet", 50))]
)
def test_a_line_that_its_calls_do_not_explain(calls: tuple[Call, ...]) -> None:
    (found,) = differences([replace(HOLD, calls=calls), WON, CORRECTED])
    assert found.startswith("lines_and_calls: cash of transaction tx-hold--50 -50 ")
    assert differences([replace(HOLD, calls=calls), WON, CORRECTED], calls_are_kept=False) == []


def test_what_no_call_stands_for() -> None:
    tip = "tip-" + "0f" * 16 + ".1"
    lines = [
        line("hold", -5, call("bet", 5), round_name=tip),
        line("release", 5, round_name=tip),
        line("tip", -5, round_name=None),
        line("debt", 80, call("rollback_of_win", 80)),
        line("deposit", 9, wallet="transfer", round_name=None),
        line("free_bet_granted", 0, round_name=None),
    ]
    checking = Checking()
    checking.take(lines)
    said = Totals((), (), ())
    assert {one.what for one in checking.differences(said)} == {"lines_and_totals"}


def test_a_release_needs_its_rollback() -> None:
    checking = Checking()
    checking.take([line("release", 50)])
    assert "lines_and_calls" in {one.what for one in checking.differences(Totals((), (), ()))}


def test_no_more_is_kept_than_somebody_reads() -> None:
    checking = Checking()
    for number in range(1_000):
        checking.take([line("hold", -number - 1)])
    assert len(checking.differences(SAID)) == 100
    assert checking.lines == 1_000
