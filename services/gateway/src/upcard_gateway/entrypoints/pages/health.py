"""Pages: how everything stands. What is behind, parked events, dead letters, partners, bets gone wrong."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from starlette.requests import Request

from servicekit.grpc import acting_as
from upcard_gateway.app.money_view import Asked, FigureRow, added, by_time
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages import health_parked, health_partners, money
from upcard_gateway.entrypoints.pages.frame import Member, fragment, live, needs, page
from upcard_gateway.entrypoints.pages.health_desk import OperationsDesk, desk_of
from upcard_gateway.entrypoints.pages.shown import clock, count, size

router = APIRouter(include_in_schema=False)
router.include_router(health_parked.router)
router.include_router(health_partners.router)
router.include_router(money.router)

Operator = Annotated[Member, needs("operations", "admin")]

LIVE_S: Final = 2.0
LATE: Final = frozenset({"betting_closed", "window_closed", "hold_answered_late"})
"""Reasons of bets that came, or whose money came, after the close."""
_BETS_HOURS: Final = 24


def prepare(app: FastAPI, edge: Edge) -> None:
    """Make what the pages of this app stand on."""
    app.state.operations = OperationsDesk(edge)


@router.get("/staff/health")
async def health(request: Request, member: Operator) -> Response:
    """Everything at a glance, live."""
    return page(request, member, "health/overview.html", **await _overview(request, member))


@router.get("/staff/health/live")
async def health_live(request: Request, member: Operator) -> Response:
    """What of it changed."""

    async def regions() -> dict[str, str]:
        context = await _overview(request, member)
        return {
            name: fragment(request, f"health/{name}.html", **context)
            for name in ("alarms", "services", "lags", "partners")
        }

    return live(request, member, regions, LIVE_S)


@router.get("/staff/health/bets")
async def bets(request: Request, member: Operator) -> Response:
    """Late, declined and defaulted bets of a day, by hour, with their reasons."""
    now = edge_of(request).now()
    until = now.replace(minute=0, second=0, microsecond=0) + dt.timedelta(hours=1)
    asked = Asked("hour", "all", until - dt.timedelta(hours=_BETS_HOURS), until)
    with acting_as(member.actor()):
        rows = by_time(await desk_of(request).figures.figures(asked))
    whole = added(asked.since, "", rows)
    reasons = sorted(whole.declined, key=lambda one: (-whole.declined[one], one))
    return page(
        request,
        member,
        "health/bets.html",
        hours=[_hour(one) for one in reversed(rows)],
        whole=_hour(whole),
        reasons=[(one, whole.declined[one], one in LATE) for one in reasons],
        count=count,
    )


async def _overview(request: Request, member: Member) -> dict[str, Any]:
    seen = await desk_of(request).overview(member)
    now = edge_of(request).now()
    return {"seen": seen, "clock": partial(clock, now=now), "count": count, "size": size}


def _hour(row: FigureRow) -> Mapping[str, object]:
    late = sum(number for reason, number in row.declined.items() if reason in LATE)
    every = sum(row.declined.values())
    return {
        "at": f"{row.at:%m-%d %H:%M}",
        "rounds": row.rounds,
        "late": late,
        "declined": every - late,
        "by_platform": row.by_platform,
        "cancelled": row.cancelled,
    }
