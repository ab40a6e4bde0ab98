"""Asking a round's owner what became of a command."""

from __future__ import annotations

import uuid
from typing import Final

import grpc.aio
import structlog

from servicekit.grpc import failure_of
from upcard.table.v1 import table_pb2 as pb
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_wallet.app.old_holds import OldCommand, Word

TABLE: Final = pb.DESCRIPTOR.services_by_name["TableService"]
"""The service, for whoever opens a channel."""

_WORDS: Final[dict[pb.HoldAnswer.ValueType, Word]] = {
    pb.HOLD_ANSWER_STAKED: "staked",
    pb.HOLD_ANSWER_DECLINED: "declined",
}

_log = structlog.get_logger("upcard_wallet.old_holds")


class GrpcRoundOwner:
    """A `RoundOwner` over gRPC. Whichever instance of the table is asked passes it on to the owner."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = TableServiceStub(channel)

    async def word_on(self, command: OldCommand, timeout_s: float) -> Word | None:
        """See `RoundOwner`. Asked again it is asked anew: a stake of then may be declined now."""
        request = pb.ResolveHoldRequest(
            request_id=str(uuid.uuid4()),
            round=command.round,
            player=command.player,
            currency=command.currency,
            bet_id=command.bet_id,
            wagers=[
                pb.Wager(box=hold.box, wager=hold.wager, amount=hold.amount, funding=hold.funding or "")
                for hold in command.holds
            ],
        )
        about = {"round": command.round, "player": command.player, "bet_id": command.bet_id}
        try:
            answer = await self._stub.ResolveHold(request, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            _log.warning("nobody says what became of an old hold", why=failure_of(error).reason, **about)
            return None
        word = _WORDS.get(answer.resolved.answer)
        if word is None:
            why = answer.refusal.reason or "no_answer"
            _log.error("the table does not know what became of an old hold", why=why, **about)
        return word
