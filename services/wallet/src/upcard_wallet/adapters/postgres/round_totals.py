"""Comparing what the table says that rounds come to with what was settled here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from eventstore.postgres import Connection
from upcard_wallet.adapters.postgres.audit import Difference

# The rows stay locked: a correction that comes now is compared after it.
_UNCHECKED: Final = """
SELECT round FROM wallet.round_totals WHERE NOT checked ORDER BY round LIMIT $1
   FOR NO KEY UPDATE SKIP LOCKED
"""

_COMPARE: Final = """
WITH wanted AS (
    SELECT round, totals FROM wallet.round_totals WHERE round = ANY ($1::text[])
), said AS (
    SELECT w.round, s.currency, s.players, s.staked, s.returned
      FROM wanted AS w CROSS JOIN LATERAL jsonb_to_recordset(w.totals)
           AS s (currency text, players bigint, staked bigint, returned bigint)
), settled AS (
    SELECT l.round, a.currency, count(*) AS players, sum(l.staked)::bigint AS staked,
           sum(l.returned)::bigint AS returned
      FROM wanted AS w CROSS JOIN LATERAL (
        SELECT DISTINCT ON (s.player) s.round, s.account, s.staked, s.returned
          FROM wallet.settlements AS s WHERE s.round = w.round ORDER BY s.player, s.revision DESC) AS l
      JOIN wallet.accounts AS a USING (account)
     GROUP BY l.round, a.currency
)
SELECT round, currency,
       coalesce(said.players, 0) AS players, coalesce(settled.players, 0) AS players_settled,
       coalesce(said.staked, 0) AS staked, coalesce(settled.staked, 0) AS staked_settled,
       coalesce(said.returned, 0) AS returned, coalesce(settled.returned, 0) AS returned_settled
  FROM said FULL JOIN settled USING (round, currency)
"""

_CHECKED: Final = (
    "UPDATE wallet.round_totals SET checked = true WHERE round = ANY ($1::text[]) AND NOT checked"
)

_FIGURES: Final = ("players", "staked", "returned")


async def compare_totals(connection: Connection, again: Collection[str], limit: int) -> list[Difference]:
    """Compare up to `limit` rounds that were not compared yet, and those that are named.

    In the transaction that notes the differences: a round is looked at once, and after it by its difference.
    """
    rows = await connection.fetch(_UNCHECKED, limit)
    rounds = [row["round"] for row in rows]
    found = [
        Difference(
            f"round_{figure}",
            f"{row['round']}/{row['currency']}",
            None,
            row["round"],
            row[figure],
            row[f"{figure}_settled"],
        )
        for row in await connection.fetch(_COMPARE, [*rounds, *again])
        for figure in _FIGURES
        if row[figure] != row[f"{figure}_settled"]
    ]
    await connection.execute(_CHECKED, rounds)
    return found
