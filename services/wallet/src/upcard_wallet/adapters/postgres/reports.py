"""Reading what was posted: balances, statements."""

from __future__ import annotations

import datetime as dt
import json
from typing import Final

from eventstore.postgres import Connection
from upcard_wallet.app.ports import BookSum, LineRow

_SUMS: Final = """
SELECT b.kind, b.owner, l.balance FROM wallet.books AS b JOIN wallet.balances AS l USING (book)
 WHERE b.account = $1 ORDER BY b.book
"""

_SUMS_UNTIL: Final = "SELECT kind, amount FROM wallet.sums_until($1, $2)"

_LINES: Final = """
SELECT min(p.posting) AS position, t.transaction, t.recorded_at, t.kind, t.round, t.revision, t.event,
       t.cause_event,
       (SELECT json_object_agg(k.kind, k.amount) FROM (
            SELECT b.kind, sum(q.amount)::bigint AS amount
              FROM wallet.postings AS q JOIN wallet.books AS b USING (book)
             WHERE q.transaction = t.transaction GROUP BY b.kind) AS k) AS amounts
  FROM wallet.transactions AS t JOIN wallet.postings AS p USING (transaction)
 WHERE t.account = $1 AND t.recorded_at >= $2 AND t.recorded_at < $3
 GROUP BY t.transaction HAVING min(p.posting) > $4
 ORDER BY min(p.posting) LIMIT $5
"""


class Reports:
    """What is read for people: a part of the ledger."""

    async def sums(self, connection: Connection, account: str) -> list[BookSum]:
        """See `app.ports.Ledger`."""
        return [BookSum(*row) for row in await connection.fetch(_SUMS, account)]

    async def sums_until(self, connection: Connection, account: str, until: dt.datetime) -> dict[str, int]:
        """See `app.ports.Ledger`."""
        rows = await connection.fetch(_SUMS_UNTIL, account, until)
        return {row["kind"]: row["amount"] for row in rows}

    async def lines(
        self,
        connection: Connection,
        account: str,
        since: dt.datetime,
        until: dt.datetime,
        after: int,
        limit: int,
    ) -> list[LineRow]:
        """See `app.ports.Ledger`."""
        rows = await connection.fetch(_LINES, account, since, until, after, limit)
        return [
            LineRow(
                row["position"],
                row["transaction"],
                row["recorded_at"],
                row["kind"],
                row["round"],
                row["revision"],
                row["event"],
                row["cause_event"],
                json.loads(row["amounts"]),
            )
            for row in rows
        ]
