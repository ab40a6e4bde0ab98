"""The wallet's question about money that it holds for a command and hears nothing of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from rules_core.round import commands as c
from rules_core.round.events import DeclinedStake
from rules_core.round.events.fields import FeeName
from servicekit.answering import body_digest_of, invalid, key_of
from upcard.table.v1 import table_pb2 as pb
from upcard_table.app.calls import AnswerSlot, Declined, Done, Refused, Result, RoundWork, TableCall
from upcard_table.entrypoints.grpc.answering import Context, Desk, deadline, number_of, one_of, table_of
from upcard_table.entrypoints.grpc.outcomes import refusal
from upcard_table.entrypoints.grpc.people import by

_WAGERS: Final = frozenset(
    {"ante", "bet", "option_fee", "insurance", "purchase_fee", "bonus_player", "bonus_dealer"}
)
_MAX_WAGERS: Final = 100
_LATE: Final = "hold_answered_late"


class HoldCalls:
    """A part of the table's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ResolveHold(  # noqa: N802 - the name of the call
        self, request: pb.ResolveHoldRequest, context: Context
    ) -> pb.ResolveHoldResponse:
        """Point to the stake that a command became, or decline it for ever.

        The answer is the round's: whoever asks again, whenever, gets the same.
        """
        table, number = _round_of(request.round)
        if not 0 < len(request.wagers) <= _MAX_WAGERS:
            raise invalid(f"a command has 1 to {_MAX_WAGERS} wagers")
        stakes = tuple(_stake(one) for one in request.wagers)
        command = c.DeclineBet(request.player, request.currency or None, request.bet_id, stakes, _LATE, "")

        def encode(results: Sequence[Result]) -> pb.ResolveHoldResponse:
            return pb.ResolveHoldResponse(**_word(results))

        slot = AnswerSlot(
            key_of(request),
            body_digest_of(request),
            lambda results: encode(results).SerializeToString(deterministic=True),
        )
        call = TableCall(table, (RoundWork(command, by(), number),), slot, deadline())
        found = await self._desk.router.handle(call, context)
        return pb.ResolveHoldResponse.FromString(found) if isinstance(found, bytes) else encode(found)


def _word(results: Sequence[Result]) -> dict[str, Any]:
    (result,) = results
    match result:
        case Declined(position=position):
            return {"resolved": pb.HoldResolved(answer=pb.HOLD_ANSWER_DECLINED, position=position)}
        case Done(events=events):
            declined = [one for one in events if type(one.event).__name__ == "BetDeclined"]
            answer = pb.HOLD_ANSWER_DECLINED if declined else pb.HOLD_ANSWER_STAKED
            position = events[-1].position if events else 0
            return {"resolved": pb.HoldResolved(answer=answer, position=position)}
        case Refused(refusal=refused):
            return {"refusal": refusal(refused)}


def _round_of(name: str) -> tuple[str, int]:
    table, dot, number = name.rpartition(".")
    if not (dot and number.isascii() and number.isdecimal()):
        raise invalid("round: <table>.<number>")
    found = number_of(int(number))
    if found is None:
        raise invalid("round: <table>.<number>")
    return table_of(table), found


def _stake(wager: pb.Wager) -> DeclinedStake:
    name = cast("FeeName", one_of(wager.wager, _WAGERS, "wager"))
    return DeclinedStake(wager.box, name, wager.amount, wager.blind, wager.funding or None)
