"""Proposing an adjustment and deciding on it: two calls of two people, so each has vouched for the whole."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.adjust import Adjust, adjust
from upcard_wallet.app.moving import Moved
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.ids import is_amount, is_round

_is_reason = re.compile("[a-z][a-z0-9_]{0,99}").fullmatch


@dataclass(frozen=True, slots=True)
class Decision:
    """A second person's word."""

    approved: bool
    decided_by: str
    """`staff:<id>`."""
    transaction: UUID | None
    """The ledger's, of an approval."""
    decided_at: dt.datetime | None = None
    """None: not stored yet."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A proposal, and what became of it. The fields are explained in `Adjust`."""

    adjustment: UUID
    """UUIDv7."""
    account: str
    amount: int
    book: Literal["cash", "receivable"]
    against: Literal["house", "suspense"]
    reason: str
    round: str | None
    proposer: str
    """`staff:<id>`."""
    proposed_at: dt.datetime | None = None
    """None: not stored yet."""
    decision: Decision | None = None


class DecidedMeanwhile(Exception):
    """Another transaction has decided. Roll back, and begin again: its decision is found then."""


class Adjustments(Protocol):
    """The tables of proposals and decisions."""

    async def propose(self, connection: Connection, proposal: Adjustment) -> Adjustment:
        """Store a proposal; as it is stored."""
        ...

    async def find(self, connection: Connection, adjustment: UUID) -> Adjustment | None:
        """A proposal with its decision."""
        ...

    async def decide(self, connection: Connection, proposal: Adjustment, decision: Decision) -> Adjustment:
        """Store a decision; as it is stored. Raises DecidedMeanwhile."""
        ...

    async def list(
        self, connection: Connection, *, proposed_only: bool, after: UUID | None, limit: int
    ) -> Sequence[Adjustment]:
        """Adjustments after one, oldest first."""
        ...


async def propose(
    wallet: Wallet, tables: Adjustments, connection: Connection, proposal: Adjustment
) -> Done[Adjustment | Refused]:
    """Store a proposal; nothing moves.

    Refused: `account_unknown`, `amount_invalid`, `reason_invalid`, `round_invalid`,
    `partner_cannot_be_debited`. Whether there is enough to take is looked at when it is approved.
    """
    account = (await wallet.ledger.accounts(connection, [proposal.account])).get(proposal.account)
    if account is None:
        return Done(Refused("account_unknown"))
    if not is_amount(abs(proposal.amount)):
        return Done(Refused("amount_invalid"))
    if not _is_reason(proposal.reason):
        return Done(Refused("reason_invalid"))
    if proposal.round is not None and not is_round(proposal.round):
        return Done(Refused("round_invalid"))
    if account.purse == "seamless" and proposal.book == "cash" and proposal.amount < 0:
        return Done(Refused("partner_cannot_be_debited"))
    return Done(await tables.propose(connection, proposal))


async def decide(
    wallet: Wallet,
    tables: Adjustments,
    connection: Connection,
    adjustment: UUID,
    *,
    approve: bool,
    origin: Origin,
) -> Done[Adjustment | Refused]:
    """Approve a proposal, and post it; or reject it. `origin.actor` is who decides.

    The same person with the same word again changes nothing. Refused: `adjustment_unknown`,
    `adjustment_decided` (otherwise, or by somebody else), and for an approval what `adjust` refuses. Raises
    DecidedMeanwhile.
    """
    proposal = await tables.find(connection, adjustment)
    if proposal is None:
        return Done(Refused("adjustment_unknown"))
    before = proposal.decision
    if before is not None:
        same = before.approved == approve and before.decided_by == origin.actor
        return Done(proposal if same else Refused("adjustment_decided"))
    if not approve:
        return Done(await tables.decide(connection, proposal, Decision(approve, origin.actor, None)))
    done = await adjust(wallet, connection, _command(proposal, origin.actor), origin)
    if isinstance(done.answer, Refused):
        return Done(done.answer)
    posted: Moved = done.answer
    decision = Decision(approve, origin.actor, UUID(posted.transaction))
    return Done(await tables.decide(connection, proposal, decision), done.appends)


def _command(proposal: Adjustment, approver: str) -> Adjust:
    return Adjust(
        proposal.account,
        proposal.amount,
        proposal.book,
        proposal.against,
        proposal.reason,
        proposal.proposer,
        approver,
        str(proposal.adjustment),
        proposal.round,
    )
