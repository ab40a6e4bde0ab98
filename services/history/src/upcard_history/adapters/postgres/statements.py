"""Accounts and their statements."""

from __future__ import annotations

import datetime as dt
from typing import Final

from eventstore.postgres import Pool
from upcard_history.adapters.postgres.lists import check_limit
from upcard_history.adapters.postgres.rows import account_row, balance, statement_line
from upcard_history.app.reading import PAGE_MAX, AccountRow, Statement

_ACCOUNTS: Final = (
    "SELECT * FROM accounts_view.accounts WHERE player = $1 ORDER BY currency, account LIMIT $2"
)
_ACCOUNT: Final = "SELECT * FROM accounts_view.accounts WHERE account = $1"
# `at` never goes back in an account, so what came before a moment is a run of lines from its first.
_BEFORE: Final = """
SELECT cash_after, held_after, owed_after FROM accounts_view.lines
 WHERE account = $1 AND at < $2 ORDER BY at DESC, position DESC LIMIT 1
"""
_LINES: Final = """
SELECT * FROM accounts_view.lines
 WHERE account = $1 AND at >= $2 AND at < $3 AND position > $4 ORDER BY at, position LIMIT $5
"""


class Statements:
    """Statements, from the wallet's events."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def accounts(self, player: str) -> tuple[AccountRow, ...]:
        """See `History`."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_ACCOUNTS, player, PAGE_MAX)
        return tuple(account_row(row) for row in rows)

    async def statement(
        self, account: str, since: dt.datetime, until: dt.datetime, *, after: int = 0, limit: int = PAGE_MAX
    ) -> Statement | None:
        """See `History`."""
        check_limit(limit, PAGE_MAX)
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            found = await connection.fetchrow(_ACCOUNT, account)
            if found is None:
                return None
            opening = await connection.fetchrow(_BEFORE, account, since)
            closing = await connection.fetchrow(_BEFORE, account, until)
            rows = await connection.fetch(_LINES, account, since, until, after, limit + 1)
        lines = tuple(statement_line(row) for row in rows[:limit])
        more = lines[-1].position if len(rows) > limit else None
        return Statement(account_row(found), balance(opening), balance(closing), lines, more)
