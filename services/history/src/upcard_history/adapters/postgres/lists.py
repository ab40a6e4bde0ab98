"""Lists of rounds, of a player's rounds, of bets in play, of a table's results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from eventstore.postgres import Pool
from upcard_history.adapters.postgres.rows import DEALER_OF, player_round, round_row, table_result
from upcard_history.app.reading import (
    PAGE_MAX,
    RESULTS_MAX,
    BetInPlay,
    CurrencySum,
    Page,
    PlayerRound,
    RoundKey,
    RoundRow,
    RoundsQuery,
    TableResult,
)

_ROUNDS: Final = f"""
SELECT r.*, {DEALER_OF} AS dealer
  FROM rounds_view.rounds AS r {{where}}
 ORDER BY r.opened_at DESC, r.round DESC LIMIT {{limit}}
"""  # noqa: S608 - nothing but constants is put in
_ROUND: Final = f"SELECT r.*, {DEALER_OF} AS dealer FROM rounds_view.rounds AS r WHERE r.round = $1"  # noqa: S608 - constants
_TOTALS: Final = """
SELECT round, currency, players, staked, returned FROM rounds_view.round_totals
 WHERE round = ANY ($1::text[]) ORDER BY round, currency
"""
_PLAYER: Final = """
SELECT p.player, p.currency, p.staked, p.returned, p.revision, p.boxes, p.by_platform, r.*
  FROM rounds_view.players AS p JOIN rounds_view.rounds AS r USING (round) {where}
   AND (p.staked > 0 OR p.revision > 0)
 ORDER BY p.opened_at DESC, p.round DESC LIMIT {limit}
"""
_BETS: Final = """
SELECT b.round, r.table_id, b.player, a.operator, p.currency, b.box, b.wager, b.amount, b.blind
  FROM rounds_view.bets AS b
  JOIN rounds_view.rounds AS r USING (round)
  JOIN rounds_view.players AS p USING (round, player)
  LEFT JOIN accounts_view.accounts AS a ON a.player = b.player AND a.currency = p.currency
 WHERE r.ended_at IS NULL
   AND ($1::text IS NULL OR r.table_id = $1)
   AND ($2::text IS NULL OR b.player = $2)
   AND ($2::text IS NOT NULL OR NOT b.hidden)
 ORDER BY r.table_id, b.round, b.player, b.box, b.wager LIMIT $3
"""
_RESULTS: Final = """
SELECT r.* FROM rounds_view.rounds AS r
 WHERE r.table_id = $1 AND r.ended_at IS NOT NULL ORDER BY r.number DESC LIMIT $2
"""


class _Asked:
    """The conditions of a list: those that are asked for, so that each has the plan that fits it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.arguments: list[object] = []

    def add(self, condition: str, *values: object) -> None:
        """One condition, with a place for each value; none where a value is None."""
        if None not in values:
            places = [f"${len(self.arguments) + number}" for number in range(1, len(values) + 1)]
            self.parts.append(condition.format(*places))
            self.arguments += values

    def between(
        self, rows: str, since: dt.datetime | None, until: dt.datetime | None, before: RoundKey | None
    ) -> None:
        """Of a time, and after the page before."""
        self.add(f"{rows}.opened_at >= {{}}", since)
        self.add(f"{rows}.opened_at < {{}}", until)
        if before is not None:
            self.add(f"({rows}.opened_at, {rows}.round) < ({{}}, {{}})", before.opened_at, before.round)

    def statement(self, sql: str, limit: int) -> tuple[str, list[object]]:
        """The statement and its arguments."""
        where = f"WHERE {' AND '.join(self.parts)}" if self.parts else ""
        return sql.format(where=where, limit=f"${len(self.arguments) + 1}"), [*self.arguments, limit]


class Lists:
    """The lists."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def rounds(self, query: RoundsQuery, *, before: RoundKey | None, limit: int) -> Page[RoundRow]:
        """See `History`."""
        check_limit(limit, PAGE_MAX)
        asked = _Asked()
        asked.add("r.table_id = {}", query.table)
        asked.add("r.ruleset = {}", query.ruleset)
        asked.add("r.state = {}", query.state)
        if query.state == "open":
            asked.parts.append("r.ended_at IS NULL")  # what the index of open rounds is for
        asked.between("r", query.since, query.until, before)
        sql, arguments = asked.statement(_ROUNDS, limit + 1)
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            rows = await connection.fetch(sql, *arguments)
            found = await connection.fetch(_TOTALS, [row["round"] for row in rows[:limit]])
        totals: dict[str, tuple[CurrencySum, ...]] = {}
        for name, *sums in found:
            totals[name] = (*totals.get(name, ()), CurrencySum(*sums))
        made = tuple(round_row(row, totals.get(row["round"], ())) for row in rows[:limit])
        return Page(made, _next(rows, limit))

    async def round_row(self, round_name: str) -> RoundRow | None:
        """One round, its sums too; None where it is not known."""
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            row = await connection.fetchrow(_ROUND, round_name)
            found = await connection.fetch(_TOTALS, [round_name])
        if row is None:
            return None
        return round_row(row, tuple(CurrencySum(*sums) for _, *sums in found))

    async def player_rounds(
        self,
        player: str,
        *,
        before: RoundKey | None,
        limit: int,
        currency: str | None = None,
        since: dt.datetime | None = None,
        until: dt.datetime | None = None,
    ) -> Page[PlayerRound]:
        """See `History`."""
        check_limit(limit, PAGE_MAX)
        asked = _Asked()
        asked.add("p.player = {}", player)
        asked.add("p.currency = {}", currency)
        asked.between("p", since, until, before)
        sql, arguments = asked.statement(_PLAYER, limit + 1)
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(sql, *arguments)
        return Page(tuple(player_round(row) for row in rows[:limit]), _next(rows, limit))

    async def bets_in_play(
        self, *, table: str | None = None, player: str | None = None, limit: int = PAGE_MAX
    ) -> tuple[BetInPlay, ...]:
        """See `History`."""
        check_limit(limit, PAGE_MAX)
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_BETS, table, player, limit)
        return tuple(BetInPlay(*row) for row in rows)

    async def table_results(self, table: str, *, limit: int) -> tuple[TableResult, ...]:
        """See `History`."""
        check_limit(limit, RESULTS_MAX)
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_RESULTS, table, limit)
        return tuple(table_result(row) for row in rows)


def check_limit(limit: int, most: int) -> None:
    """Raise ValueError for a page that is empty or too large."""
    if not 0 < limit <= most:
        raise ValueError(f"a page has 1 to {most} rows, not {limit}")


def _next(rows: Sequence[Any], limit: int) -> RoundKey | None:
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return RoundKey(last["opened_at"], last["round"])
