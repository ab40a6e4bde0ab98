"""The floor: all tables as they are now, alarms on top, and the page of one table with its live timeline."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import grpc.aio
from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from servicekit.grpc import Actor, ActorKind
from upcard_gateway.adapters.floor_rounds import Happened, timeline
from upcard_gateway.adapters.flooring import bets_in_play
from upcard_gateway.adapters.postgres import floor_corrections
from upcard_gateway.adapters.postgres.significant import Wanted, listed
from upcard_gateway.app.floor_tables import FloorRow, alarms_of, boxes_of, sorted_alarms
from upcard_gateway.app.floor_words import facts_of, marks_of
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.floor_config import SHOWN_FIELDS, shown_config
from upcard_gateway.entrypoints.pages.floor_shown import (
    Looking,
    Names,
    checked_table,
    clock,
    flooring_of,
    may_act,
    may_decide,
    money,
    names_of,
    now_ms,
    prepare_floor,
)
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, fragment, live, page

router = APIRouter(include_in_schema=False)

EVERY_S: Final = 1.0
_LATEST: Final = 8
_EVENTS: Final = 120
_PAGE: Final = 500
_MOST_ROUNDS: Final = 64
_MOST_BETS: Final = 60

_TELLER: Final = Actor(ActorKind.STAFF, "gateway-floor", frozenset({"floor"}))


@dataclass(slots=True)
class _Told:
    """The newest events of a round, and how many there were before them."""

    count: int = 0
    newest: deque[Happened] = field(default_factory=lambda: deque(maxlen=_EVENTS))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Timelines:
    """The newest events of rounds that somebody looks at: each is read once, however many look."""

    def __init__(self) -> None:
        self._rounds: OrderedDict[str, _Told] = OrderedDict()

    async def newest(self, edge: Edge, name: str) -> tuple[list[Happened], int]:
        """The newest events of a round, the newest first, and how many there are in all.

        Raises grpc.aio.AioRpcError: the history is away.
        """
        told = self._rounds.setdefault(name, _Told())
        self._rounds.move_to_end(name)
        while len(self._rounds) > _MOST_ROUNDS:
            self._rounds.popitem(last=False)
        async with told.lock:
            more = True
            while more:
                found, more = await timeline(edge.services, _TELLER, name, told.count, _PAGE)
                told.newest.extend(found)
                told.count += len(found)
        return list(reversed(told.newest)), told.count


def prepare(app: FastAPI, edge: Edge) -> None:
    """Make what the pages read tables and rounds with."""
    prepare_floor(app, edge)
    app.state.floor_timelines = Timelines()


@router.get("/staff/floor")
async def floor(request: Request, member: Looking) -> Response:
    """All tables."""
    regions = await _floor_regions(request, member)
    return page(
        request, member, "floor/floor.html", regions=regions, now_ms=now_ms(request), may_act=may_act(member)
    )


@router.get("/staff/floor/live")
async def floor_live(request: Request, member: Looking) -> Response:
    """All tables, as they change."""

    async def regions() -> Mapping[str, str]:
        return await _floor_regions(request, member)

    return live(request, member, regions, EVERY_S)


@router.get("/staff/floor/tables/{table}")
async def one_table(request: Request, member: Looking, table: str) -> Response:
    """One table."""
    row = await _row(request, table)
    regions = await _table_regions(request, member, row)
    names = await names_of(request, [row.dealer])
    return page(
        request,
        member,
        "floor/table.html",
        row=row,
        regions=regions,
        names=names,
        config=shown_config(row.config),
        fields=SHOWN_FIELDS,
        now_ms=now_ms(request),
        may_act=may_act(member),
        done=request.query_params.get("done", "")[:40],
    )


@router.get("/staff/floor/tables/{table}/live")
async def table_live(request: Request, member: Looking, table: str) -> Response:
    """One table, as it changes."""
    checked_table(table)

    async def regions() -> Mapping[str, str]:
        return await _table_regions(request, member, await _row(request, table))

    return live(request, member, regions, EVERY_S)


async def _row(request: Request, table: str) -> FloorRow:
    row = await flooring_of(request).row(checked_table(table))
    if row is None:
        raise PageProblem(404, "floor.table_unknown", table=table)
    return row


async def _floor_regions(request: Request, member: Member) -> dict[str, str]:
    edge = edge_of(request)
    rows = await flooring_of(request).rows()
    stalled_s = edge.settings.floor_stalled_s
    now = edge.now()
    alarms = sorted_alarms([one for row in rows for one in alarms_of(row, now, stalled_s=stalled_s)])
    async with edge.pool.acquire() as connection:
        latest = await listed(connection, Wanted(), None, _LATEST)
        waiting = await floor_corrections.count_open(connection)
    names = await names_of(
        request,
        [*(row.dealer for row in rows), *(one.staff for one in latest), *(one.actor for one in latest)],
    )
    bad = {one.table for one in alarms if one.level == "bad"}
    shown = sorted(rows, key=lambda row: (not row.open, row.name.casefold(), row.table))
    common: dict[str, Any] = {"names": names, "money": money, "clock": clock}
    return {
        "floor-alarms": fragment(
            request,
            "floor/_alarms.html",
            alarms=[one for one in alarms if one.level != "note"],
            notes=[one for one in alarms if one.level == "note"],
            waiting=waiting,
            may_act=may_act(member),
            may_decide=may_decide(member),
            **common,
        ),
        "floor-tables": fragment(request, "floor/_tables.html", rows=shown, bad=bad, **common),
        "floor-latest": fragment(request, "floor/_latest.html", latest=latest, **common),
    }


async def _table_regions(request: Request, member: Member, row: FloorRow) -> dict[str, str]:
    edge = edge_of(request)
    name = f"{row.table}.{row.round}"
    stalled_s = edge.settings.floor_stalled_s
    alarms = sorted_alarms(alarms_of(row, edge.now(), stalled_s=stalled_s))
    bets = await bets_in_play(edge.services, member.actor(), row.table) if row.running else ([], False)
    happened, count = await _newest(request, name) if row.round else ([], 0)
    names = await names_of(request, [row.dealer, *(one.actor for one in happened or ())])
    common: dict[str, Any] = {
        "row": row,
        "names": names,
        "money": money,
        "clock": clock,
        "may_act": may_act(member),
    }
    return {
        "table-alarms": fragment(request, "floor/_table_alarms.html", alarms=alarms, **common),
        "table-now": fragment(request, "floor/_table_now.html", **common),
        "table-cards": fragment(
            request, "floor/_table_cards.html", boxes=boxes_of(row.view) if row.view else [], **common
        ),
        "table-bets": fragment(
            request,
            "floor/_table_bets.html",
            bets=None if bets is None else bets[0][:_MOST_BETS],
            more=bets is not None and (bets[1] or len(bets[0]) > _MOST_BETS),
            **common,
        ),
        "table-staff": fragment(request, "floor/_table_staff.html", **common),
        "table-timeline": fragment(
            request,
            "floor/_table_timeline.html",
            happened=None
            if happened is None
            else [shown_event(one, names, request.app.state.pages.english) for one in happened],
            count=count,
            most=_EVENTS,
            **common,
        ),
    }


async def _newest(request: Request, name: str) -> tuple[list[Happened] | None, int]:
    timelines: Timelines = request.app.state.floor_timelines
    try:
        return await timelines.newest(edge_of(request), name)
    except grpc.aio.AioRpcError:
        return None, 0  # the page says so; the table itself is shown


_WORDS: Final = ("hand", "reason", "choice", "window")
"""Facts that are words of ours, which have their own English."""


def shown_event(one: Happened, names: Names, english: English) -> dict[str, Any]:
    """An event as the timeline shows it: when, in what words, by whom, and how much it stands out."""

    def said(area: str, word: object) -> str:
        return english(f"floor.{area}.{word}") if english.has(f"floor.{area}.{word}") else str(word)

    key, facts = facts_of(one.type, one.payload)
    facts |= {name: said(name, facts[name]) for name in _WORDS if facts.get(name)}
    outcomes = facts.get("outcomes")
    if isinstance(outcomes, tuple):
        facts["outcomes"] = ", ".join(f"{n} {said('outcome', what)}" for what, n in outcomes)
    return {
        "position": one.position,
        "at": clock(one.at),
        "moment": one.at.isoformat(),
        "type": one.type,
        "key": f"floor.event.{key}",
        "facts": facts,
        "mark": marks_of(one.type),
        "actor": one.actor,
        "who": names(one.actor) if one.actor.startswith(("staff:", "dealer:")) else "",
        "payload": one.payload,
    }
