"""Calls about jackpots and their fences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc.aio

from eventstore import StreamAppend
from eventstore.postgres import Connection
from servicekit.answering import answer_once, read
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard_bonus.app.fencing import fence_round, lift_fence
from upcard_bonus.app.keeping_jackpots import ChangeJackpot, OpenJackpot, change_jackpot, open_jackpot
from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.refusal import Refused
from upcard_bonus.entrypoints.grpc import messages
from upcard_bonus.entrypoints.grpc.desk import Desk, check_role, origin

Context = grpc.aio.ServicerContext[Any, Any]

MAY_KEEP: Final = ("admin", "operations")
"""One of these roles is needed to open or change a jackpot."""

COUNTED_UP_TO: Final = 1_000
"""Waiting rounds are counted up to this."""


class JackpotCalls:
    """A part of the servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def OpenJackpot(  # noqa: N802 - the name of the call
        self,
        request: pb.OpenJackpotRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.OpenJackpotResponse:
        """Open a jackpot."""
        check_role(*MAY_KEEP)
        command = OpenJackpot(
            request.jackpot, request.operator, request.currency, messages.settings_of(request.settings)
        )

        async def work(connection: Connection) -> tuple[pb.OpenJackpotResponse, Sequence[StreamAppend]]:
            done = await open_jackpot(self._desk.office, connection, command, origin())
            return pb.OpenJackpotResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.OpenJackpotResponse, work)

    async def ChangeJackpot(  # noqa: N802 - the name of the call
        self,
        request: pb.ChangeJackpotRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ChangeJackpotResponse:
        """Change its settings."""
        check_role(*MAY_KEEP)
        command = ChangeJackpot(request.jackpot, messages.settings_of(request.settings))

        async def work(connection: Connection) -> tuple[pb.ChangeJackpotResponse, Sequence[StreamAppend]]:
            done = await change_jackpot(self._desk.office, connection, command, origin())
            return pb.ChangeJackpotResponse(**_either(done.answer)), done.appends

        return await answer_once(self._desk.answering, request, pb.ChangeJackpotResponse, work)

    async def GetJackpot(  # noqa: N802 - the name of the call
        self,
        request: pb.GetJackpotRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetJackpotResponse:
        """A jackpot as it is now."""
        jackpots = self._desk.office.jackpots

        async def work(connection: Connection) -> pb.GetJackpotResponse:
            found = await jackpots.find(connection, request.jackpot)
            if found is None:
                return pb.GetJackpotResponse(refusal=messages.refusal(Refused("jackpot_unknown")))
            waiting = await jackpots.waiting(connection, [found.jackpot], COUNTED_UP_TO)
            return pb.GetJackpotResponse(jackpot=messages.jackpot(found, waiting[found.jackpot]))

        return await read(self._desk.answering, work)

    async def ListJackpots(  # noqa: N802 - the name of the call
        self,
        request: pb.ListJackpotsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListJackpotsResponse:
        """A page of jackpots."""
        jackpots, limit = self._desk.office.jackpots, messages.page_size(request.limit)

        async def work(connection: Connection) -> pb.ListJackpotsResponse:
            found = await jackpots.list(
                connection,
                operator=request.operator or None,
                table=request.table or None,
                after=request.after,
                limit=limit + 1,
            )
            shown = found[:limit]
            waiting = await jackpots.waiting(connection, [one.jackpot for one in shown], COUNTED_UP_TO)
            return pb.ListJackpotsResponse(
                jackpots=[messages.jackpot(one, waiting[one.jackpot]) for one in shown],
                more=len(found) > limit,
            )

        return await read(self._desk.answering, work)

    async def FenceRound(  # noqa: N802 - the name of the call
        self,
        request: pb.FenceRoundRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.FenceRoundResponse:
        """Fence the pools of a round."""
        desk = self._desk

        async def work(connection: Connection) -> tuple[pb.FenceRoundResponse, Sequence[StreamAppend]]:
            done = await fence_round(desk.office, connection, request.round, desk.fence_lasts, origin())
            if isinstance(done.answer, Refused):
                return pb.FenceRoundResponse(refusal=messages.refusal(done.answer)), done.appends
            fences = pb.Fences(jackpots=map(messages.fenced, done.answer))
            return pb.FenceRoundResponse(fences=fences), done.appends

        return await answer_once(desk.answering, request, pb.FenceRoundResponse, work)

    async def LiftFence(  # noqa: N802 - the name of the call
        self,
        request: pb.LiftFenceRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.LiftFenceResponse:
        """Lift a round's fences."""

        async def work(connection: Connection) -> tuple[pb.LiftFenceResponse, Sequence[StreamAppend]]:
            done = await lift_fence(self._desk.office, connection, request.round, origin())
            return pb.LiftFenceResponse(jackpots=done.answer), done.appends

        return await answer_once(self._desk.answering, request, pb.LiftFenceResponse, work)


def _either(answer: Jackpot | Refused) -> dict[str, Any]:
    """The field of an answer that a jackpot, or a refusal, belongs into."""
    if isinstance(answer, Refused):
        return {"refusal": messages.refusal(answer)}
    return {"jackpot": messages.jackpot(answer)}
