"""Reports of an operator's money, read from the wallet in the platform's name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.grpc import acting_as
from upcard.wallet.v1 import operator_reports_pb2 as pb
from upcard_gateway.adapters.history_rounds import CursorWrong, PeriodWrong
from upcard_gateway.adapters.services import PLATFORM, Services
from upcard_gateway.app.reports import (
    Call,
    CallKind,
    CallState,
    CallTotal,
    Changes,
    KindTotal,
    Line,
    PlayersHave,
    Stake,
    Totals,
    WalletKind,
)

PAGE_S: Final = 10.0
"""Deadline of a call for a page."""
TOTALS_S: Final = 25.0
"""Deadline of a call for sums, which looks at everything of a period."""
LARGEST_PAGE: Final = 1_000

_KINDS: Final[Mapping[int, CallKind]] = {
    pb.PARTNER_CALL_KIND_BET: "bet",
    pb.PARTNER_CALL_KIND_WIN: "win",
    pb.PARTNER_CALL_KIND_ROLLBACK_OF_BET: "rollback_of_bet",
    pb.PARTNER_CALL_KIND_ROLLBACK_OF_WIN: "rollback_of_win",
}
_CALL_STATES: Final[Mapping[int, CallState]] = {
    pb.PARTNER_CALL_STATE_WAITING: "waiting",
    pb.PARTNER_CALL_STATE_DONE: "done",
    pb.PARTNER_CALL_STATE_REFUSED: "refused",
    pb.PARTNER_CALL_STATE_UNKNOWN: "unknown",
    pb.PARTNER_CALL_STATE_PARKED: "parked",
}


async def transactions(  # noqa: PLR0913, PLR0917 - the period and the page
    services: Services,
    operator: str,
    since: dt.datetime,
    until: dt.datetime,
    after: str,
    limit: int,
    round_name: str = "",
) -> tuple[list[Line], str]:
    """A page of an operator's transactions, by account and time, and where the next one begins.

    Of one round, or of any. Raises CursorWrong, PeriodWrong.
    """
    request = pb.ListOperatorTransactionsRequest(
        operator=operator,
        since=_stamp(since),
        until=_stamp(until),
        after=after,
        limit=limit,
        round=round_name,
    )
    with acting_as(PLATFORM):
        try:
            answer = await services.wallet.ListOperatorTransactions(request, timeout=PAGE_S)
        except grpc.aio.AioRpcError as error:
            raise _meant(error, after) from error
    if answer.WhichOneof("result") == "refusal":
        raise PeriodWrong
    return [_line(one) for one in answer.page.transactions], answer.page.next


async def totals(services: Services, operator: str, since: dt.datetime, until: dt.datetime) -> Totals:
    """What a period comes to. Raises PeriodWrong."""
    request = pb.GetOperatorTotalsRequest(operator=operator, since=_stamp(since), until=_stamp(until))
    with acting_as(PLATFORM):
        answer = await services.wallet.GetOperatorTotals(request, timeout=TOTALS_S)
    if answer.WhichOneof("result") == "refusal":
        raise PeriodWrong
    made = answer.totals
    return Totals(
        tuple(
            KindTotal(
                one.currency,
                _wallet(seamless=one.seamless),
                one.kind,
                one.transactions,
                _changes(one.changes),
            )
            for one in made.totals
        ),
        tuple(
            PlayersHave(
                one.currency,
                _wallet(seamless=one.seamless),
                one.accounts,
                _changes(one.opening),
                _changes(one.closing),
            )
            for one in made.balances
        ),
        tuple(
            CallTotal(one.currency, _KINDS[one.kind], _CALL_STATES[one.state], one.calls, one.amount)
            for one in made.calls
        ),
    )


async def stakes(services: Services, operator: str, after: str, limit: int) -> tuple[list[Stake], str]:
    """A page of what is at stake, by account and round. Raises CursorWrong."""
    request = pb.ListOperatorStakesRequest(operator=operator, after=after, limit=limit)
    with acting_as(PLATFORM):
        try:
            answer = await services.wallet.ListOperatorStakes(request, timeout=PAGE_S)
        except grpc.aio.AioRpcError as error:
            raise _meant(error, after) from error
    return [_stake(one) for one in answer.stakes], answer.next


def _meant(error: grpc.aio.AioRpcError, after: str) -> Exception:
    wrong = bool(after) and error.code() is grpc.StatusCode.INVALID_ARGUMENT
    return CursorWrong() if wrong else error


def _line(one: pb.OperatorTransaction) -> Line:
    return Line(
        transaction=one.transaction,
        at=one.recorded_at.ToDatetime(dt.UTC),
        kind=one.kind,
        player=one.player,
        account=one.account,
        currency=one.currency,
        wallet=_wallet(seamless=one.seamless),
        changes=_changes(one.changes),
        round=one.round or None,
        revision=one.revision or None,
        event=one.event,
        cause_event=one.cause_event or None,
        calls=tuple(
            Call(
                call.call,
                _KINDS[call.kind],
                _CALL_STATES[call.state],
                call.amount,
                tuple(call.transactions),
                call.recorded_at.ToDatetime(dt.UTC),
            )
            for call in one.calls
        ),
    )


def _stake(one: pb.OperatorStake) -> Stake:
    return Stake(
        one.round,
        one.player,
        one.account,
        one.currency,
        _wallet(seamless=one.seamless),
        one.holds,
        one.held,
        one.unsure,
        one.since.ToDatetime(dt.UTC),
    )


def _changes(one: pb.MoneyChange) -> Changes:
    return Changes(one.cash, one.held, one.promo, one.owed)


def _wallet(*, seamless: bool) -> WalletKind:
    return "seamless" if seamless else "transfer"


def _stamp(moment: dt.datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(moment)
    return made
