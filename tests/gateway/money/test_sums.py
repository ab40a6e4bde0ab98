"""Sums of figures, and how they are written."""

from __future__ import annotations

import datetime as dt

from upcard_gateway.app.money_view import Asked, FigureRow, Money, added, by_key, by_time, currencies_of
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.money_plots import plots_of
from upcard_gateway.entrypoints.pages.shown import amount, clock, count, percent, size

AT = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)


def row(hours: int, key: str, turnover: int, returned: int, currency: str = "EUR") -> FigureRow:
    money = {currency: Money(players=3, turnover=turnover, returned=returned)}
    return FigureRow(AT + hours * HOUR, key, 2, 2, declined={"funds_refused": 1}, by_platform=1, money=money)


def test_rows_are_added_by_time_and_by_key() -> None:
    rows = [row(1, "t1", 100, 90), row(0, "t1", 50, 60), row(1, "t2", 900, 800)]
    assert [(one.at, one.money["EUR"].turnover) for one in by_time(rows)] == [(AT, 50), (AT + HOUR, 1_000)]
    assert [(one.key, one.money["EUR"].ggr) for one in by_key(rows, "EUR")] == [("t2", 100), ("t1", 0)]
    whole = added(AT, "", rows)
    assert (whole.rounds, whole.declined, whole.by_platform) == (6, {"funds_refused": 3}, 3)
    assert whole.money["EUR"].hold_ppm == 95_238


def test_currencies_stay_apart_the_most_played_first() -> None:
    rows = [row(0, "", 5, 1, "JPY"), row(1, "", 5, 1, "JPY"), row(0, "", 100, 90)]
    assert currencies_of(rows) == ("JPY", "EUR")
    assert set(added(AT, "", rows).money) == {"EUR", "JPY"}
    assert currencies_of([]) == ()


def test_hold_is_towards_zero_and_none_without_turnover() -> None:
    assert Money(turnover=3, returned=4).hold_ppm == -333_333
    assert Money(turnover=3, returned=2).hold_ppm == 333_333
    assert Money(returned=4).hold_ppm is None


def test_figures_are_written() -> None:
    assert amount(-5, "EUR") == "-0.05"
    assert amount(123_456_789, "EUR") == "1,234,567.89"
    assert amount(1_234, "JPY") == "1,234"
    assert (percent(-12_345), percent(-50), percent(None)) == ("-1.23 %", "0.00 %", "")
    assert (count(None), count(1_234_567.0), size(157_286_400)) == ("", "1,234,567", "150 MiB")
    assert (clock(AT, AT), clock(AT, AT + 24 * HOUR)) == ("12:00:00", "2026-01-31 12:00")
    assert clock(None, AT) == ""


def test_plots_show_empty_hours_and_nothing_without_figures() -> None:
    english = English.load()
    asked = Asked("hour", "table", AT - HOUR, AT + 30 * HOUR)
    rows = [row(0, "t1", 100, 90), row(29, "t1", 100, 90)]
    plots = plots_of(by_time(rows), by_key(rows, "EUR"), asked, "EUR", english)
    assert set(plots) == {"money", "hold", "keys"}
    assert all(one.light != one.dark and one.text for one in plots.values())
    assert plots_of((), (), asked, "", english) == {}
