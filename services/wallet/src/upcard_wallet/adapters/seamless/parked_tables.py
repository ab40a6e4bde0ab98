"""Parked calls for people: the rows behind `app.parked`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import asyncpg

from eventstore.events import StreamAppend
from eventstore.postgres.connections import Connection
from upcard_wallet.adapters.seamless.parked import (
    NotParked,
    ParkedDecision,
    decide_parked,
    find_parked,
    parked_calls,
)
from upcard_wallet.app.parked import ParkedCall, Proposal, Verdict, VerdictMeanwhile
from upcard_wallet.app.purse import HoldRecords

_COLUMNS: Final = """
       p.proposal, p.call, p.ending, p.proposer, p.reason, p.proposed_at,
       v.approved, v.decided_by, v.transaction, v.decided_at
  FROM wallet.parked_proposals AS p LEFT JOIN wallet.parked_verdicts AS v USING (proposal)
"""

_FIND: Final = f"SELECT {_COLUMNS} WHERE p.proposal = $1"

_OPEN: Final = f"SELECT {_COLUMNS} WHERE p.call = ANY ($1::uuid[]) AND v.proposal IS NULL ORDER BY p.proposal"

_PROPOSE: Final = """
INSERT INTO wallet.parked_proposals (proposal, call, ending, proposer, reason) VALUES ($1, $2, $3, $4, $5)
"""

_DECIDE: Final = """
INSERT INTO wallet.parked_verdicts (proposal, proposer, approved, decided_by, transaction)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (proposal) DO NOTHING
"""


class ParkedCallTables:
    """Implements `app.parked.ParkedTables`."""

    def __init__(self, records: HoldRecords) -> None:
        self._records = records

    async def page(
        self, connection: Connection, operator: str, *, after: UUID | None, limit: int
    ) -> Sequence[ParkedCall]:
        """See `ParkedTables`."""
        return await parked_calls(connection, operator, after=after, limit=limit)

    async def find_call(self, connection: Connection, call: UUID) -> ParkedCall | None:
        """See `ParkedTables`."""
        return await find_parked(connection, call)

    async def open_proposals(
        self, connection: Connection, calls: Sequence[UUID]
    ) -> dict[UUID, Sequence[Proposal]]:
        """See `ParkedTables`."""
        found: dict[UUID, list[Proposal]] = {}
        for row in await connection.fetch(_OPEN, calls):
            found.setdefault(row["call"], []).append(_of(row))
        return dict(found)

    async def propose(self, connection: Connection, proposal: Proposal) -> Proposal:
        """See `ParkedTables`."""
        await connection.execute(
            _PROPOSE,
            proposal.proposal,
            proposal.call,
            proposal.ending,
            proposal.proposer,
            proposal.reason,
        )
        return await self._stored(connection, proposal.proposal)

    async def find_proposal(self, connection: Connection, proposal: UUID) -> Proposal | None:
        """See `ParkedTables`."""
        row = await connection.fetchrow(_FIND, proposal)
        return None if row is None else _of(row)

    async def decide(self, connection: Connection, proposal: Proposal, verdict: Verdict) -> Proposal:
        """See `ParkedTables`."""
        status = await connection.execute(
            _DECIDE,
            proposal.proposal,
            proposal.proposer,
            verdict.approved,
            verdict.decided_by,
            verdict.transaction,
        )
        if status != "INSERT 0 1":
            raise VerdictMeanwhile(str(proposal.proposal))
        return await self._stored(connection, proposal.proposal)

    async def again(
        self, connection: Connection, decision: UUID, call: UUID, person: str, reason: str
    ) -> bool:
        """See `ParkedTables`."""
        try:
            await decide_parked(
                connection, self._records, ParkedDecision(decision, call, "again", person, person, reason)
            )
        except NotParked:
            return False
        return True

    async def end(
        self, connection: Connection, proposal: Proposal, approver: str
    ) -> Sequence[StreamAppend] | None:
        """See `ParkedTables`. The decision has the proposal's id, so it is kept once."""
        decided = ParkedDecision(
            proposal.proposal, proposal.call, proposal.ending, proposal.proposer, approver, proposal.reason
        )
        try:
            return await decide_parked(connection, self._records, decided)
        except NotParked:
            return None

    async def _stored(self, connection: Connection, proposal: UUID) -> Proposal:
        found = await self.find_proposal(connection, proposal)
        if found is None:
            raise RuntimeError(f"proposal {proposal} was stored and is not there")
        return found


def _of(row: asyncpg.Record) -> Proposal:
    verdict = None
    if row["approved"] is not None:
        verdict = Verdict(row["approved"], row["decided_by"], row["transaction"], row["decided_at"])
    return Proposal(
        row["proposal"],
        row["call"],
        row["ending"],
        row["proposer"],
        row["reason"],
        row["proposed_at"],
        verdict,
    )
