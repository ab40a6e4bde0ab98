"""Rounds and statements of a player, read from the history in the player's name.

Whoever asks has made sure that the player is theirs; the history then shows what this player may see.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.grpc import acting_as, failure_of
from upcard.history.v1 import history_pb2 as pb
from upcard_gateway.adapters.services import Services
from upcard_gateway.adapters.services import player as acting_player
from upcard_gateway.app.rounds import (
    Dealer,
    Detail,
    Happened,
    Played,
    RoundState,
    Words,
    detail_of,
)
from upcard_seamless.currencies import minor_digits

CALL_S: Final = 10.0
"""Deadline of each call."""

_STATES: Final[Mapping[int, RoundState]] = {
    pb.ROUND_STATE_OPEN: "open",
    pb.ROUND_STATE_SETTLED: "settled",
    pb.ROUND_STATE_CANCELLED: "cancelled",
}


class NotTheirs(Exception):
    """There is no such round, or none with a bet of the player's."""


class Unreadable(Exception):
    """The round's rules are not known to the history any more."""


class CursorWrong(Exception):
    """`after` is nothing that a page ended with."""


class PeriodWrong(Exception):
    """The period ends before it begins."""


class NoAccount(Exception):
    """The player has no account in the currency."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a list: from `since` up to, not including, `until`, a page of it."""

    since: dt.datetime
    until: dt.datetime
    after: str
    limit: int


@dataclass(frozen=True, slots=True)
class Money:
    """A player's money at one moment, or a change of it; minor units."""

    cash: int
    held: int
    owed: int


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One change of an account's money."""

    at: dt.datetime
    kind: str
    change: Money
    promo: int
    balance: Money
    round: str | None
    revision: int | None
    reason: str | None
    transaction: str
    event: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A page of a statement."""

    account: str
    currency: str
    wallet: Literal["transfer", "seamless"]
    opening: Money
    closing: Money
    lines: tuple[StatementLine, ...]
    next: str


async def player_rounds(
    services: Services, player: str, currency: str, window: Window
) -> tuple[list[Played], str]:
    """A page of a player's rounds, newest first, and where the next one begins. Raises CursorWrong."""
    request = pb.ListPlayerRoundsRequest(
        currency=currency, opened=_period(window), after=window.after, limit=window.limit
    )
    with acting_as(acting_player(player)):
        answer = await _asked(services.history.ListPlayerRounds(request, timeout=CALL_S), window.after)
    return [_played(one) for one in answer.page.rounds], answer.page.next


async def round_part(services: Services, player: str, name: str) -> Played:
    """A player's part of a round in few words. Raises NotTheirs, Unreadable."""
    played, _ = await _round(services, player, name)
    return played


async def round_detail(services: Services, player: str, name: str) -> Detail:
    """A round with cards, choices and words, as the player may see it. Raises NotTheirs, Unreadable."""
    played, shown = await _round(services, player, name)
    words = Words()
    if played.state == "settled":
        request = pb.ExplainRoundRequest(round=name, digits={played.currency: minor_digits(played.currency)})
        with acting_as(acting_player(player)):
            answer = await services.history.ExplainRound(request, timeout=CALL_S)
        # A round that was settled a moment ago may not be so where it is explained: words come later then.
        for part in answer.explained.words:
            boxes = {box.box: tuple(box.sentences) for box in part.boxes}
            words = Words(tuple(part.table), boxes)
    view: Mapping[str, Any] = json.loads(shown.view)
    return detail_of(played, view, shown.round.corrections, words)


async def round_events(
    services: Services, player: str, name: str, skip: int, limit: int
) -> tuple[list[Happened], bool]:
    """What happened in a round after the first `skip`, and whether there is more.

    Raises NotTheirs, Unreadable.
    """
    found: list[Happened] = []
    with acting_as(acting_player(player)):
        call = services.history.GetTimeline(pb.GetTimelineRequest(round=name, skip=skip), timeout=CALL_S)
        try:
            async for batch in call:
                found += [_happened(one) for one in batch.entries]
                if len(found) > limit:
                    break
        except grpc.aio.AioRpcError as error:
            raise _meant(error) from error
        finally:
            call.cancel()
    if not found and not skip:
        raise NotTheirs(name)
    return found[:limit], len(found) > limit


