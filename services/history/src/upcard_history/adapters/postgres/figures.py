"""Figures by hour or day: the rows of one statement, put together."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Final

from eventstore.postgres import Connection, Pool
from upcard_history.adapters.postgres.figure_sql import CHECK, LIMIT, ZONE, FigureSql
from upcard_history.app.figures import (
    ROWS_MAX,
    SPAN_MAX,
    FigureQuery,
    FigureQueryInvalid,
    FigureRow,
    Money,
    WindowFigures,
)

_TIMEOUT_S: Final = 30
"""Longest that the statement may take."""

_PATIENTLY: Final = f"SET LOCAL statement_timeout = '{_TIMEOUT_S}s'"

Key = tuple[dt.datetime, str | None]


@dataclass(slots=True)
class _Sums:
    players: int = 0
    turnover: int = 0
    returned: int = 0
    tips: int = 0
    jackpot_won: int = 0


@dataclass(slots=True)
class _Row:
    settled: int = 0
    cancelled: dict[str, int] = field(default_factory=dict)
    corrected: int = 0
    hours: int = 0
    declined: dict[str, int] = field(default_factory=dict)
    by_platform: int = 0
    windows: dict[str, WindowFigures] = field(default_factory=dict)
    money: dict[str, _Sums] = field(default_factory=dict)

    def take(self, what: str, name: str, other: str, a: int, b: int, c: int) -> None:
        """Take one row of the statement: see `FigureSql` for what its numbers are."""
        match what:
            case "rounds" if name == "settled":
                self.settled, self.corrected = a, b
            case "rounds":
                self.cancelled[other] = a
            case "hours":
                self.hours = a
            case "windows":
                self.windows[name] = WindowFigures(a, b, c)
            case "declines":
                self.declined[name] = a
            case "by_platform":
                self.by_platform = a
            case _:
                self._take_money(what, self._sums(name), a, b, c)

    def _take_money(self, what: str, sums: _Sums, a: int, b: int, c: int) -> None:
        match what:
            case "money":
                sums.players, sums.turnover, sums.returned = a, b, c
            case "jackpots":
                sums.jackpot_won = a
            case "tips":
                sums.tips = a
            case other:
                raise ValueError(f"{other} is no figure")

    def _sums(self, currency: str) -> _Sums:
        return self.money.setdefault(currency, _Sums())


class Figures:
    """The figures."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def figures(self, query: FigureQuery) -> tuple[FigureRow, ...]:
        """See `History`."""
        _check_span(query)
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            await _check_zone(connection, query)
            rows = await _gather(connection, FigureSql(query))
        if len(rows) > ROWS_MAX:
            raise _too_many()
        ordered = sorted(
            rows.items(), key=lambda item: (item[0][0], item[0][1] is not None, item[0][1] or "")
        )
        return tuple(_made(key, row) for key, row in ordered)


def _order(key: Key) -> tuple[dt.datetime, bool, str]:
    starts_at, name = key
    return starts_at, name is not None, name or ""


def _check_span(query: FigureQuery) -> None:
    naive = query.since.tzinfo is None or query.until.tzinfo is None
    if naive or query.until <= query.since or query.until - query.since > SPAN_MAX[query.period]:
        days = SPAN_MAX[query.period].days
        raise FigureQueryInvalid(
            "period_invalid", f"figures by {query.period} are of a time of up to {days} days, with time zones"
        )


async def _check_zone(connection: Connection, query: FigureQuery) -> None:
    if query.zone != "UTC" and not await connection.fetchval(ZONE, query.zone):
        raise FigureQueryInvalid("zone_unknown", f"there is no time zone {query.zone}")
    if not await connection.fetchval(CHECK, query.period, query.zone, query.since, query.until):
        raise FigureQueryInvalid(
            "period_invalid",
            f"since and until have to be where a whole {query.period} of {query.zone} begins",
        )


async def _gather(connection: Connection, sql: FigureSql) -> dict[Key, _Row]:
    await connection.execute(_PATIENTLY)
    found = await connection.fetch(sql.statement(), *sql.arguments, timeout=_TIMEOUT_S + 5)
    if len(found) >= LIMIT:
        raise _too_many()
    rows: dict[Key, _Row] = {}
    for what, starts_at, key, *values in found:
        rows.setdefault((starts_at, key), _Row()).take(what, *values)
    return rows


def _made(key: Key, row: _Row) -> FigureRow:
    money = tuple(
        Money(currency, sums.players, sums.turnover, sums.returned, sums.tips, sums.jackpot_won)
        for currency, sums in sorted(row.money.items())
    )
    return FigureRow(
        key[0],
        key[1],
        row.settled,
        dict(sorted(row.cancelled.items())),
        row.corrected,
        row.hours,
        dict(sorted(row.declined.items())),
        row.by_platform,
        dict(sorted(row.windows.items())),
        money,
    )


def _too_many() -> FigureQueryInvalid:
    return FigureQueryInvalid("too_many_rows", f"the answer has more than {ROWS_MAX} rows: ask for less time")
