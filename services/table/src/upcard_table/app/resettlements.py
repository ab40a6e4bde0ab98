"""Corrections that one person proposes and another approves, until the round's stream has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import UUID

ResettlementState = Literal["proposed", "approving", "approved", "rejected"]
"""`approving`: approved, and the table's owner has not said yet that the round is corrected."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A correction of one round, and how far it is."""

    resettlement: UUID
    table: str
    number: int
    proposer: str
    """`staff:<id>`."""
    correction: bytes = field(repr=False)
    """What is to be corrected, as the edge writes it."""
    state: ResettlementState = "proposed"
    decided_by: str | None = None
    attempts: int = 0
    """How often it was approved; each attempt is another call to the table's owner."""


class Proposals(Protocol):
    """Where proposals are kept. All run in the caller's transaction, on its connection."""

    async def add(self, connection: Any, proposal: Proposal) -> None:  # noqa: ANN401 - the adapter's own kind
        """Keep a new proposal."""
        ...

    async def find(self, connection: Any, resettlement: UUID) -> Proposal | None:  # noqa: ANN401 - likewise
        """A proposal, locked until the transaction ends."""
        ...

    async def decide(
        self,
        connection: Any,  # noqa: ANN401 - likewise
        resettlement: UUID,
        state: ResettlementState,
        decided_by: str | None,
        attempts: int,
    ) -> None:
        """Note how far it is now."""
        ...


def word_on(proposal: Proposal, person: str, *, approve: bool) -> str | None:
    """Whether this person's word can be taken, or the slug of why not.

    Who approves a proposal that is being approved goes on with it: the first one's process may have died.
    """
    if proposal.state in {"approved", "rejected"}:
        same = approve == (proposal.state == "approved") and person == proposal.decided_by
        return None if same else "resettlement_decided"
    if proposal.state == "approving" and not approve:
        return "resettlement_decided"
    if approve and person == proposal.proposer:
        return "two_people_needed"
    return None
