"""What an operator is told of its players' money: transactions, sums, what is at stake. It is only read.

Everything is read account by account, by the indexes of statements, so that no report needs an index on the
postings' own tables. All of one answer is of the moment of the caller's transaction.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from eventstore.postgres import Connection

_FIRST: Final = UUID(int=0)

_CASH: Final = "CASE a.purse WHEN 'seamless' THEN 'operator' ELSE 'player_cash' END"

_CHANGES: Final = f"""
       coalesce(sum(s.amount) FILTER (WHERE s.kind = {_CASH}), 0)::bigint AS cash,
       coalesce(sum(s.amount) FILTER (WHERE s.kind = 'player_held'), 0)::bigint AS held,
       coalesce(sum(s.amount) FILTER (WHERE s.kind = 'player_promo'), 0)::bigint AS promo,
       coalesce(-sum(s.amount) FILTER (WHERE s.kind = 'player_receivable'), 0)::bigint AS owed
"""

_LINES: Final = f"""
SELECT a.transaction, a.recorded_at, a.kind, a.business_key, a.round, a.revision, a.event, a.cause_event,
       a.account, a.player, a.currency, a.purse = 'seamless' AS seamless, m.cash, m.held, m.promo, m.owed
  FROM page AS a CROSS JOIN LATERAL (
      SELECT {_CHANGES}
        FROM (SELECT b.kind, p.amount FROM wallet.postings AS p JOIN wallet.books AS b USING (book)
               WHERE p.transaction = a.transaction) AS s) AS m
 ORDER BY a.account, a.recorded_at, a.transaction
"""  # noqa: S608 - likewise

_COLUMNS: Final = (
    "t.transaction, t.recorded_at, t.kind, t.business_key, t.round, t.revision, t.event, t.cause_event,"
    " a.account, a.player, a.currency, a.purse"
)

_OF_PERIOD: Final = f"""
WITH page AS (
    SELECT {_COLUMNS}
      FROM wallet.accounts AS a CROSS JOIN LATERAL (
          SELECT * FROM wallet.transactions AS t
           WHERE t.account = a.account AND t.recorded_at >= $2 AND t.recorded_at < $3
             AND (a.account > $4 OR (t.recorded_at, t.transaction) > ($5, $6))
           ORDER BY t.recorded_at, t.transaction LIMIT $7) AS t
     WHERE a.operator = $1 AND a.account >= $4
     ORDER BY a.account, t.recorded_at, t.transaction LIMIT $7
) {_LINES}
"""  # noqa: S608 - likewise

_OF_ROUND: Final = f"""
WITH page AS (
    SELECT {_COLUMNS}
      FROM wallet.transactions AS t JOIN wallet.accounts AS a USING (account)
     WHERE a.operator = $1 AND t.recorded_at >= $2 AND t.recorded_at < $3 AND t.round = $8
       AND (t.account, t.recorded_at, t.transaction) > ($4, $5, $6)
     ORDER BY t.account, t.recorded_at, t.transaction LIMIT $7
) {_LINES}
"""  # noqa: S608 - likewise

# Of the postings themselves, however the list above is made.
_TOTALS: Final = f"""
SELECT a.currency, t.kind, a.purse = 'seamless' AS seamless, count(DISTINCT t.transaction) AS transactions,
       {_CHANGES}
  FROM wallet.accounts AS a
  JOIN wallet.transactions AS t
    ON t.account = a.account AND t.recorded_at >= $2 AND t.recorded_at < $3
  LEFT JOIN (SELECT p.transaction, b.kind, p.amount
               FROM wallet.postings AS p JOIN wallet.books AS b USING (book)) AS s USING (transaction)
 WHERE a.operator = $1
 GROUP BY a.currency, t.kind, a.purse ORDER BY a.currency, t.kind, a.purse
"""  # noqa: S608 - likewise

_BALANCES: Final = f"""
SELECT a.currency, a.purse = 'seamless' AS seamless, count(*) AS accounts,
       sum(o.cash)::bigint, sum(o.held)::bigint, sum(o.promo)::bigint, sum(o.owed)::bigint,
       sum(c.cash)::bigint, sum(c.held)::bigint, sum(c.promo)::bigint, sum(c.owed)::bigint
  FROM wallet.accounts AS a
 CROSS JOIN LATERAL (SELECT {_CHANGES} FROM wallet.sums_until(a.account, $2) AS s) AS o
 CROSS JOIN LATERAL (SELECT {_CHANGES} FROM wallet.sums_until(a.account, $3) AS s) AS c
 WHERE a.operator = $1 AND a.opened_at < $3
 GROUP BY a.currency, a.purse ORDER BY a.currency, a.purse
