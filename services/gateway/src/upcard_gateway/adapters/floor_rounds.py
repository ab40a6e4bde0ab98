"""Rounds, players and accounts as members of staff may see them, read in the name of whoever looks."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.grpc import Actor, acting_as, failure_of
from upcard.history.v1 import history_pb2 as pb
from upcard.wallet.v1 import operator_reports_pb2 as reports_pb
from upcard_gateway.adapters.services import Services
from upcard_seamless.currencies import minor_digits

__all__ = [
    "Happened",
    "Part",
    "RoundShown",
    "WalletLine",
    "account_lines",
    "bundle",
    "explained",
    "player_accounts",
    "player_rounds",
    "shown_round",
    "timeline",
    "wallet_lines",
]

CALL_S: Final = 10.0
"""Deadline of each call."""
BUNDLE_MAX_BYTES: Final = 33_554_432
"""A larger round's corrections are decided without their effect being shown before."""
_LINES: Final = 500
_MARGIN: Final = dt.timedelta(minutes=1)

_STATES: Final[Mapping[int, str]] = {
    pb.ROUND_STATE_OPEN: "open",
    pb.ROUND_STATE_SETTLED: "settled",
    pb.ROUND_STATE_CANCELLED: "cancelled",
}
_CALLS: Final[Mapping[int, str]] = {
    reports_pb.PARTNER_CALL_KIND_BET: "bet",
    reports_pb.PARTNER_CALL_KIND_WIN: "win",
    reports_pb.PARTNER_CALL_KIND_ROLLBACK_OF_BET: "rollback_of_bet",
    reports_pb.PARTNER_CALL_KIND_ROLLBACK_OF_WIN: "rollback_of_win",
}
_CALL_STATES: Final[Mapping[int, str]] = {
    reports_pb.PARTNER_CALL_STATE_WAITING: "waiting",
    reports_pb.PARTNER_CALL_STATE_DONE: "done",
    reports_pb.PARTNER_CALL_STATE_REFUSED: "refused",
    reports_pb.PARTNER_CALL_STATE_UNKNOWN: "unknown",
    reports_pb.PARTNER_CALL_STATE_PARKED: "parked",
}


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round as its viewer may see it."""

    round: str
    table: str
    number: int
    ruleset: str
    engine: int
    state: str
    reason: str
    opened_at: dt.datetime
    ended_at: dt.datetime | None
    dealers: tuple[str, ...]
    corrections: int
    totals: tuple[tuple[str, int, int, int], ...]
    """Currency, players, staked, returned."""
    view: Mapping[str, Any]
    position: int


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a round as its viewer may see it."""

    position: int
    at: dt.datetime
    type: str
    payload: Mapping[str, Any]
    actor: str


@dataclass(frozen=True, slots=True)
class Part:
    """What is to be said about one player's box."""

    box: int
    player: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartnerCall:
    """A call to an operator's own wallet, and how it ended."""

    call: str
    kind: str
    state: str
    amount: int
    at: dt.datetime
    reason: str
    """A slug: what the wallet answered where it did not do it, or why the call waits; or empty."""
    changed_at: dt.datetime | None
    """When its state was noted last; None where the wallet service does not say."""


@dataclass(frozen=True, slots=True)
class WalletLine:
    """A transaction of the ledger about a round, or a call that moved nothing: `no_movement`. Minor units."""

    transaction: str
    at: dt.datetime
    kind: str
    operator: str
    player: str
    account: str
    currency: str
    cash: int
    held: int
    owed: int
    seamless: bool
    calls: tuple[PartnerCall, ...]


@dataclass(frozen=True, slots=True)
class AccountLine:
    """A line of a statement."""

    at: dt.datetime
    kind: str
    cash: int
    held: int
    balance: int
    round: str
    reason: str
    transaction: str
    event: str


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a player."""

    account: str
    player: str
    operator: str
    currency: str
    purse: str


@dataclass(frozen=True, slots=True)
class PlayerRound:
    """A round of a player; amounts are minor units."""

    round: str
    state: str
    opened_at: dt.datetime
    currency: str
    staked: int
    returned: int | None
    net: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A page of a statement of an account."""

    account: Account
    closing: int
    held: int
    lines: tuple[AccountLine, ...] = field(default_factory=tuple)


async def shown_round(services: Services, actor: Actor, name: str) -> RoundShown | None:
    """A round; None: there is none of this name. Raises grpc.aio.AioRpcError."""
    with acting_as(actor):
        answer = await services.history.GetRound(pb.GetRoundRequest(round=name), timeout=CALL_S)
    if answer.WhichOneof("result") != "round":
        return None
    one, found = answer.round.round, answer.round
    return RoundShown(
        one.round,
        one.table,
        one.number,
        one.ruleset,
        one.engine,
        _STATES[one.state],
        one.reason,
        _moment(one.opened_at),
        _moment(one.ended_at) if one.HasField("ended_at") else None,
        tuple(one.dealers),
        one.corrections,
        tuple((sum_.currency, sum_.players, sum_.staked, sum_.returned) for sum_ in one.totals),
        json.loads(found.view),
        found.position,
    )


async def timeline(
    services: Services, actor: Actor, name: str, skip: int, limit: int
) -> tuple[list[Happened], bool]:
    """What happened in a round after the first `skip`, and whether there is more."""
    found: list[Happened] = []
    with acting_as(actor):
        call = services.history.GetTimeline(pb.GetTimelineRequest(round=name, skip=skip), timeout=CALL_S)
        try:
            async for batch in call:
                found += map(_happened, batch.entries)
                if len(found) > limit:
                    break
        finally:
            call.cancel()
    return found[:limit], len(found) > limit


