"""Calls that report to operators: transactions, sums, what is at stake."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from eventstore.postgres import Connection
from servicekit.answering import invalid, read
from servicekit.grpc import ActorKind, call_context
from upcard.wallet.v1 import operator_reports_pb2 as pb
from upcard_wallet.adapters.postgres.operator_reports import (
    After,
    Changes,
    Period,
    PlayersHave,
    ReportLine,
    Stake,
    Total,
    operator_balances,
    operator_stakes,
    operator_totals,
    operator_transactions,
)
from upcard_wallet.adapters.seamless.tracing import (
    CallTotal,
    LoneCall,
    TracedCall,
    call_totals,
    calls_of,
    lone_calls,
)
from upcard_wallet.app.wallet import Refused
from upcard_wallet.entrypoints.grpc import messages
from upcard_wallet.entrypoints.grpc.answering import Desk
from upcard_wallet.entrypoints.grpc.roles import MAY_LIST, MAY_TRACE, check_role

Context = grpc.aio.ServicerContext[Any, Any]

LONGEST: Final = dt.timedelta(days=32)
"""The longest period of which sums are made."""

_LONE_MAX: Final = 500

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_INVALID: Final = Refused("period_invalid")

_KINDS: Final = {
    ("bet", None): pb.PARTNER_CALL_KIND_BET,
    ("win", None): pb.PARTNER_CALL_KIND_WIN,
    ("rollback", "bet"): pb.PARTNER_CALL_KIND_ROLLBACK_OF_BET,
    ("rollback", "win"): pb.PARTNER_CALL_KIND_ROLLBACK_OF_WIN,
}
_STATES: Final = {
    "asking": pb.PARTNER_CALL_STATE_WAITING,
    "queued": pb.PARTNER_CALL_STATE_WAITING,
    "accepted": pb.PARTNER_CALL_STATE_DONE,
    "done": pb.PARTNER_CALL_STATE_DONE,
    "refused": pb.PARTNER_CALL_STATE_REFUSED,
    "unknown": pb.PARTNER_CALL_STATE_UNKNOWN,
    "parked": pb.PARTNER_CALL_STATE_PARKED,
}


class OperatorReportCalls:
    """A part of the wallet's servicer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ListOperatorTransactions(  # noqa: N802 - the name of the call
        self,
        request: pb.ListOperatorTransactionsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListOperatorTransactionsResponse:
        """A page of transactions."""
        _check_who_asks(request.operator, MAY_TRACE)
        period = _period(request.since, request.until)
        after, limit = _after(request.after), messages.page_size(request.limit)
        if period is None:
            return pb.ListOperatorTransactionsResponse(refusal=messages.refusal(_INVALID))

        async def work(connection: Connection) -> pb.OperatorTransactions:
            found = await operator_transactions(
                connection, request.operator, period, after, limit + 1, request.round or None
            )
            page = found[:limit]
            calls = await calls_of(connection, [one for one in page if one.seamless])
            lone: Sequence[LoneCall] = ()
            if request.round and after is None:
                lone = await lone_calls(connection, request.operator, request.round, *period, _LONE_MAX)
            return pb.OperatorTransactions(
                transactions=[_line(one, calls.get(one.transaction, ())) for one in page],
                next=_token(page[-1].key) if len(found) > limit else "",
                lone_calls=map(_lone, lone),
            )

        return pb.ListOperatorTransactionsResponse(page=await read(self._desk.answering, work))

    async def GetOperatorTotals(  # noqa: N802 - the name of the call
        self,
        request: pb.GetOperatorTotalsRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetOperatorTotalsResponse:
        """Sums of a period."""
        _check_who_asks(request.operator)
        period = _period(request.since, request.until)
        if period is None or period.until - period.since > LONGEST:
            return pb.GetOperatorTotalsResponse(refusal=messages.refusal(_INVALID))

        async def work(connection: Connection) -> pb.OperatorTotals:
            totals = await operator_totals(connection, request.operator, period)
            balances = await operator_balances(connection, request.operator, period)
            calls = await call_totals(connection, request.operator, *period)
            return pb.OperatorTotals(
                totals=map(_total, totals), balances=map(_balance, balances), calls=map(_call_total, calls)
            )

        return pb.GetOperatorTotalsResponse(totals=await read(self._desk.answering, work))

    async def ListOperatorStakes(  # noqa: N802 - the name of the call
        self,
        request: pb.ListOperatorStakesRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.ListOperatorStakesResponse:
        """A page of what is at stake."""
        _check_who_asks(request.operator)
        after, limit = _stake_after(request.after), messages.page_size(request.limit)

        async def work(connection: Connection) -> Sequence[Stake]:
            return await operator_stakes(connection, request.operator, after, limit + 1)

        found = await read(self._desk.answering, work)
        page = found[:limit]
        following = f"{page[-1].account}/{page[-1].round}" if len(found) > limit else ""
        return pb.ListOperatorStakesResponse(stakes=map(_stake, page), next=following)


def _check_who_asks(operator: str, roles: frozenset[str] = MAY_LIST) -> None:
    """A platform, for the operator that the gateway has let in, or staff with a role. Raises CallError."""
    if not operator:
        raise invalid("operator is not said")
    if call_context().actor.kind is ActorKind.STAFF:
        check_role(roles)


def _period(since: Timestamp, until: Timestamp) -> Period | None:
    """None: its end is not after its beginning."""
    period = Period(messages.instant(since, "since"), messages.instant(until, "until"))
    return period if period.since < period.until else None


def _token(key: After) -> str:
    return f"{key.account}/{(key.recorded_at - _EPOCH) // _MICROSECOND}/{key.transaction}"


def _after(token: str) -> After | None:
    """Where a page begins. Raises CallError."""
    if not token:
        return None
    try:
        account, at, transaction = token.split("/")
        return After(account, _EPOCH + int(at) * _MICROSECOND, UUID(transaction))
    except (ValueError, OverflowError):
        raise invalid("after is nothing that a page ended with") from None


def _stake_after(token: str) -> tuple[str, str]:
    account, _, round_name = token.partition("/")
    if token and not (account and round_name):
        raise invalid("after is nothing that a page ended with")
    return account, round_name


def _line(line: ReportLine, calls: Sequence[TracedCall]) -> pb.OperatorTransaction:
    return pb.OperatorTransaction(
        transaction=str(line.transaction),
        recorded_at=messages.timestamp(line.recorded_at),
        kind=line.kind,
        account=line.account,
        player=line.player,
        currency=line.currency,
        seamless=line.seamless,
        changes=_changes(line.changes),
        round=line.round or "",
        revision=line.revision or 0,
        event=str(line.event),
        cause_event="" if line.cause_event is None else str(line.cause_event),
        calls=map(_call, calls),
    )


def _call(told: TracedCall) -> pb.PartnerCall:
    return pb.PartnerCall(
        call=str(told.call),
        kind=_KINDS[told.kind, told.undoes],
        state=_STATES[told.state],
        amount=told.total,
        transactions=map(str, told.business_ids),
        recorded_at=messages.timestamp(told.recorded_at),
        reason=told.reason or "",
        changed_at=messages.timestamp(told.changed_at),
    )


def _lone(found: LoneCall) -> pb.LonePartnerCall:
    return pb.LonePartnerCall(
        call=_call(found.told), account=found.account, player=found.player, currency=found.currency
    )


def _changes(found: Changes) -> pb.MoneyChange:
    return pb.MoneyChange(cash=found.cash, held=found.held, promo=found.promo, owed=found.owed)


def _total(found: Total) -> pb.OperatorTotal:
    return pb.OperatorTotal(
        currency=found.currency,
        kind=found.kind,
        seamless=found.seamless,
        transactions=found.transactions,
        changes=_changes(found.changes),
    )


def _balance(found: PlayersHave) -> pb.OperatorBalance:
    return pb.OperatorBalance(
        currency=found.currency,
        seamless=found.seamless,
        accounts=found.accounts,
        opening=_changes(found.opening),
        closing=_changes(found.closing),
    )


def _call_total(found: CallTotal) -> pb.PartnerCallTotal:
    return pb.PartnerCallTotal(
        currency=found.currency,
        kind=_KINDS[found.kind, found.undoes],
        state=_STATES[found.state],
        calls=found.calls,
        amount=found.amount,
    )


def _stake(found: Stake) -> pb.OperatorStake:
    return pb.OperatorStake(
        round=found.round,
        account=found.account,
        player=found.player,
        currency=found.currency,
        seamless=found.seamless,
        holds=found.holds,
        held=found.held,
        unsure=found.unsure,
        since=messages.timestamp(found.since),
    )
