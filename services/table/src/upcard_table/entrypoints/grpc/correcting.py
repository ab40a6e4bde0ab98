"""Calls of two people: corrections of settled rounds.

The second person's word is made durable before the table's owner is asked, and the owner is asked under an id
of the proposal's own: whatever dies in between, the same word again ends what it began, and never corrects
twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar, cast
from uuid import UUID

from eventstore import StreamAppend
from eventstore.answers import AnswerKey, digest
from eventstore.coordination.outages import PASSING
from eventstore.ids import new_event_id
from eventstore.postgres import Connection
from rules_core.round import commands as c
from rules_core.round.events.ending import CardCorrection, ChoiceCorrection
from rules_core.round.events.fields import CorrectedFinal, CorrectedOption
from servicekit.answering import (
    answer_once,
    bind_request,
    database_unavailable,
    invalid,
    keep_answer,
    who_acts,
)
from upcard.call.v1.refusal_pb2 import Refusal
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import AnswerSlot, Result, RoundWork, TableCall
from upcard_table.app.resettlements import Proposal, Proposals, ResettlementState, word_on
from upcard_table.entrypoints.faults import reach
from upcard_table.entrypoints.grpc.answering import (
    Context,
    Desk,
    deadline,
    number_of,
    one_of,
    table_of,
)
from upcard_table.entrypoints.grpc.outcomes import refusal_in
from upcard_table.entrypoints.grpc.people import MANAGERS, MAY_PROPOSE, by, require_role

_MAX_FIXES: Final = 1_000
_OPTIONS: Final = frozenset({"", "bet", "sixth", "exchange", "fold", "none"})
_FINALS: Final = frozenset({"", "bet", "fold"})
_OWNERS_CALLER: Final = "service:table"
_STATES: Final[dict[str, pb.ResettlementState.ValueType]] = {
    "proposed": pb.RESETTLEMENT_STATE_PROPOSED,
    "approving": pb.RESETTLEMENT_STATE_PROPOSED,
    "approved": pb.RESETTLEMENT_STATE_APPROVED,
    "rejected": pb.RESETTLEMENT_STATE_REJECTED,
}
_SENTENCES: Final = {
    "resettlement_unknown": "there is no such proposal",
    "resettlement_decided": "it was decided before, otherwise or by somebody else",
    "two_people_needed": "another person has to approve it",
    "correction_unclear": "give either a refund, or the cards or choices that were wrong",
    "refund_missing": "a wrong result refunds every wager",
}

T = TypeVar("T")


class CorrectionCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk, proposals: Proposals) -> None:
        self._desk = desk
        self._proposals = proposals

    async def ProposeResettlement(  # noqa: N802 - the name of the call
        self,
        request: pb.ProposeResettlementRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ProposeResettlementResponse:
        """Propose to correct a settled round; whether the round can be, its owner says at the approval."""
        require_role(MAY_PROPOSE)
        table, number = table_of(request.table), number_of(request.round)
        if number is None:
            raise invalid("round: the number of a settled round")
        correction = _correction_of(request)
        proposal = Proposal(
            new_event_id(), table, number, who_acts(), correction.SerializeToString(deterministic=True)
        )
        refused = _unclear(request)

        async def work(
            connection: Connection,
        ) -> tuple[pb.ProposeResettlementResponse, Sequence[StreamAppend]]:
            if refused is not None:
                return pb.ProposeResettlementResponse(refusal=_refusal(refused)), ()
            await self._proposals.add(connection, proposal)
            return pb.ProposeResettlementResponse(resettlement=_shown(proposal)), ()

        return await answer_once(self._desk.answering, request, pb.ProposeResettlementResponse, work)

    async def DecideResettlement(  # noqa: N802 - the name of the call
        self, request: pb.DecideResettlementRequest, context: Context
    ) -> pb.DecideResettlementResponse:
        """Approve a proposal, and so correct the round; or reject it."""
        require_role(MANAGERS)
        table, resettlement = table_of(request.table), _uuid(request.resettlement)
        kept = await bind_request(self._desk.answering, request, pb.DecideResettlementResponse)
        if kept is not None:
            return kept
        found = await self._take_word(table, resettlement, approve=request.approve)
        if isinstance(found, Refusal):
            answer = pb.DecideResettlementResponse(refusal=found)
        elif found.state != "approving":
            answer = pb.DecideResettlementResponse(resettlement=_shown(found))
        else:
            reach("table.resettle.approved")
            answer = await self._correct(found, context)
            reach("table.resettle.corrected")
            await self._note(found, approved=answer.HasField("resettlement"))
        return await keep_answer(self._desk.answering, request, answer)

    async def _take_word(self, table: str, resettlement: UUID, *, approve: bool) -> Proposal | Refusal:
        """The proposal after the word of who acts, durably; or why it is not taken."""
        person = who_acts()

        async def work(connection: Connection) -> Proposal | Refusal:
            found = await self._proposals.find(connection, resettlement)
            if found is None or found.table != table:
                return _refusal("resettlement_unknown")
            refused = word_on(found, person, approve=approve)
            if refused is not None:
                return _refusal(refused, found)
            if found.state == "proposed":
                state: ResettlementState = "approving" if approve else "rejected"
                found = replace(found, state=state, decided_by=person, attempts=found.attempts + approve)
                await self._proposals.decide(connection, resettlement, state, person, found.attempts)
            return found

        return await self._write(work)

    async def _correct(self, proposal: Proposal, context: Context) -> pb.DecideResettlementResponse:
        """Have the owner correct the round; where that is another instance, it answers the whole call."""
        approved = pb.DecideResettlementResponse(resettlement=_shown(replace(proposal, state="approved")))

        def encode(results: Sequence[Result]) -> pb.DecideResettlementResponse:
            refused = refusal_in(results[0])
            return approved if refused is None else pb.DecideResettlementResponse(refusal=refused)

        key = AnswerKey(_OWNERS_CALLER, "Resettle", f"{proposal.resettlement}.{proposal.attempts}")
        slot = AnswerSlot(
            key,
            digest(proposal.correction),
            lambda results: encode(results).SerializeToString(deterministic=True),
        )
        work = RoundWork(_command_of(proposal), by(), proposal.number)
        call = TableCall(proposal.table, (work,), slot, deadline())
        found = await self._desk.router.handle(call, context)
        return pb.DecideResettlementResponse.FromString(found) if isinstance(found, bytes) else encode(found)

    async def _note(self, proposal: Proposal, *, approved: bool) -> None:
        """Note what the owner said; another instance may have noted it before."""

        async def work(connection: Connection) -> None:
            found = await self._proposals.find(connection, proposal.resettlement)
            if found is None or (found.state, found.attempts) != ("approving", proposal.attempts):
                return
            if approved:
                await self._proposals.decide(
                    connection, found.resettlement, "approved", found.decided_by, found.attempts
                )
            else:
                await self._proposals.decide(connection, found.resettlement, "proposed", None, found.attempts)

        await self._write(work)

    async def _write(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            async with self._desk.answering.pool.acquire() as connection, connection.transaction():
                return await work(connection)
        except PASSING as error:
            raise database_unavailable() from error


def _unclear(request: pb.ProposeResettlementRequest) -> str | None:
    """What is wrong with a correction whatever the round was, as a slug."""
    if request.refund == bool(request.cards or request.choices):
        return "correction_unclear"
    return "refund_missing" if request.reason == "wrong_result" and not request.refund else None


def _correction_of(request: pb.ProposeResettlementRequest) -> pb.Resettlement:
    """What is to be corrected. Raises CallError for words that do not exist, and for too many."""
    if len(request.cards) > _MAX_FIXES or len(request.choices) > _MAX_FIXES:
        raise invalid(f"a correction has at most {_MAX_FIXES} cards, and as many choices")
    for choice in request.choices:
        one_of(choice.option, _OPTIONS, "option")
        one_of(choice.final, _FINALS, "final")
    return pb.Resettlement(
        reason=request.reason, refund=request.refund, cards=request.cards, choices=request.choices
    )


def _command_of(proposal: Proposal) -> c.Resettle:
    said = pb.Resettlement.FromString(proposal.correction)
    return c.Resettle(
        said.reason,
        proposal.proposer,
        proposal.decided_by or "",
        said.refund,
        tuple(CardCorrection(one.place, one.card) for one in said.cards),
        tuple(_choice_of(one) for one in said.choices),
    )


def _choice_of(said: pb.ChoiceCorrection) -> ChoiceCorrection:
    return ChoiceCorrection(
        said.box,
        said.player,
        cast("CorrectedOption", said.option) if said.option else None,
        tuple(said.positions),
        cast("CorrectedFinal", said.final) if said.final else None,
        said.insurance if said.HasField("insurance") else None,
        said.purchase if said.HasField("purchase") else None,
    )


def _shown(proposal: Proposal) -> pb.Resettlement:
    """A proposal as it is now."""
    shown = pb.Resettlement.FromString(proposal.correction)
    shown.resettlement = str(proposal.resettlement)
    shown.table = proposal.table
    shown.round = proposal.number
    shown.proposer = proposal.proposer
    shown.state = _STATES[proposal.state]
    shown.decided_by = (proposal.decided_by or "") if proposal.state != "approving" else ""
    return shown


def _refusal(slug: str, proposal: Proposal | None = None) -> Refusal:
    """Why a word is not taken; of a proposal with how far it is, so that who asked need not guess."""
    data = {} if proposal is None else {"state": proposal.state, "decided_by": proposal.decided_by or ""}
    return Refusal(reason=slug, message=_SENTENCES[slug], data=data)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise invalid("resettlement is no UUID") from None
