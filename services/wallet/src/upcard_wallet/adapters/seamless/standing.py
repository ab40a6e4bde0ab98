"""How things stand with partners: figures for metrics, and whether the ledger says what the calls say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eventstore.postgres.connections import Connection

_BACKLOG: Final = """
SELECT operator,
       count(*) FILTER (WHERE state = 'waiting') AS waiting,
       count(*) FILTER (WHERE state = 'parked') AS parked,
       coalesce(max(extract(epoch FROM now() - failing_since)), 0)::double precision AS failing_for_s
  FROM wallet.partner_lanes WHERE state IN ('waiting', 'parked')
 GROUP BY operator ORDER BY operator
"""

_ASKING: Final = "SELECT count(*) FROM wallet.partner_calls WHERE state = 'asking' AND abandoned_at <= now()"

_ROUNDS: Final = """
WITH told AS (
    SELECT lanes.round, lanes.operator, accounts.currency,
           sum(CASE WHEN calls.posted THEN movement.amount ELSE 0 END) AS posted,
           sum(CASE WHEN calls.posted AND calls.state IN ('accepted', 'done') THEN movement.amount ELSE 0 END)
               AS told
      FROM wallet.partner_lanes AS lanes
      JOIN wallet.accounts AS accounts USING (account)
      JOIN wallet.partner_calls AS calls USING (lane)
     CROSS JOIN LATERAL (
         SELECT calls.total * CASE WHEN calls.kind = 'bet' OR calls.undoes = 'win' THEN -1 ELSE 1 END
             AS amount
     ) AS movement
     WHERE lanes.round = ANY ($1::text[])
     GROUP BY lanes.round, lanes.operator, accounts.currency
), ledger AS (
    SELECT entries.round, books.owner AS operator, books.currency, sum(postings.amount) AS amount
      FROM wallet.transactions AS entries
      JOIN wallet.postings AS postings USING (transaction)
      JOIN wallet.books AS books ON books.book = postings.book AND books.kind = 'operator'
     WHERE entries.round = ANY ($1::text[])
     GROUP BY entries.round, books.owner, books.currency
)
SELECT round, operator, currency, coalesce(told.posted, 0)::bigint AS by_calls,
       coalesce(told.told, 0)::bigint AS told, coalesce(ledger.amount, 0)::bigint AS by_ledger
  FROM told FULL JOIN ledger USING (round, operator, currency)
 ORDER BY round, operator, currency
"""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What an operator's partner has not been told yet; lanes are players in rounds."""

    operator: str
    waiting: int
    parked: int
    failing_for_s: float
    """Since the first failed try of the lane that has failed for longest."""


async def backlogs(connection: Connection) -> list[Backlog]:
    """A figure for each operator that has some; reads what is open alone."""
    return [Backlog(**dict(row)) for row in await connection.fetch(_BACKLOG)]


async def overdue_bets(connection: Connection) -> int:
    """Bets that should have had an end by now; more than a few for more than seconds is an alarm."""
    return int(await connection.fetchval(_ASKING))


@dataclass(frozen=True, slots=True)
class RoundWithPartner:
    """One round with one operator in one currency, in minor units; negative is what the partner owes us."""

    round: str
    operator: str
    currency: str
    by_calls: int
    """What the calls that our ledger has should have left on the operator's book."""
    told: int
    """What of that the partner has confirmed."""
    by_ledger: int
    """What our ledger has on the operator's book."""

    @property
    def explained(self) -> bool:
        """Whether ledger and calls agree; `told` follows when the queue is empty."""
        return self.by_calls == self.by_ledger


async def rounds_with_partners(connection: Connection, rounds: Sequence[str]) -> list[RoundWithPartner]:
    """These rounds, as ledger and calls say; a round may be under way."""
    return [RoundWithPartner(**dict(row)) for row in await connection.fetch(_ROUNDS, rounds)]
