"""The plots of the money page: turnover and revenue by time, hold by time, revenue by key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence

from upcard_gateway.app.money_view import Asked, FigureRow, Money
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.plots import Plot, Series, plotted
from upcard_seamless.currencies import minor_digits

__all__ = ["plots_of"]

_NOTHING = Money()
_DAY = dt.timedelta(days=1)
_YEAR = dt.timedelta(days=360)


def plots_of(
    times: Sequence[FigureRow], keys: Sequence[FigureRow], asked: Asked, currency: str, t: English
) -> dict[str, Plot]:
    """By name: `money` and `hold`, and `keys` where rows are told apart. None of them without a currency."""
    if not currency or not times:
        return {}
    scale = 10 ** minor_digits(currency)
    rows = {row.at: row.money.get(currency, _NOTHING) for row in times}
    steps = list(_steps(asked, times))
    labels = list(map(_label_of(asked), steps))
    sums = [rows.get(at, _NOTHING) for at in steps]
    found = {
        "money": plotted(
            "bars",
            labels,
            [
                Series(t("money.turnover"), [one.turnover / scale for one in sums]),
                Series(t("money.ggr"), [one.ggr / scale for one in sums]),
            ],
            text=t("money.plot_money", currency=currency),
            shown=lambda value: f"{value:,.0f}",
        ),
        "hold": plotted(
            "line",
            labels,
            [Series(t("money.hold"), [_percent(one) for one in sums])],
            text=t("money.plot_hold", currency=currency),
            shown=lambda value: f"{value:.1f} %",
            colour=2,
        ),
    }
    if keys:
        shown = [one for one in keys if one.money.get(currency, _NOTHING).turnover]
        found["keys"] = plotted(
            "rows",
            [one.key or t("money.no_key") for one in reversed(shown)],
            [
                Series(
                    t("money.ggr"),
                    [one.money.get(currency, _NOTHING).ggr / scale for one in reversed(shown)],
                )
            ],
            text=t("money.plot_keys", currency=currency),
            shown=lambda value: f"{value:,.0f}",
        )
    return found


def _steps(asked: Asked, times: Sequence[FigureRow]) -> Iterator[dt.datetime]:
    """Every hour or day from the first in which something happened, so that empty ones are seen as such."""
    step = dt.timedelta(hours=1) if asked.period == "hour" else dt.timedelta(days=1)
    at = times[0].at
    while at < asked.until:
        yield at
        at += step


def _label_of(asked: Asked) -> Callable[[dt.datetime], str]:
    """How a time stands beneath a plot: as short as can be, and each label once."""
    if asked.period == "day":
        return lambda at: f"{at:%m-%d}" if asked.until - asked.since < _YEAR else f"{at:%y-%m-%d}"
    return lambda at: f"{at:%H:%M}" if asked.until - asked.since <= _DAY else f"{at:%m-%d} {at:%H}"


def _percent(money: Money) -> float | None:
    return None if money.hold_ppm is None else money.hold_ppm / 10_000