async def statement(services: Services, player: str, currency: str, window: Window) -> Statement:
    """A page of a player's statement. Raises NoAccount, PeriodWrong, CursorWrong."""
    of = pb.StatementOf(player=pb.PlayerCurrency(currency=currency))
    request = pb.GetStatementRequest(of=of, after=window.after, limit=window.limit)
    request.since.FromDatetime(window.since)
    request.until.FromDatetime(window.until)
    with acting_as(acting_player(player)):
        answer = await _asked(services.history.GetStatement(request, timeout=CALL_S), window.after)
    if answer.WhichOneof("result") == "refusal":
        raise PeriodWrong if answer.refusal.reason == "period_invalid" else NoAccount
    made = answer.statement
    return Statement(
        made.account.account,
        made.account.currency,
        "seamless" if made.account.purse == "seamless" else "transfer",
        _money(made.opening),
        _money(made.closing),
        tuple(map(_line, made.lines)),
        made.next,
    )


async def _round(services: Services, player: str, name: str) -> tuple[Played, pb.RoundDetail]:
    with acting_as(acting_player(player)):
        try:
            answer = await services.history.GetRound(pb.GetRoundRequest(round=name), timeout=CALL_S)
        except grpc.aio.AioRpcError as error:
            raise _meant(error) from error
    if answer.WhichOneof("result") != "round" or not answer.round.own:
        raise NotTheirs(name)
    return _played(answer.round.own[0]), answer.round


async def _asked(call: Any, after: str) -> Any:  # noqa: ANN401 - any call, and its answer
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        # Everything else of the request was made here; a token comes from outside.
        if after and error.code() is grpc.StatusCode.INVALID_ARGUMENT:
            raise CursorWrong from error
        raise


def _meant(error: grpc.aio.AioRpcError) -> Exception:
    return Unreadable() if failure_of(error).reason == "ruleset_unknown" else error


def _period(window: Window) -> pb.Period:
    made = pb.Period()
    made.since.FromDatetime(window.since)
    made.until.FromDatetime(window.until)
    return made


def _played(one: pb.PlayerRound) -> Played:
    dealer = one.dealer if one.HasField("dealer") else None
    return Played(
        round=one.round,
        table=one.table,
        number=one.number,
        ruleset=one.ruleset,
        player=one.player,
        currency=one.currency,
        state=_STATES[one.state],
        reason=one.reason or None,
        opened_at=_moment(one.opened_at),
        ended_at=_moment(one.ended_at) if one.HasField("ended_at") else None,
        staked=one.staked,
        returned=one.returned if one.HasField("returned") else None,
        net=one.net if one.HasField("net") else None,
        revision=one.revision,
        by_platform=one.by_platform,
        dealer=None
        if dealer is None
        else Dealer(dealer.first, dealer.final, tuple(dealer.cards), dealer.qualified, dealer.purchased),
    )


def _happened(one: pb.TimelineEntry) -> Happened:
    return Happened(one.position, _moment(one.recorded_at), one.type, json.loads(one.payload))


def _line(one: pb.StatementLine) -> StatementLine:
    return StatementLine(
        _moment(one.at),
        one.kind,
        Money(one.cash, one.held, one.owed),
        one.promo,
        _money(one.balance),
        one.round or None,
        one.revision or None,
        one.reason or None,
        one.transaction,
        one.event,
    )


def _money(one: pb.AccountBalance) -> Money:
    return Money(one.cash, one.held, one.owed)


def _moment(stamp: Timestamp) -> dt.datetime:
    return stamp.ToDatetime(dt.UTC)
