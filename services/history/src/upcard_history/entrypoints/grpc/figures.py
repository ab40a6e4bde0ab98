"""Figures of operations: for dashboards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from upcard.call.v1.refusal_pb2 import Refusal
from upcard.history.v1 import history_pb2 as pb
from upcard_history.app import figures as f
from upcard_history.entrypoints.grpc.asking import (
    MAY_COUNT,
    Context,
    Desk,
    check_role,
    invalid,
    patiently,
    refusal,
)
from upcard_history.entrypoints.grpc.messages import instant_of, timestamp

ROWS_MAX: Final = 5_000
"""Most rows of one answer; the export has as many as there are."""

_PERIODS: Final[dict[pb.FigurePeriod.ValueType, f.Period]] = {
    pb.FIGURE_PERIOD_HOUR: "hour",
    pb.FIGURE_PERIOD_DAY: "day",
}
_DIMENSIONS: Final[dict[pb.FigureDimension.ValueType, f.Dimension]] = {
    pb.FIGURE_DIMENSION_UNSPECIFIED: "all",
    pb.FIGURE_DIMENSION_TABLE: "table",
    pb.FIGURE_DIMENSION_DEALER: "dealer",
    pb.FIGURE_DIMENSION_SHIFT: "shift",
    pb.FIGURE_DIMENSION_RULESET: "ruleset",
    pb.FIGURE_DIMENSION_OPERATOR: "operator",
    pb.FIGURE_DIMENSION_CURRENCY: "currency",
}


class FigureCalls:
    """A part of the history's servicer."""

    _desk: Desk

    async def GetFigures(  # noqa: N802 - the name of the call
        self,
        request: pb.GetFiguresRequest,
        context: Context,  # noqa: ARG002 - every call is given it
    ) -> pb.GetFiguresResponse:
        """Figures by hour or day."""
        rows = await figure_rows(self._desk, request.query)
        if isinstance(rows, Refusal):
            return pb.GetFiguresResponse(refusal=rows)
        if len(rows) > ROWS_MAX:
            why = f"{len(rows)} rows, {ROWS_MAX} at the most: ask for a shorter time, or for the export"
            return pb.GetFiguresResponse(refusal=refusal("too_many_rows", why))
        return pb.GetFiguresResponse(figures=pb.Figures(rows=map(_row, rows)))


async def figure_rows(desk: Desk, wanted: pb.FigureQuery) -> tuple[f.FigureRow, ...] | Refusal:
    """What a request asks for. Raises CallError for one that nobody could answer, and without a role."""
    check_role(MAY_COUNT)
    query = _query(wanted)
    try:
        return await patiently(lambda: desk.history.figures(query))
    except f.FigureQueryInvalid as error:
        return refusal(error.slug, str(error))


def _query(wanted: pb.FigureQuery) -> f.FigureQuery:
    period, by = _PERIODS.get(wanted.period), _DIMENSIONS.get(wanted.by)
    if period is None or by is None:
        raise invalid("period or by is not said")
    if not (wanted.HasField("since") and wanted.HasField("until")):
        raise invalid("since or until is not said")
    return f.FigureQuery(
        period,
        by,
        instant_of(wanted.since, "since"),
        instant_of(wanted.until, "until"),
        wanted.zone or "UTC",
        wanted.table or None,
        wanted.dealer or None,
        wanted.shift or None,
        wanted.ruleset or None,
        wanted.operator or None,
        wanted.currency or None,
    )


def _row(row: f.FigureRow) -> pb.FigureRow:
    return pb.FigureRow(
        starts_at=timestamp(row.starts_at),
        key=row.key or "",
        rounds=row.rounds,
        settled=row.settled,
        cancelled=row.cancelled,
        corrected=row.corrected,
        active_hours=row.active_hours,
        rounds_an_hour_milli=row.rounds_an_hour_milli,
        bets_declined=row.bets_declined,
        by_platform=row.by_platform,
        windows=_windows(row.windows),
        money=map(_money, row.money),
    )


def _windows(found: Mapping[str, f.WindowFigures]) -> dict[str, pb.WindowFigures]:
    return {
        kind: pb.WindowFigures(
            windows=one.windows,
            total_ms=one.total_ms,
            extended_ms=one.extended_ms,
            average_ms=one.average_ms,
        )
        for kind, one in found.items()
    }


def _money(found: f.Money) -> pb.Money:
    return pb.Money(
        currency=found.currency,
        players=found.players,
        turnover=found.turnover,
        returned=found.returned,
        ggr=found.ggr,
        hold_ppm=found.hold_ppm,
        tips=found.tips,
        jackpot_won=found.jackpot_won,
    )
