"""What the house turned over and kept: figures as they were asked for, and sums that pages show.

Amounts are minor units of one currency each; nothing is ever converted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

__all__ = [
    "DIMENSIONS",
    "Asked",
    "AtStake",
    "Difference",
    "FigureRow",
    "Jackpot",
    "Money",
    "OpenRound",
    "added",
    "by_key",
    "by_time",
    "currencies_of",
]

Period = Literal["hour", "day"]
Dimension = Literal["all", "table", "dealer", "ruleset", "operator"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("all", "table", "dealer", "ruleset", "operator")
HOURS_MAX: Final = dt.timedelta(days=31)
DAYS_MAX: Final = dt.timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which figures. What is empty restricts nothing. `since` and `until` are whole hours or days of UTC."""

    period: Period
    by: Dimension
    since: dt.datetime
    until: dt.datetime
    table: str = ""
    dealer: str = ""
    ruleset: str = ""
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Money:
    """Sums of one currency."""

    players: int = 0
    """Players and rounds: who played ten rounds counts ten times."""
    turnover: int = 0
    returned: int = 0
    tips: int = 0
    jackpot_won: int = 0

    @property
    def ggr(self) -> int:
        """Gross gaming revenue; below 0 where players won more than they staked."""
        return self.turnover - self.returned

    @property
    def hold_ppm(self) -> int | None:
        """Revenue as parts per million of the turnover, towards zero; None without turnover."""
        if not self.turnover:
            return None
        size = abs(self.ggr) * 1_000_000 // self.turnover
        return size if self.ggr >= 0 else -size

    def __add__(self, other: Money) -> Money:
        """Both together."""
        return Money(
            self.players + other.players,
            self.turnover + other.turnover,
            self.returned + other.returned,
            self.tips + other.tips,
            self.jackpot_won + other.jackpot_won,
        )


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One hour or day of one key."""

    at: dt.datetime
    key: str
    rounds: int = 0
    settled: int = 0
    cancelled: int = 0
    corrected: int = 0
    declined: Mapping[str, int] = field(default_factory=dict)
    """Bets that were declined, by reason."""
    by_platform: int = 0
    """Decisions that the platform took since the player had not."""
    money: Mapping[str, Money] = field(default_factory=dict)
    """By currency."""


@dataclass(frozen=True, slots=True)
class AtStake:
    """What open rounds have at stake in one currency."""

    players: int
    amount: int


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that has not ended."""

    round: str
    table: str
    opened_at: dt.datetime
    window: str
    at_stake: Mapping[str, AtStake]


@dataclass(frozen=True, slots=True)
class Jackpot:
    """A progressive pool."""

    jackpot: str
    operator: str
    currency: str
    pool: int
    seed: int
    must_hit_by: int
    """0: it has no such size."""
    contribution_ppm: int
    cycle: int
    tables: int
    fenced: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A round whose replay did not agree with what is recorded."""

    round: str
    outcome: str
    at: dt.datetime | None


def currencies_of(rows: Iterable[FigureRow]) -> tuple[str, ...]:
    """The currencies that there are, the one with most players' rounds first."""
    players: dict[str, int] = {}
    for row in rows:
        for currency, money in row.money.items():
            players[currency] = players.get(currency, 0) + money.players
    return tuple(sorted(players, key=lambda one: (-players[one], one)))


def added(at: dt.datetime, key: str, rows: Iterable[FigureRow]) -> FigureRow:
    """Rows together, as one of this time and key."""
    rounds = settled = cancelled = corrected = by_platform = 0
    declined: dict[str, int] = {}
    money: dict[str, Money] = {}
    for row in rows:
        rounds += row.rounds
        settled += row.settled
        cancelled += row.cancelled
        corrected += row.corrected
        by_platform += row.by_platform
        for reason, count in row.declined.items():
            declined[reason] = declined.get(reason, 0) + count
        for currency, sums in row.money.items():
            money[currency] = money.get(currency, Money()) + sums
    return FigureRow(at, key, rounds, settled, cancelled, corrected, declined, by_platform, money)


def by_time(rows: Iterable[FigureRow]) -> tuple[FigureRow, ...]:
    """One row an hour or day, the oldest first, whatever rows were told apart by."""
    grouped: dict[dt.datetime, list[FigureRow]] = {}
    for row in rows:
        grouped.setdefault(row.at, []).append(row)
    return tuple(added(at, "", grouped[at]) for at in sorted(grouped))


def by_key(rows: Iterable[FigureRow], currency: str) -> tuple[FigureRow, ...]:
    """One row a key over all times, the one with most turnover in this currency first."""
    grouped: dict[str, list[FigureRow]] = {}
    for row in rows:
        grouped.setdefault(row.key, []).append(row)
    summed = [added(min(one.at for one in found), key, found) for key, found in grouped.items()]
    none = Money()
    return tuple(sorted(summed, key=lambda one: (-one.money.get(currency, none).turnover, one.key)))
