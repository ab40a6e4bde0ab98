"""Pages: the log of significant events, with filters."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final, cast
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from upcard_gateway.adapters.postgres.significant import Wanted, listed, one
from upcard_gateway.app.significant import is_round_name, is_table_name
from upcard_gateway.domain.significant import KINDS, Kind
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.floor_shown import Texts, clock, money, names_of
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, needs, page

router = APIRouter(include_in_schema=False)

Reading = Annotated[Member, needs("shift_manager", "operations", "auditor", "admin")]
"""Who may read the log."""

_PAGE: Final = 50
_UNPROCESSABLE: Final = 422


@router.get("/staff/significant")
async def significant(request: Request, member: Reading) -> Response:
    """The newest entries that the filters leave."""
    edge = edge_of(request)
    given = {name: value.strip()[:80] for name, value in request.query_params.items() if value.strip()}
    wanted, wrong = _wanted(given)
    async with edge.pool.acquire() as connection:
        before = None
        if (cursor := _uuid(given.get("before", ""))) is not None:
            entry = await one(connection, cursor)
            before = None if entry is None else (entry.at, entry.event_id)
        found = [] if wrong else await listed(connection, wanted, before, _PAGE + 1)
    shown = found[:_PAGE]
    kept = [(name, value) for name, value in given.items() if name in _FIELDS]
    older = ""
    if len(found) > _PAGE:
        older = urlencode([*kept, ("before", str(shown[-1].event_id))])
    return page(
        request,
        member,
        "floor/significant.html",
        status=_UNPROCESSABLE if wrong else 200,
        found=shown,
        kinds=KINDS,
        given=Texts(given),
        wrong=wrong,
        older=older,
        newest=urlencode(kept) if before is not None else "",
        names=await names_of(request, [who for entry in shown for who in (entry.actor, entry.staff)]),
        money=money,
        clock=clock,
    )


_FIELDS: Final = ("kind", "table", "round", "player", "staff", "since", "until")


def _wanted(given: dict[str, str]) -> tuple[Wanted, list[str]]:
    """The filters, and the names of those that cannot be read."""
    wrong: list[str] = []

    def identity(name: str) -> str | None:
        found = given.get(name)
        if found is not None and not (is_round_name(found) if name == "round" else is_table_name(found)):
            wrong.append(name)
        return found

    def day(name: str, *, later: int = 0) -> dt.datetime | None:
        if name not in given:
            return None
        try:
            found = dt.datetime.strptime(given[name], "%Y-%m-%d").replace(tzinfo=dt.UTC)
            return found + dt.timedelta(days=later)
        except (ValueError, OverflowError):
            wrong.append(name)
            return None

    kind = given.get("kind")
    if kind is not None and kind not in KINDS:
        wrong.append("kind")
    wanted = Wanted(
        kinds=(cast("Kind", kind),) if kind is not None else (),
        table=identity("table"),
        round=identity("round"),
        player=identity("player"),
        staff=identity("staff"),
        since=day("since"),
        until=day("until", later=1),
    )
    return wanted, wrong


def _uuid(text: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise PageProblem(_UNPROCESSABLE, "frame.form_unreadable") from None
