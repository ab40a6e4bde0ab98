"""Fencing a round's jackpot pools before the round is undone: `app.ports.Fence` over gRPC."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import uuid4

import grpc.aio
import structlog

from rules_core.round.refusal import Refusal, refuse
from servicekit.context import bind
from servicekit.grpc import failure_of
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard_table.app.calls import By

_log = structlog.get_logger("upcard_table")

BONUS: Final = pb.DESCRIPTOR.services_by_name["BonusService"]
"""The service, for whoever opens the channel."""

NOT_FENCED: Final = "jackpot_not_fenced"


class BonusFence:
    """Asks the bonus service. The same round again is the same fence."""

    def __init__(self, stub: BonusServiceStub) -> None:
        self._stub = stub

    async def before_correction(self, round_name: str, by: By, deadline_s: float) -> Refusal | None:
        """See `app.ports.Fence`."""
        left_s = deadline_s - asyncio.get_running_loop().time()
        if left_s <= 0:
            return _refusal("bonus was not asked in time")
        request = pb.FenceRoundRequest(request_id=uuid4().hex, round=round_name)
        try:
            with bind(correlation_id=by.correlation_id):
                answer = await self._stub.FenceRound(request, timeout=left_s)
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            _log.error("a round's jackpots could not be fenced", round=round_name, reason=failure.reason)
            return _refusal("bonus does not answer; try again")
        if answer.WhichOneof("result") == "fences":
            return None
        return _refusal(answer.refusal.message or answer.refusal.reason)


class NoBonus:
    """Where no bonus service is configured: nothing can be fenced."""

    async def before_correction(
        self,
        round_name: str,  # noqa: ARG002 - the port's
        by: By,  # noqa: ARG002 - the port's
        deadline_s: float,  # noqa: ARG002 - the port's
    ) -> Refusal | None:
        """See `app.ports.Fence`."""
        return _refusal("this table service knows no bonus service; give UPCARD_BONUS_ADDRESS")


def _refusal(why: str) -> Refusal:
    return refuse(NOT_FENCED, f"the round contributed to a jackpot, and its pool is not fenced: {why}")
