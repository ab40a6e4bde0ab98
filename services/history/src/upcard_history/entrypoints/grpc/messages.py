"""What was read, as messages; and values of requests, checked."""

from __future__ import annotations

import datetime as dt
import json
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from upcard.history.v1 import history_pb2 as pb
from upcard_history.app import reading as r
from upcard_history.app.standing import Standing
from upcard_history.entrypoints.grpc.asking import invalid
from upcard_history.entrypoints.grpc.tokens import position_token

PAGE_USUAL: Final = 100

STATES: Final[dict[r.RoundState, pb.RoundState.ValueType]] = {
    "open": pb.ROUND_STATE_OPEN,
    "settled": pb.ROUND_STATE_SETTLED,
    "cancelled": pb.ROUND_STATE_CANCELLED,
}
_STATES: Final = {value: state for state, value in STATES.items()}

OUTCOMES: Final[dict[r.ReplayOutcome, pb.ReplayOutcome.ValueType]] = {
    "agreed": pb.REPLAY_OUTCOME_AGREED,
    "disagreed": pb.REPLAY_OUTCOME_DISAGREED,
    "unreadable": pb.REPLAY_OUTCOME_UNREADABLE,
    "not_ended": pb.REPLAY_OUTCOME_NOT_ENDED,
}


def round_row(row: r.RoundRow, *, for_staff: bool) -> pb.Round:
    """A round in few words."""
    return pb.Round(
        round=row.round,
        table=row.table,
        number=row.number,
        ruleset=row.ruleset,
        engine=row.engine,
        state=STATES[row.state],
        reason=row.reason or "",
        opened_at=timestamp(row.opened_at),
        ended_at=optional_timestamp(row.ended_at),
        dealer=dealer_hand(row.dealer),
        corrections=row.corrections,
        dealers=row.dealers if for_staff else (),
        totals=map(_sum, row.totals) if for_staff else (),
    )


def _sum(found: r.CurrencySum) -> pb.CurrencySum:
    return pb.CurrencySum(
        currency=found.currency, players=found.players, staked=found.staked, returned=found.returned
    )


def dealer_hand(hand: r.DealerHand | None) -> pb.DealerHand | None:
    """The dealer's hand, if there is one."""
    if hand is None:
        return None
    return pb.DealerHand(
        first=hand.first,
        final=hand.final,
        cards=hand.cards,
        qualified=hand.qualified,
        purchased=hand.purchased,
    )


def player_round(row: r.PlayerRound) -> pb.PlayerRound:
    """One round of one player."""
    return pb.PlayerRound(
        round=row.round,
        table=row.table,
        number=row.number,
        ruleset=row.ruleset,
        player=row.player,
        currency=row.currency,
        state=STATES[row.state],
        reason=row.reason or "",
        opened_at=timestamp(row.opened_at),
        ended_at=optional_timestamp(row.ended_at),
        staked=row.staked,
        returned=row.returned,
        net=row.net,
        revision=row.revision,
        dealer=dealer_hand(row.dealer),
        boxes=as_json(row.boxes),
        by_platform=row.by_platform,
    )


def timeline_entry(entry: r.TimelineEntry) -> pb.TimelineEntry:
    """An event of a round."""
    return pb.TimelineEntry(
        position=entry.position,
        recorded_at=timestamp(entry.recorded_at),
        type=entry.type,
        payload=as_json(entry.payload),
        actor=entry.actor or "",
        cards=entry.cards,
    )


def bet_in_play(bet: r.BetInPlay) -> pb.BetInPlay:
    """A stake."""
    return pb.BetInPlay(
        round=bet.round,
        table=bet.table,
        player=bet.player,
        operator=bet.operator or "",
        currency=bet.currency,
        box=bet.box,
        wager=bet.wager,
        amount=bet.amount,
        blind=bet.blind,
    )


def table_result(found: r.TableResult) -> pb.TableResult:
    """What became of a round."""
    return pb.TableResult(
        round=found.round,
        number=found.number,
        state=STATES[found.state],
        reason=found.reason or "",
        ended_at=timestamp(found.ended_at),
        dealer=dealer_hand(found.dealer),
        corrections=found.corrections,
    )


