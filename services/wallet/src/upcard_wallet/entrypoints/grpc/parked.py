"""Calls of people about calls to operators' wallets that wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, invalid, read
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.app.parked import (
    Ending,
    ParkedCall,
    Proposal,
    decide_ending,
    propose_ending,
    retry_parked,
)
from upcard_wallet.app.wallet import Refused
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.answering import Desk, origin
from upcard_wallet.entrypoints.grpc.roles import MAY_DECIDE, MAY_LIST, MAY_PROPOSE, check_role

Context = grpc.aio.ServicerContext[Any, Any]

_USUAL_PAGE: Final = 100
_LARGEST_PAGE: Final = 500

ENDINGS: Final[dict[pb.ParkedEnding.ValueType, Ending]] = {
    pb.PARKED_ENDING_DONE_BY_HAND: "done_by_hand",
    pb.PARKED_ENDING_OWED_BY_PLAYER: "owed_by_player",
}
_ENDINGS: Final = {ending: value for value, ending in ENDINGS.items()}

_KINDS: Final = {
    None: pb.PARKED_KIND_WIN,
    "bet": pb.PARKED_KIND_ROLLBACK_OF_BET,
    "win": pb.PARKED_KIND_ROLLBACK_OF_WIN,
}


class ParkedCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListParkedCalls(  # noqa: N802 - the name of the call
        self,
        request: pb.ListParkedCallsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListParkedCallsResponse:
        """A page of an operator's parked calls."""
        check_role(MAY_LIST)
        after = messages.optional_uuid(request.after, "after")
        limit = messages.page_size(request.limit, usual=_USUAL_PAGE, most=_LARGEST_PAGE)
        tables = self._desk.parked

        async def work(connection: Connection) -> tuple[list[pb.ParkedCall], bool]:
            found = await tables.page(connection, request.operator, after=after, limit=limit + 1)
            proposals = await tables.open_proposals(connection, [one.call for one in found])
            shown = [_call(one, proposals.get(one.call, ())) for one in found[:limit]]
            return shown, len(found) > limit

        calls, more = await read(self._desk.answering, work)
        return pb.ListParkedCallsResponse(calls=calls, more=more)

    async def RetryParkedCall(  # noqa: N802 - the name of the call
        self,
        request: pb.RetryParkedCallRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.RetryParkedCallResponse:
        """Have a parked call tried again."""
        check_role(MAY_DECIDE)
        desk = self._desk
        call = messages.uuid_of(request.call, "call")

        async def work(connection: Connection) -> tuple[pb.RetryParkedCallResponse, Sequence[StreamAppend]]:
            done = await retry_parked(desk.wallet, desk.parked, connection, call, request.reason, origin())
            refused = messages.refusal(done.answer) if isinstance(done.answer, Refused) else None
            return pb.RetryParkedCallResponse(refusal=refused), done.appends

        return await answer_once(desk.answering, request, pb.RetryParkedCallResponse, work)

    async def ProposeParkedEnding(  # noqa: N802 - the name of the call
        self,
        request: pb.ProposeParkedEndingRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ProposeParkedEndingResponse:
        """Propose to end a parked call without the operator's wallet."""
        check_role(MAY_PROPOSE)
        desk = self._desk
        call, ending = messages.uuid_of(request.call, "call"), ENDINGS.get(request.ending)
        if ending is None:
            raise invalid("ending is not said")

        async def work(
            connection: Connection,
        ) -> tuple[pb.ProposeParkedEndingResponse, Sequence[StreamAppend]]:
            proposal = Proposal(desk.wallet.recorder.new_id(), call, ending, origin().actor, request.reason)
            done = await propose_ending(desk.parked, connection, proposal)
            return pb.ProposeParkedEndingResponse(**_either(done.answer)), done.appends

        return await answer_once(desk.answering, request, pb.ProposeParkedEndingResponse, work)

    async def DecideParkedEnding(  # noqa: N802 - the name of the call
        self,
        request: pb.DecideParkedEndingRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.DecideParkedEndingResponse:
        """Approve or reject a proposal."""
        check_role(MAY_DECIDE)
        desk = self._desk
        proposal = messages.uuid_of(request.proposal, "proposal")

        async def work(
            connection: Connection,
        ) -> tuple[pb.DecideParkedEndingResponse, Sequence[StreamAppend]]:
            done = await decide_ending(
                desk.wallet, desk.parked, connection, proposal, approve=request.approve, origin=origin()
            )
            return pb.DecideParkedEndingResponse(**_either(done.answer)), done.appends

        return await answer_once(desk.answering, request, pb.DecideParkedEndingResponse, work)


def _either(answer: Proposal | Refused) -> dict[str, Any]:
    if isinstance(answer, Refused):
        return {"refusal": messages.refusal(answer)}
    return {"proposal": _proposal(answer)}


def _call(found: ParkedCall, proposals: Sequence[Proposal]) -> pb.ParkedCall:
    return pb.ParkedCall(
        call=str(found.call),
        operator=found.operator,
        account=found.account,
        round=found.round or "",
        kind=_KINDS[found.undoes],
        amount=found.total,
        currency=found.currency,
        reason=found.reason,
        recorded_at=messages.timestamp(found.recorded_at),
        parked_at=messages.timestamp(found.changed_at),
        behind=found.behind,
        proposals=map(_proposal, proposals),
        cursor=str(found.lane),
    )


def _proposal(found: Proposal) -> pb.ParkedProposal:
    made = pb.ParkedProposal(
        proposal=str(found.proposal),
        call=str(found.call),
        ending=_ENDINGS[found.ending],
        reason=found.reason,
        proposer=found.proposer,
        proposed_at=None if found.proposed_at is None else messages.timestamp(found.proposed_at),
        state=pb.PARKED_PROPOSAL_STATE_PROPOSED,
    )
    verdict = found.verdict
    if verdict is not None:
        approved, rejected = pb.PARKED_PROPOSAL_STATE_APPROVED, pb.PARKED_PROPOSAL_STATE_REJECTED
        made.state = approved if verdict.approved else rejected
        made.decided_by = verdict.decided_by
        made.transaction = "" if verdict.transaction is None else str(verdict.transaction)
        if verdict.decided_at is not None:
            made.decided_at.CopyFrom(messages.timestamp(verdict.decided_at))
    return made
