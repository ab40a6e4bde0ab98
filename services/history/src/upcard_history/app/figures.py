"""Figures of the operation: what is asked, and what a row of the answer holds.

Everything of a round counts in the hour or day in which the round ended, its latest correction included; a
tip in that in which it was given. A row of money is of one currency: nothing is ever converted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Period = Literal["hour", "day"]
Dimension = Literal["all", "table", "dealer", "shift", "ruleset", "operator", "currency"]

SPAN_MAX: Mapping[Period, dt.timedelta] = {"hour": dt.timedelta(days=31), "day": dt.timedelta(days=400)}
"""Longest time that one query may cover."""

ROWS_MAX = 20_000
"""Most rows of one answer; more are refused (`too_many_rows`): ask for a shorter time."""


@dataclass(frozen=True, slots=True)
class FigureQuery:
    """Which figures. The other fields choose rounds (and tips); None: all.

    `since` and `until` are whole hours or days of `zone`; `until` is not included.
    """

    period: Period
    by: Dimension
    since: dt.datetime
    until: dt.datetime
    zone: str = "UTC"
    """IANA name: where an hour or day begins."""
    table: str | None = None
    dealer: str | None = None
    shift: str | None = None
    ruleset: str | None = None
    operator: str | None = None
    """Only what this operator's players did: money, declined bets, decisions, tips, and rounds with them."""
    currency: str | None = None
    """Only money of this currency, and rounds with it."""


@dataclass(frozen=True, slots=True)
class Money:
    """Sums of one currency, minor units."""

    currency: str
    players: int
    """Players and rounds: one who played ten rounds counts ten times."""
    turnover: int
    """All stakes and fees of settled rounds, free bets included."""
    returned: int
    """What went back to players, stakes included."""
    tips: int
    jackpot_won: int
    """Shares of jackpots, which are not among `returned`."""

    @property
    def ggr(self) -> int:
        """Gross gaming revenue: turnover less what was returned; may be negative."""
        return self.turnover - self.returned

    @property
    def hold_ppm(self) -> int | None:
        """Revenue as parts per million of the turnover, rounded towards zero; None without turnover."""
        if not self.turnover:
            return None
        size = abs(self.ggr) * 1_000_000 // self.turnover
        return size if self.ggr >= 0 else -size


@dataclass(frozen=True, slots=True)
class WindowFigures:
    """How long one kind of window stayed open."""

    windows: int
    total_ms: int
    extended_ms: int

    @property
    def average_ms(self) -> int:
        """Of one window, rounded down."""
        return self.total_ms // self.windows if self.windows else 0


@dataclass(frozen=True, slots=True)
class FigureRow:
    """The figures of one hour or day and one key."""

    starts_at: dt.datetime
    key: str | None
    """Id of the table, dealer, …; None: everything, or what belongs to none (no dealer was signed in)."""
    settled: int
    """Rounds that were settled."""
    cancelled: Mapping[str, int]
    """Rounds that were cancelled, by reason."""
    corrected: int
    """Of the settled ones, those that were corrected later."""
    active_hours: int
    """Hours of tables in which at least one round ended: a table and hour counts once."""
    bets_declined: Mapping[str, int]
    """By reason."""
    by_platform: int
    """Decisions that the platform took since a window passed."""
    windows: Mapping[str, WindowFigures]
    """By kind: `betting`, `options`, `final_options`, `purchase`. Windows that a cancellation ended are left
    out."""
    money: tuple[Money, ...]
    """By currency."""

    @property
    def rounds(self) -> int:
        """Rounds that ended."""
        return self.settled + sum(self.cancelled.values())

    @property
    def rounds_an_hour_milli(self) -> int | None:
        """Rounds that ended an active hour of a table, in thousandths, rounded down."""
        return self.rounds * 1_000 // self.active_hours if self.active_hours else None


class FigureQueryInvalid(Exception):
    """The query cannot be answered. `slug`: `period_invalid`, `zone_unknown`, `too_many_rows`."""

    def __init__(self, slug: str, message: str) -> None:
        self.slug = slug
        super().__init__(message)