"""  # noqa: S608 - likewise

_STAKES: Final = """
SELECT h.round, h.account, a.player, a.currency, a.purse = 'seamless' AS seamless, count(*) AS holds,
       coalesce(sum(h.amount) FILTER (WHERE h.state = 'held'), 0)::bigint AS held,
       coalesce(sum(h.amount) FILTER (WHERE h.state <> 'held'), 0)::bigint AS unsure,
       min(h.requested_at) AS since
  FROM wallet.holds AS h JOIN wallet.accounts AS a USING (account)
 WHERE h.state IN ('requested', 'held', 'unknown') AND a.operator = $1
   AND h.account >= $2 AND (h.account, h.round) > ($2, $3)
 GROUP BY h.account, h.round, a.player, a.currency, a.purse
 ORDER BY h.account, h.round LIMIT $4
"""


class Period(NamedTuple):
    """From `since` up to, not including, `until`."""

    since: dt.datetime
    until: dt.datetime


class Changes(NamedTuple):
    """Signed changes in minor units; of a seamless account cash is what its operator gave."""

    cash: int
    held: int
    promo: int
    owed: int


class After(NamedTuple):
    """The last transaction of a page."""

    account: str
    recorded_at: dt.datetime
    transaction: UUID


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One transaction of the ledger about an operator's player."""

    transaction: UUID
    recorded_at: dt.datetime
    kind: str
    business_key: str
    round: str | None
    revision: int | None
    event: UUID
    cause_event: UUID | None
    account: str
    player: str
    currency: str
    seamless: bool
    changes: Changes

    @property
    def key(self) -> After:
        """Where the page after this line begins."""
        return After(self.account, self.recorded_at, self.transaction)


@dataclass(frozen=True, slots=True)
class Total:
    """All transactions of one kind."""

    currency: str
    kind: str
    seamless: bool
    transactions: int
    changes: Changes


@dataclass(frozen=True, slots=True)
class PlayersHave:
    """What all accounts of one currency and kind of purse have at the beginning and at the end."""

    currency: str
    seamless: bool
    accounts: int
    opening: Changes
    closing: Changes


@dataclass(frozen=True, slots=True)
class Stake:
    """What one player has at stake in one round."""

    round: str
    account: str
    player: str
    currency: str
    seamless: bool
    holds: int
    held: int
    unsure: int
    """Of holds of which nobody knows yet whether they are held."""
    since: dt.datetime


async def operator_transactions(
    connection: Connection,
    operator: str,
    period: Period,
    after: After | None,
    limit: int,
    round_name: str | None = None,
) -> list[ReportLine]:
    """Transactions of a period after one, by account and time; of one round, or of any."""
    account, at, transaction = after or After("", period.since, _FIRST)
    query, more = (_OF_PERIOD, ()) if round_name is None else (_OF_ROUND, (round_name,))
    rows = await connection.fetch(query, operator, *period, account, at, transaction, limit, *more)
    return [ReportLine(**_record(row)) for row in rows]


async def operator_totals(connection: Connection, operator: str, period: Period) -> list[Total]:
    """Sums of a period by currency and kind."""
    return [Total(**_record(row)) for row in await connection.fetch(_TOTALS, operator, *period)]


async def operator_balances(connection: Connection, operator: str, period: Period) -> list[PlayersHave]:
    """What an operator's players have at both ends of a period, by currency: of checkpoints, not of lines."""
    rows = await connection.fetch(_BALANCES, operator, *period)
    return [
        PlayersHave(row["currency"], row["seamless"], row["accounts"], Changes(*row[3:7]), Changes(*row[7:]))
        for row in rows
    ]


async def operator_stakes(
    connection: Connection, operator: str, after: tuple[str, str], limit: int
) -> Sequence[Stake]:
    """Open holds by account and round, after (account, round)."""
    return [Stake(*row) for row in await connection.fetch(_STAKES, operator, *after, limit)]


def _record(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a record of the driver
    """A row with its four changes as one."""
    found = dict(row)
    found["changes"] = Changes(*(found.pop(name) for name in Changes._fields))
    return found
