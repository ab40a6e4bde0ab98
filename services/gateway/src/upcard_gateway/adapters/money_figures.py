"""Figures, open rounds, jackpots and differences, asked of history and bonus in a member's name."""

from __future__ import annotations

import datetime as dt
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from upcard.bonus.v1 import bonus_pb2
from upcard.history.v1 import history_pb2 as pb
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.money_view import (
    Asked,
    AtStake,
    Difference,
    FigureRow,
    Jackpot,
    Money,
    OpenRound,
)

__all__ = ["FiguresRefused", "MoneyFigures"]

CALL_S: Final = 10.0
"""Deadline of each call."""
_PAGE: Final = 500
_MOST_PAGES: Final = 10
_DIFFERENCES: Final = 50

_PERIODS: Final = {"hour": pb.FIGURE_PERIOD_HOUR, "day": pb.FIGURE_PERIOD_DAY}
_BY: Final = {
    "all": pb.FIGURE_DIMENSION_UNSPECIFIED,
    "table": pb.FIGURE_DIMENSION_TABLE,
    "dealer": pb.FIGURE_DIMENSION_DEALER,
    "ruleset": pb.FIGURE_DIMENSION_RULESET,
    "operator": pb.FIGURE_DIMENSION_OPERATOR,
}
_OUTCOMES: Final = {
    pb.REPLAY_OUTCOME_DISAGREED: "disagreed",
    pb.REPLAY_OUTCOME_UNREADABLE: "unreadable",
}


class FiguresRefused(Exception):
    """The history does not give these figures; `reason` is its slug, such as `too_many_rows`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MoneyFigures:
    """What money pages are made of. Every list is bounded; failed calls raise AioRpcError."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def figures(self, asked: Asked) -> tuple[FigureRow, ...]:
        """Figures by hour or day. Raises FiguresRefused."""
        query = pb.FigureQuery(
            period=_PERIODS[asked.period],
            by=_BY[asked.by],
            since=_stamp(asked.since),
            until=_stamp(asked.until),
            table=asked.table,
            dealer=asked.dealer,
            ruleset=asked.ruleset,
            operator=asked.operator,
        )
        answer = await self._services.history.GetFigures(pb.GetFiguresRequest(query=query), timeout=CALL_S)
        if answer.HasField("refusal"):
            raise FiguresRefused(answer.refusal.reason)
        return tuple(map(_row, answer.figures.rows))

    async def open_rounds(self) -> tuple[tuple[OpenRound, ...], bool]:
        """Rounds that have not ended, and whether there are more than are told."""
        found: list[OpenRound] = []
        after = ""
        for _ in range(_MOST_PAGES):
            request = pb.ListTablesInPlayRequest(after=after, limit=_PAGE)
            answer = await self._services.history.ListTablesInPlay(request, timeout=CALL_S)
            found += map(_open, answer.rounds)
            after = answer.next
            if not after:
                break
        return tuple(found), bool(after)

    async def jackpots(self) -> tuple[tuple[Jackpot, ...], bool]:
        """All jackpots, and whether there are more than are told."""
        found: list[Jackpot] = []
        more = True
        while more and len(found) < _PAGE * _MOST_PAGES:
            after = found[-1].jackpot if found else ""
            request = bonus_pb2.ListJackpotsRequest(after=after, limit=_PAGE)
            answer = await self._services.bonus.ListJackpots(request, timeout=CALL_S)
            found += map(_jackpot, answer.jackpots)
            more = answer.more and bool(answer.jackpots)
        return tuple(found), more

    async def differences(self) -> tuple[Difference, ...]:
        """Rounds whose latest replay did not agree, newest first, the latest few."""
        answer = await self._services.history.ListDifferences(
            pb.ListDifferencesRequest(limit=_DIFFERENCES), timeout=CALL_S
        )
        return tuple(
            Difference(
                one.round,
                _OUTCOMES.get(one.outcome, "unreadable"),
                one.ran_at.ToDatetime(dt.UTC) if one.HasField("ran_at") else None,
            )
            for one in answer.replays
        )


def _row(one: pb.FigureRow) -> FigureRow:
    return FigureRow(
        one.starts_at.ToDatetime(dt.UTC),
        one.key,
        one.rounds,
        one.settled,
        sum(one.cancelled.values()),
        one.corrected,
        dict(one.bets_declined),
        one.by_platform,
        {
            sums.currency: Money(sums.players, sums.turnover, sums.returned, sums.tips, sums.jackpot_won)
            for sums in one.money
        },
    )


def _open(one: pb.TableInPlay) -> OpenRound:
    return OpenRound(
        one.round,
        one.table,
        one.opened_at.ToDatetime(dt.UTC),
        one.window,
        {stake.currency: AtStake(stake.players, stake.amount) for stake in one.at_stake},
    )


def _jackpot(one: bonus_pb2.Jackpot) -> Jackpot:
    return Jackpot(
        one.jackpot,
        one.operator,
        one.currency,
        one.pool,
        one.settings.seed,
        one.settings.must_hit_by,
        one.settings.contribution_ppm,
        one.cycle,
        len(one.settings.tables),
        len(one.fenced),
        one.waiting,
    )


def _stamp(at: dt.datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(at.astimezone(dt.UTC))
    return made
