"""Proposed corrections in the database."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from eventstore.postgres import Connection
from upcard_table.app.resettlements import Proposal, ResettlementState

_ADD: Final = """
INSERT INTO tables.resettlements (resettlement, table_id, number, proposer, correction)
VALUES ($1, $2, $3, $4, $5)
"""
_FIND: Final = """
SELECT resettlement, table_id AS table, number, proposer, correction, state, decided_by, attempts
  FROM tables.resettlements WHERE resettlement = $1 FOR UPDATE
"""
_DECIDE: Final = """
UPDATE tables.resettlements
   SET state = $2, decided_by = $3, attempts = $4,
       decided_at = CASE WHEN $3::text IS NULL THEN NULL ELSE clock_timestamp() END
 WHERE resettlement = $1
"""


class PostgresProposals:
    """`Proposals` on asyncpg."""

    async def add(self, connection: Connection, proposal: Proposal) -> None:
        """Keep a new proposal."""
        await connection.execute(
            _ADD,
            proposal.resettlement,
            proposal.table,
            proposal.number,
            proposal.proposer,
            proposal.correction,
        )

    async def find(self, connection: Connection, resettlement: UUID) -> Proposal | None:
        """A proposal, locked until the transaction ends."""
        row = await connection.fetchrow(_FIND, resettlement)
        return None if row is None else Proposal(**dict(row))

    async def decide(
        self,
        connection: Connection,
        resettlement: UUID,
        state: ResettlementState,
        decided_by: str | None,
        attempts: int,
    ) -> None:
        """Note how far it is now."""
        await connection.execute(_DECIDE, resettlement, state, decided_by, attempts)
