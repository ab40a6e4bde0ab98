"""Calls to partners that wait for people: trying them again, or ending them without the partner.

To try again one person is enough: the call is the same. To end one without the partner moves money, or says
that it was moved elsewhere: one person proposes it, another one approves, each in a call of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from eventstore import StreamAppend
from eventstore.postgres import Connection
from upcard_wallet.app.draft import Books, Draft
from upcard_wallet.app.ports import Posting
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import DebtRecorded

Ending = Literal["done_by_hand", "owed_by_player"]
"""`done_by_hand`: the partner was brought to it by other means. `owed_by_player`: the partner cannot take a
win back, so the player owes it to us from now on."""

MOST_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class ParkedCall:
    """A call that people have to decide about, and how many wait behind it."""

    call: UUID
    lane: UUID
    """Whose turn it holds up: a player in a round, or a credit."""
    operator: str
    account: str
    round: str | None
    kind: Literal["win", "rollback"]
    undoes: Literal["bet", "win"] | None
    total: int
    """Minor units."""
    currency: str
    reason: str
    """`refused_funds`, `_player`, `_not_found`, `_other`; `no_answer`, `contradicted`."""
    recorded_at: dt.datetime
    changed_at: dt.datetime
    behind: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """A second person's word."""

    approved: bool
    decided_by: str
    """`staff:<id>`."""
    transaction: UUID | None
    """The ledger's, where one was posted."""
    decided_at: dt.datetime | None = None
    """None: not stored yet."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a parked call is to end, and what became of the proposal."""

    proposal: UUID
    """UUIDv7."""
    call: UUID
    ending: Ending
    proposer: str
    """`staff:<id>`."""
    reason: str
    """1 to 500 characters."""
    proposed_at: dt.datetime | None = None
    """None: not stored yet."""
    verdict: Verdict | None = None


class VerdictMeanwhile(Exception):
    """Another transaction has decided. Roll back, and begin again: its decision is found then."""


class ParkedTables(Protocol):
    """The tables of calls, proposals and decisions."""

    async def page(
        self, connection: Connection, operator: str, *, after: UUID | None, limit: int
    ) -> Sequence[ParkedCall]:
        """An operator's parked calls by lane; `after` is the last lane of the page before."""
        ...

    async def find_call(self, connection: Connection, call: UUID) -> ParkedCall | None:
        """A call that is parked now."""
        ...

    async def open_proposals(
        self, connection: Connection, calls: Sequence[UUID]
    ) -> dict[UUID, Sequence[Proposal]]:
        """Proposals about these calls that nobody has decided on, oldest first."""
        ...

    async def propose(self, connection: Connection, proposal: Proposal) -> Proposal:
        """Store a proposal; as it is stored."""
        ...

    async def find_proposal(self, connection: Connection, proposal: UUID) -> Proposal | None:
        """A proposal with its verdict."""
        ...

    async def decide(self, connection: Connection, proposal: Proposal, verdict: Verdict) -> Proposal:
        """Store a verdict; as it is stored. Raises VerdictMeanwhile."""
        ...

    async def again(
        self, connection: Connection, decision: UUID, call: UUID, person: str, reason: str
    ) -> bool:
        """Have a call tried again, with the full time to succeed; False: it is not parked any more."""
        ...

    async def end(
        self, connection: Connection, proposal: Proposal, approver: str
    ) -> Sequence[StreamAppend] | None:
        """End a call as it was proposed, and let its lane go on; None: it is not parked any more."""
        ...


async def retry_parked(
    wallet: Wallet, tables: ParkedTables, connection: Connection, call: UUID, reason: str, origin: Origin
) -> Done[UUID | Refused]:
    """Have a parked call tried again; gives its id. Refused: `call_not_parked`, `reason_invalid`."""
    if not _is_reason(reason):
        return Done(Refused("reason_invalid"))
    again = await tables.again(connection, wallet.recorder.new_id(), call, origin.actor, reason)
    return Done(call if again else Refused("call_not_parked"))


