"""Pages: money. What was turned over and kept, what open rounds have at stake, invariants, jackpots."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

import grpc.aio
from fastapi import APIRouter
from fastapi.responses import Response
from starlette.requests import Request

from servicekit.grpc import acting_as
from upcard_gateway.adapters.money_figures import FiguresRefused
from upcard_gateway.app.money_view import (
    DIMENSIONS,
    Asked,
    AtStake,
    Difference,
    FigureRow,
    Jackpot,
    Money,
    OpenRound,
    added,
    by_key,
    by_time,
    currencies_of,
)
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.frame import Member, fragment, live, needs, page
from upcard_gateway.entrypoints.pages.health_desk import OperationsDesk, desk_of
from upcard_gateway.entrypoints.pages.money_plots import plots_of
from upcard_gateway.entrypoints.pages.shown import amount, clock, count, percent

router = APIRouter(include_in_schema=False)

Looker = Annotated[Member, needs("operations", "auditor", "admin")]

SPANS: Final = {"24h": 1, "7d": 7, "31d": 31, "90d": 90, "365d": 365}
"""How many days each of the spans to choose from has."""
_HOURLY_DAYS: Final = 7
"""Up to so many days, figures are by hour unless something else is asked for."""
_HOURLY_MOST: Final = 31
_LONGEST: Final = 64
_KEYS_SHOWN: Final = 15
LIVE_S: Final = 3.0


@router.get("/staff/money")
async def money(request: Request, member: Looker) -> Response:
    """Turnover, revenue and hold, by time and by what they are told apart by."""
    asked, span = _asked(request)
    refused = ""
    rows: Sequence[FigureRow] = ()
    with acting_as(member.actor()):
        try:
            rows = await desk_of(request).figures.figures(asked)
        except FiguresRefused as error:
            refused = error.reason if error.reason == "too_many_rows" else "refused"
        now = await _now(request)
    currencies = currencies_of(rows)
    wanted = request.query_params.get("currency", "")
    currency = wanted if wanted in currencies else (currencies[0] if currencies else "")
    whole = added(asked.since, "", rows)
    times = by_time(rows)
    keys = by_key(rows, currency) if asked.by != "all" else ()
    english = request.app.state.pages.english
    plots = await asyncio.to_thread(plots_of, times, keys[:_KEYS_SHOWN], asked, currency, english)
    return page(
        request,
        member,
        "money/money.html",
        asked=asked,
        span=span,
        spans=list(SPANS),
        dimensions=DIMENSIONS,
        refused=refused,
        currency=currency,
        currencies=currencies,
        whole=whole,
        sums=whole.money.get(currency, Money()),
        times=tuple(reversed(times)),
        keys=keys,
        plots=plots,
        nothing=Money(),
        hours="%m-%d %H:%M" if asked.period == "hour" else "%Y-%m-%d",
        **now,
    )


@router.get("/staff/money/live")
async def money_live(request: Request, member: Looker) -> Response:
    """What of it changes by itself: open rounds, invariants, jackpots."""

    async def regions() -> dict[str, str]:
        with acting_as(member.actor()):
            now = await _now(request)
        return {
            name: fragment(request, f"money/{name}.html", **now)
            for name in ("exposure", "invariants", "jackpots")
        }

    return live(request, member, regions, LIVE_S)


async def _now(request: Request) -> dict[str, Any]:
    """Open rounds, invariants and jackpots: each as it is now, or None where it cannot be read."""
    desk = desk_of(request)
    metrics, opened, jackpots, differences = await asyncio.gather(
        desk.scrape.read(), _opened(desk), _jackpots(desk), _differences(desk)
    )
    rounds, more = (None, False) if opened is None else opened
    looked = metrics.most("wallet", "upcard_wallet_figures_looked_up_seconds")
    return {
        "open_rounds": rounds,
        "open_more": more,
        "at_stake": _at_stake(rounds or ()),
        "jackpots": None if jackpots is None else jackpots[0],
        "jackpots_more": jackpots is not None and jackpots[1],
        "differences": differences,
        "measured": bool(metrics.of("wallet")) and any(one.samples for one in metrics.of("wallet")),
        "kinds": metrics.by("wallet", "upcard_wallet_differences", "kind"),
        "alarms": metrics.most("wallet", "upcard_wallet_difference_alarms"),
        "suspense": metrics.value("wallet", "upcard_wallet_suspense_minor_units_total"),
        "owed": metrics.value("wallet", "upcard_wallet_owed_minor_units_total"),
        "replayed": metrics.by("history", "upcard_history_replays_total", "outcome"),
        "waiting": metrics.most("history", "upcard_history_replays_waiting"),
        "looked_at": None if not looked else dt.datetime.fromtimestamp(looked, dt.UTC),
        "clock": partial(clock, now=edge_of(request).now()),
        "count": count,
        "amount": amount,
        "percent": percent,
    }


async def _opened(desk: OperationsDesk) -> tuple[tuple[OpenRound, ...], bool] | None:
    try:
        return await desk.figures.open_rounds()
    except grpc.aio.AioRpcError:
        return None  # the region says that it cannot be read


async def _jackpots(desk: OperationsDesk) -> tuple[tuple[Jackpot, ...], bool] | None:
    try:
        return await desk.figures.jackpots()
    except grpc.aio.AioRpcError:
        return None


async def _differences(desk: OperationsDesk) -> tuple[Difference, ...] | None:
    try:
        return await desk.figures.differences()
    except grpc.aio.AioRpcError:
        return None


def _at_stake(rounds: Sequence[OpenRound]) -> dict[str, AtStake]:
    sums: dict[str, AtStake] = {}
    for one in rounds:
        for currency, stake in one.at_stake.items():
            before = sums.get(currency, AtStake(0, 0))
            sums[currency] = replace(
                before, players=before.players + stake.players, amount=before.amount + stake.amount
            )
    return dict(sorted(sums.items()))


def _asked(request: Request) -> tuple[Asked, str]:
    """What the address asks for, what is no choice in it left out; and the span by its name."""
    given = request.query_params
    span = given.get("span", "")
    days = SPANS.get(span, 1)
    span = span if span in SPANS else "24h"
    period = given.get("period", "")
    if period not in {"hour", "day"}:
        period = "hour" if days <= _HOURLY_DAYS else "day"
    if period == "hour" and days > _HOURLY_MOST:
        period = "day"
    now = edge_of(request).now().astimezone(dt.UTC)
    whole = now.replace(minute=0, second=0, microsecond=0)
    step = dt.timedelta(hours=1)
    if period == "day":
        whole, step = whole.replace(hour=0), dt.timedelta(days=1)
    by = given.get("by", "all")
    until = whole + step
    return (
        Asked(
            "hour" if period == "hour" else "day",
            by if by in DIMENSIONS else "all",
            until - dt.timedelta(days=days),
            until,
            *(_filter(given.get(name, "")) for name in ("table", "dealer", "ruleset", "operator")),
        ),
        span,
    )


def _filter(given: str) -> str:
    given = given.strip()
    return given if len(given) <= _LONGEST and given.isprintable() else ""
