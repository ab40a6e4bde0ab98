"""Calls of two people: adjustments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, invalid, read
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.app.adjustments import Adjustment, decide, propose
from upcard_wallet.app.wallet import Refused
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.answering import Desk, origin
from upcard_wallet.entrypoints.grpc.roles import MAY_DECIDE, MAY_LIST, MAY_PROPOSE, check_role

Context = grpc.aio.ServicerContext[Any, Any]


class AdjustmentCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ProposeAdjustment(  # noqa: N802 - the name of the call
        self,
        request: pb.ProposeAdjustmentRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ProposeAdjustmentResponse:
        """Propose to move money by hand."""
        check_role(MAY_PROPOSE)
        book, against = messages.BOOKS.get(request.book), messages.AGAINST.get(request.against)
        if book is None or against is None:
            raise invalid("book or against is not said")
        wallet = self._desk.wallet

        async def work(
            connection: Connection,
        ) -> tuple[pb.ProposeAdjustmentResponse, Sequence[StreamAppend]]:
            proposal = Adjustment(
                wallet.recorder.new_id(),
                request.account,
                request.amount,
                book,
                against,
                request.reason,
                request.round or None,
                origin().actor,
            )
            done = await propose(wallet, self._desk.adjustments, connection, proposal)
            return pb.ProposeAdjustmentResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.ProposeAdjustmentResponse, work)

    async def DecideAdjustment(  # noqa: N802 - the name of the call
        self,
        request: pb.DecideAdjustmentRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.DecideAdjustmentResponse:
        """Approve or reject a proposal."""
        check_role(MAY_DECIDE)
        adjustment = messages.uuid_of(request.adjustment, "adjustment")

        async def work(
            connection: Connection,
        ) -> tuple[pb.DecideAdjustmentResponse, Sequence[StreamAppend]]:
            done = await decide(
                self._desk.wallet,
                self._desk.adjustments,
                connection,
                adjustment,
                approve=request.approve,
                origin=origin(),
            )
            return pb.DecideAdjustmentResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.DecideAdjustmentResponse, work)

    async def ListAdjustments(  # noqa: N802 - the name of the call
        self,
        request: pb.ListAdjustmentsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListAdjustmentsResponse:
        """A page of adjustments."""
        check_role(MAY_LIST)
        after = messages.optional_uuid(request.after, "after")
        limit = messages.page_size(request.limit)

        async def work(connection: Connection) -> Sequence[Adjustment]:
            return await self._desk.adjustments.list(
                connection, proposed_only=request.proposed_only, after=after, limit=limit + 1
            )

        found = await read(self._desk.answering, work)
        shown = map(messages.adjustment, found[:limit])
        return pb.ListAdjustmentsResponse(adjustments=shown, more=len(found) > limit)


def _either(answer: Adjustment | Refused) -> dict[str, Any]:
    if isinstance(answer, Refused):
        return {"refusal": messages.refusal(answer)}
    return {"adjustment": messages.adjustment(answer)}
