"""The call of a player who gives a tip: the wallet posts it first, then the table's stream tells of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from eventstore.answers import Answer, AnswerKey, begin, digest, find_answers, finish
from eventstore.coordination.outages import PASSING
from rules_core.round.refusal import Refusal, refuse
from servicekit.answering import (
    bind_request,
    business_key_of,
    database_unavailable,
    keep_answer,
    key_of,
)
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import Done, Refused, Result, TableWork
from upcard_table.app.funding.tips import Tips, WantedTip
from upcard_table.app.watching.looking import table_now
from upcard_table.app.watching.sources import Sources
from upcard_table.domain import commands as c
from upcard_table.domain.state import NEW_TABLE, TableState
from upcard_table.entrypoints.faults import reach
from upcard_table.entrypoints.grpc.answering import Context, Desk, ask_table, deadline, table_of
from upcard_table.entrypoints.grpc.outcomes import refusal, refusal_in
from upcard_table.entrypoints.grpc.people import by, player_of

_TIPS: Final = uuid.UUID("6f4a3b51-0f0e-4f0b-9a51-0c2f5a1d7e64")
_RECORDED: Final = "tip_recorded"


class TableStates(Protocol):
    """Where tables stand now, for whoever does not own them."""

    async def state(self, table: str) -> TableState:
        """The table after its last committed event; a new one where there is none."""
        ...


class LookedUp:
    """`TableStates` over the committed log."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    async def state(self, table: str) -> TableState:
        """See `TableStates`."""
        found = await table_now(self._sources, table)
        return NEW_TABLE if found is None else found.state


@dataclass(frozen=True, slots=True)
class TipDesk:
    """What tips stand on beside the desk."""

    tips: Tips
    states: TableStates


class TipCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk, tipping: TipDesk) -> None:
        self._desk = desk
        self._tipping = tipping

    async def Tip(  # noqa: N802 - the name of the call
        self, request: pb.TipRequest, context: Context
    ) -> pb.TipResponse:
        """Give a tip to the dealer who is signed in."""
        table, player = table_of(request.table), player_of(request.player)
        kept = await bind_request(self._desk.answering, request, pb.TipResponse)
        if kept is not None:
            return kept
        dealer = await self._dealer(request, table)
        if isinstance(dealer, Refusal):
            return pb.TipResponse(refusal=refusal(dealer))
        wanted = WantedTip(
            uuid.uuid5(_TIPS, business_key_of(request)).hex,
            player,
            request.currency,
            request.amount,
            table,
            dealer,
        )
        posted = await self._tipping.tips.post_tip(wanted, deadline())
        if isinstance(posted, Refusal):
            answer = pb.TipResponse(refusal=refusal(posted))
            return await keep_answer(self._desk.answering, request, answer)
        reach("table.tip.posted")
        command = c.RecordTip(player, request.currency, request.amount, posted.transaction, dealer)

        def encode(results: Sequence[Result]) -> pb.TipResponse:
            return pb.TipResponse(**_given(results, posted.transaction))

        work = TableWork(command, by())
        return await ask_table(self._desk, request, context, [work], pb.TipResponse, encode)

    async def _dealer(self, request: pb.TipRequest, table: str) -> str | Refusal:
        """Who gets the tip: the dealer of the first try, who may have gone since."""
        key = key_of(request)
        bound = AnswerKey(key.caller, f"{key.method}, the dealer", key.request_id)
        body = digest(table.encode())
        state = await self._tipping.states.state(table)
        try:
            async with self._desk.answering.pool.acquire() as connection, connection.transaction():
                known = (await find_answers(connection, [bound])).get(bound)
                if known is None and state.dealer is not None:
                    found = await begin(connection, bound, body)
                    known = found if isinstance(found, Answer) else None
                    if known is None:
                        await finish(connection, bound, state.dealer.encode())
                        return state.dealer
        except PASSING as error:
            raise database_unavailable() from error
        return _nobody(state) if known is None else known.answer.decode()


def _nobody(state: TableState) -> Refusal:
    if not state.table:
        return refuse("table_unknown", "there is no such table")
    return refuse("dealer_missing", "nobody deals at this table now")


def _given(results: Sequence[Result], transaction: str) -> dict[str, Any]:
    (result,) = results
    if isinstance(result, Refused) and result.refusal.code == _RECORDED:
        return {"given": pb.TipGiven(transaction=transaction)}
    refused = refusal_in(result)
    if refused is not None or not isinstance(result, Done):
        return {"refusal": refused}
    position = result.events[-1].position if result.events else 0
    return {"given": pb.TipGiven(transaction=transaction, position=position)}