def account(found: r.AccountRow) -> pb.Account:
    """An account."""
    return pb.Account(
        account=found.account,
        player=found.player,
        operator=found.operator,
        currency=found.currency,
        purse=found.purse,
        opened_at=timestamp(found.opened_at),
    )


def statement(made: r.Statement) -> pb.Statement:
    """A page of a statement."""
    return pb.Statement(
        account=account(made.account),
        opening=_balance(made.opening),
        closing=_balance(made.closing),
        lines=map(_line, made.lines),
        next=position_token(made.next),
    )


def _balance(found: r.AccountBalance) -> pb.AccountBalance:
    return pb.AccountBalance(cash=found.cash, held=found.held, owed=found.owed)


def _line(line: r.StatementLine) -> pb.StatementLine:
    return pb.StatementLine(
        position=line.position,
        at=timestamp(line.at),
        kind=line.kind,
        cash=line.cash,
        held=line.held,
        owed=line.owed,
        promo=line.promo,
        balance=_balance(line.after),
        round=line.round or "",
        revision=line.revision or 0,
        reason=line.reason or "",
        transaction=line.transaction,
        event=line.event,
    )


def replay(run: r.ReplayRun) -> pb.Replay:
    """A replay."""
    return pb.Replay(
        round=run.round,
        position=run.position,
        outcome=OUTCOMES[run.outcome],
        ran_at=optional_timestamp(run.ran_at),
        report=as_json(run.report),
        sentences=run.sentences,
    )


def standing(found: Standing) -> pb.GetStandingResponse:
    """How history stands."""
    return pb.GetStandingResponse(
        sources=[
            pb.SourceStanding(
                source=one.source,
                connected=one.connected,
                behind=one.behind,
                asked_ms=None if one.asked_s is None else round(one.asked_s * 1_000),
                stopped_shards=one.stopped_shards,
            )
            for one in found.sources
        ],
        views=[
            pb.ViewStanding(
                view=one.name,
                behind=one.lag,
                parked_streams=one.parked_streams,
                stopped=one.stopped or "",
                rebuilding=one.rebuilding,
            )
            for one in found.views
        ],
        replays=pb.ReplayStanding(
            waiting=found.replays.waiting,
            oldest_ms=round(found.replays.oldest_s * 1_000),
            wrong=found.replays.wrong,
        ),
    )


def as_json(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def timestamp(instant: dt.datetime) -> Timestamp:
    """An instant."""
    made = Timestamp()
    made.FromDatetime(instant)
    return made


def optional_timestamp(instant: dt.datetime | None) -> Timestamp | None:
    """An instant, if there is one."""
    return None if instant is None else timestamp(instant)


def instant_of(message: Timestamp, name: str) -> dt.datetime:
    """An instant of a request. Raises CallError."""
    try:
        return message.ToDatetime(dt.UTC)
    except (ValueError, OverflowError):
        raise invalid(f"{name} is no instant") from None


def period_of(period: pb.Period) -> tuple[dt.datetime | None, dt.datetime | None]:
    """Beginning and end of a request's period; None where it has none. Raises CallError."""
    return (
        instant_of(period.since, "since") if period.HasField("since") else None,
        instant_of(period.until, "until") if period.HasField("until") else None,
    )


def rounds_query(wanted: pb.RoundFilter) -> r.RoundsQuery:
    """Which rounds are wanted. Raises CallError."""
    state = None
    if wanted.state != pb.ROUND_STATE_UNSPECIFIED:
        state = _STATES.get(wanted.state)
        if state is None:
            raise invalid("state is none of a round")
    since, until = period_of(wanted.opened)
    return r.RoundsQuery(wanted.table or None, wanted.ruleset or None, state, since, until)


def page_size(limit: int, *, usual: int = PAGE_USUAL, most: int = r.PAGE_MAX) -> int:
    """The size of a page. Raises CallError."""
    if not 0 <= limit <= most:
        raise invalid(f"limit is 0 to {most}")
    return limit or usual