async def explained(
    services: Services, actor: Actor, name: str, currencies: Sequence[str]
) -> tuple[tuple[str, ...], list[Part]]:
    """A settled round in words: about the table, and about each box. Nothing where it cannot be said."""
    request = pb.ExplainRoundRequest(round=name, digits={one: minor_digits(one) for one in currencies})
    with acting_as(actor):
        try:
            answer = await services.history.ExplainRound(request, timeout=CALL_S)
        except grpc.aio.AioRpcError as error:
            if failure_of(error).reason == "ruleset_unknown":
                return (), []
            raise
    if answer.WhichOneof("result") != "explained":
        return (), []
    table: dict[str, None] = {}
    parts: list[Part] = []
    for words in answer.explained.words:
        table.update(dict.fromkeys(words.table))
        parts += [Part(one.box, one.player, tuple(one.sentences)) for one in words.boxes]
    return tuple(table), sorted(parts, key=lambda one: (one.box, one.player))


async def wallet_lines(
    services: Services,
    actor: Actor,
    operator: str,
    name: str,
    since: dt.datetime,
    until: dt.datetime,
) -> tuple[list[WalletLine], bool]:
    """What a round did to the money of an operator's players, with each call to the operator's own wallet.

    At most so many lines, and whether there are more. Raises grpc.aio.AioRpcError.
    """
    request = reports_pb.ListOperatorTransactionsRequest(operator=operator, round=name, limit=_LINES)
    request.since.FromDatetime(since - _MARGIN)
    request.until.FromDatetime(until + _MARGIN)
    with acting_as(actor):
        answer = await services.wallet.ListOperatorTransactions(request, timeout=CALL_S)
    lines = [_wallet_line(one, operator) for one in answer.page.transactions]
    lines += [_lone_line(one, operator) for one in answer.page.lone_calls]
    return lines, bool(answer.page.next)


async def player_accounts(services: Services, actor: Actor, player: str) -> list[Account]:
    """A player's accounts; none for a player that nobody knows."""
    with acting_as(actor):
        answer = await services.history.ListAccounts(pb.ListAccountsRequest(player=player), timeout=CALL_S)
    return [_account(one) for one in answer.accounts.accounts]


async def player_rounds(
    services: Services, actor: Actor, player: str, after: str, limit: int
) -> tuple[list[PlayerRound], str]:
    """A page of a player's rounds, newest first, and where the next one begins."""
    request = pb.ListPlayerRoundsRequest(player=player, after=after, limit=limit)
    with acting_as(actor):
        answer = await services.history.ListPlayerRounds(request, timeout=CALL_S)
    found = [
        PlayerRound(
            one.round,
            _STATES[one.state],
            _moment(one.opened_at),
            one.currency,
            one.staked,
            one.returned if one.HasField("returned") else None,
            one.net if one.HasField("net") else None,
            one.revision,
        )
        for one in answer.page.rounds
    ]
    return found, answer.page.next


async def account_lines(
    services: Services, actor: Actor, account: str, since: dt.datetime, until: dt.datetime, limit: int
) -> Statement | None:
    """The statement of an account for a period; None: there is no such account."""
    request = pb.GetStatementRequest(of=pb.StatementOf(account=account), limit=limit)
    request.since.FromDatetime(since)
    request.until.FromDatetime(until)
    with acting_as(actor):
        answer = await services.history.GetStatement(request, timeout=CALL_S)
    if answer.WhichOneof("result") != "statement":
        return None
    made = answer.statement
    lines = tuple(
        AccountLine(
            _moment(one.at),
            one.kind,
            one.cash,
            one.held,
            one.balance.cash,
            one.round,
            one.reason,
            one.transaction,
            one.event,
        )
        for one in made.lines
    )
    return Statement(_account(made.account), made.closing.cash, made.closing.held, lines)


async def bundle(services: Services, actor: Actor, name: str) -> bytes | None:
    """A round that has ended as one file; None: it is not there, not ended, or too large."""
    pieces: list[bytes] = []
    size = 0
    with acting_as(actor):
        call = services.history.GetBundle(pb.GetBundleRequest(round=name), timeout=CALL_S)
        try:
            async for piece in call:
                if piece.WhichOneof("result") != "data":
                    return None
                size += len(piece.data)
                if size > BUNDLE_MAX_BYTES:
                    return None
                pieces.append(piece.data)
        finally:
            call.cancel()
    return b"".join(pieces)


def _happened(one: pb.TimelineEntry) -> Happened:
    return Happened(one.position, _moment(one.recorded_at), one.type, json.loads(one.payload), one.actor)


def _account(one: pb.Account) -> Account:
    return Account(one.account, one.player, one.operator, one.currency, one.purse)


def _wallet_line(one: reports_pb.OperatorTransaction, operator: str) -> WalletLine:
    return WalletLine(
        one.transaction,
        _moment(one.recorded_at),
        one.kind,
        operator,
        one.player,
        one.account,
        one.currency,
        one.changes.cash,
        one.changes.held,
        one.changes.owed,
        one.seamless,
        tuple(map(_partner_call, one.calls)),
    )


def _lone_line(one: reports_pb.LonePartnerCall, operator: str) -> WalletLine:
    call = _partner_call(one.call)
    whose = (operator, one.player, one.account, one.currency)
    return WalletLine("", call.at, "no_movement", *whose, 0, 0, 0, seamless=True, calls=(call,))


def _partner_call(one: reports_pb.PartnerCall) -> PartnerCall:
    return PartnerCall(
        one.call,
        _CALLS.get(one.kind, ""),
        _CALL_STATES.get(one.state, ""),
        one.amount,
        _moment(one.recorded_at),
        one.reason,
        _moment(one.changed_at) if one.HasField("changed_at") else None,
    )


def _moment(stamp: Timestamp) -> dt.datetime:
    return stamp.ToDatetime(dt.UTC)
