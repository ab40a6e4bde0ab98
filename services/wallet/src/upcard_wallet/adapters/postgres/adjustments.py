"""Proposals of adjustments, and the decisions on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg

from eventstore.postgres import Connection
from upcard_wallet.app.adjustments import Adjustment, DecidedMeanwhile, Decision

_COLUMNS: Final = """
       p.adjustment, p.account, p.amount, p.book, p.against, p.reason, p.round, p.proposer, p.proposed_at,
       d.approved, d.decided_by, d.transaction, d.decided_at
  FROM wallet.adjustment_proposals AS p LEFT JOIN wallet.adjustment_decisions AS d USING (adjustment)
"""

_PROPOSE: Final = """
INSERT INTO wallet.adjustment_proposals (adjustment, account, amount, book, against, reason, round, proposer)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

_FIND: Final = f"SELECT {_COLUMNS} WHERE p.adjustment = $1"

_DECIDE: Final = """
INSERT INTO wallet.adjustment_decisions (adjustment, proposer, approved, decided_by, transaction)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (adjustment) DO NOTHING
"""

_LIST: Final = f"""
SELECT {_COLUMNS}
 WHERE ($1::uuid IS NULL OR p.adjustment > $1) AND (NOT $2::boolean OR d.adjustment IS NULL)
 ORDER BY p.adjustment LIMIT $3
"""


class AdjustmentTables:
    """Implements `app.adjustments.Adjustments`."""

    async def propose(self, connection: Connection, proposal: Adjustment) -> Adjustment:
        """See `Adjustments`."""
        await connection.execute(
            _PROPOSE,
            proposal.adjustment,
            proposal.account,
            proposal.amount,
            proposal.book,
            proposal.against,
            proposal.reason,
            proposal.round,
            proposal.proposer,
        )
        return await self._found(connection, proposal.adjustment)

    async def find(self, connection: Connection, adjustment: UUID) -> Adjustment | None:
        """See `Adjustments`."""
        row = await connection.fetchrow(_FIND, adjustment)
        return None if row is None else _of(row)

    async def decide(self, connection: Connection, proposal: Adjustment, decision: Decision) -> Adjustment:
        """See `Adjustments`."""
        status = await connection.execute(
            _DECIDE,
            proposal.adjustment,
            proposal.proposer,
            decision.approved,
            decision.decided_by,
            decision.transaction,
        )
        if status != "INSERT 0 1":
            raise DecidedMeanwhile(str(proposal.adjustment))
        return await self._found(connection, proposal.adjustment)

    async def list(
        self, connection: Connection, *, proposed_only: bool, after: UUID | None, limit: int
    ) -> Sequence[Adjustment]:
        """See `Adjustments`."""
        return [_of(row) for row in await connection.fetch(_LIST, after, proposed_only, limit)]

    async def _found(self, connection: Connection, adjustment: UUID) -> Adjustment:
        row = await connection.fetchrow(_FIND, adjustment)
        if row is None:
            raise RuntimeError(f"adjustment {adjustment} was stored and is not there")
        return _of(row)


def _of(row: asyncpg.Record) -> Adjustment:
    decision = None
    if row["approved"] is not None:
        decision = Decision(row["approved"], row["decided_by"], row["transaction"], row["decided_at"])
    return Adjustment(
        row["adjustment"],
        row["account"],
        row["amount"],
        row["book"],
        row["against"],
        row["reason"],
        row["round"],
        row["proposer"],
        row["proposed_at"],
        decision,
    )