async def propose_ending(
    tables: ParkedTables, connection: Connection, proposal: Proposal
) -> Done[Proposal | Refused]:
    """Propose to end a parked call without the partner; nothing happens before another person approves.

    Refused: `call_not_parked`, `reason_invalid`, `ending_invalid` (a player can only owe a win that was to be
    taken back).
    """
    if not _is_reason(proposal.reason):
        return Done(Refused("reason_invalid"))
    call = await tables.find_call(connection, proposal.call)
    if call is None:
        return Done(Refused("call_not_parked"))
    if proposal.ending == "owed_by_player" and call.undoes != "win":
        return Done(Refused("ending_invalid"))
    return Done(await tables.propose(connection, proposal))


async def decide_ending(
    wallet: Wallet,
    tables: ParkedTables,
    connection: Connection,
    proposal: UUID,
    *,
    approve: bool,
    origin: Origin,
) -> Done[Proposal | Refused]:
    """Approve a proposal, and so end the call; or reject it. `origin.actor` is who decides.

    `owed_by_player` posts receivable → operator, `DebtRecorded`. The same person with the same word again
    changes nothing. Refused: `proposal_unknown`, `proposal_decided` (otherwise, or by somebody else),
    `two_people_needed`, `call_not_parked` (it ended otherwise meanwhile). Raises VerdictMeanwhile.
    """
    found = await tables.find_proposal(connection, proposal)
    if found is None:
        return Done(Refused("proposal_unknown"))
    before = found.verdict
    if before is not None:
        same = before.approved == approve and before.decided_by == origin.actor
        return Done(found if same else Refused("proposal_decided"))
    if not approve:
        return Done(await tables.decide(connection, found, Verdict(approve, origin.actor, None)))
    if found.proposer == origin.actor:
        return Done(Refused("two_people_needed"))
    if await tables.find_call(connection, found.call) is None:
        return Done(Refused("call_not_parked"))
    transaction: UUID | None = None
    appends: Sequence[StreamAppend] = ()
    if found.ending == "owed_by_player":
        transaction, appends = await _post_debt(wallet, tables, connection, found, origin)
    more = await tables.end(connection, found, origin.actor)
    if more is None:
        raise VerdictMeanwhile(str(found.call))
    decided = await tables.decide(connection, found, Verdict(approve, origin.actor, transaction))
    return Done(decided, [*appends, *more])


async def _post_debt(
    wallet: Wallet, tables: ParkedTables, connection: Connection, proposal: Proposal, origin: Origin
) -> tuple[UUID, Sequence[StreamAppend]]:
    """What the partner did not take back the player owes: our ledger takes the partner at its word."""
    parked = await tables.find_call(connection, proposal.call)
    if parked is None:
        raise VerdictMeanwhile(str(proposal.call))
    account: AccountRef = (await wallet.ledger.accounts(connection, [parked.account]))[parked.account]
    books = Books(wallet)
    await books.find(connection, [account], kinds=("operator",))
    draft = Draft(wallet)
    await draft.lock(connection, books.to_lock(account))
    # After the lock: whoever ended it in the same way before has committed.
    call = await tables.find_call(connection, proposal.call)
    if call is None:
        raise VerdictMeanwhile(str(proposal.call))
    event = wallet.recorder.new_id()
    transaction = draft.post(
        "debt",
        f"debt/{call.call}",
        [
            Posting(books.of(account).receivable, account.currency, -call.total),
            Posting(books.cash(account), account.currency, call.total),
        ],
        event=event,
        account=account.account,
        round_name=call.round,
    )
    told = DebtRecorded(
        str(transaction), call.total, str(call.call), proposal.proposer, origin.actor, call.round
    )
    draft.tell(account.account, told, origin, event)
    wallet.watcher.owed(account.currency, call.total, f"{call.round}/{account.player}")
    return transaction, await draft.store(connection)


def _is_reason(reason: str) -> bool:
    return 0 < len(reason) <= MOST_REASON_CHARACTERS and reason.isprintable()
