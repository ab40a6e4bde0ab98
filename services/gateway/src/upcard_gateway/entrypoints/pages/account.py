"""A member's own account: where it begins, own sessions, who one is; and upkeep of all sessions."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from eventstore.coordination.outages import PASSING
from servicekit.lifecycle import Service
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages.csrf import check_csrf, csrf_of, form_of
from upcard_gateway.entrypoints.pages.frame import Pages, page
from upcard_gateway.entrypoints.pages.guard import AnyMember
from upcard_gateway.entrypoints.staffing import staffing_on
from upcard_gateway.settings import GatewaySettings

router = APIRouter(include_in_schema=False)

_SEE_OTHER: Final = 303
_MOST_SESSIONS: Final = 30

_log = structlog.get_logger("upcard.gateway.staff")


@router.get("/staff")
async def home(request: Request, member: AnyMember) -> Response:
    """The first place that the member may go to."""
    pages: Pages = request.app.state.pages
    places = pages.places(member)
    return RedirectResponse(places[0].path if places else "/staff/me", _SEE_OTHER)


@router.get("/staff/me")
async def me(request: Request, member: AnyMember) -> Response:
    """The member's roles, sessions, and how many recovery codes are left."""
    staffing = request.app.state.pages.staffing
    async with staffing.log.pool.acquire() as connection:
        lines = await staffing.sessions.lines(connection, member.staff, _MOST_SESSIONS)
        codes = await staffing.tables.recovery_left(connection, member.staff)
    return page(request, member, "signing_in/account.html", lines=lines, codes=codes)


@router.post("/staff/me/sessions/{session}/end")
async def end_session(session: str, request: Request, member: AnyMember) -> Response:
    """End one of the member's own sessions."""
    await form_of(request, member)
    staffing = request.app.state.pages.staffing
    await staffing.signing_in.sign_out(member.staff, session, by_itself=session == member.session)
    return RedirectResponse("/staff/me", _SEE_OTHER)


@router.get("/staff/api/me")
async def who(request: Request, member: AnyMember) -> Response:
    """Who is signed in, for programs: the header `Upcard-Csrf` of their calls is `csrf`."""
    return JSONResponse(
        {
            "staff": member.staff,
            "name": member.name,
            "roles": sorted(member.roles),
            "session": member.session,
            "csrf": csrf_of(request),
        }
    )


@router.post("/staff/api/here")
async def here(request: Request, member: AnyMember) -> Response:  # noqa: ARG001 - it is a sign of the member
    """A sign of the member from a page that sends nothing else."""
    check_csrf(request)
    return Response(status_code=204)


async def start(service: Service[GatewaySettings], edge: Edge) -> None:
    """Lock idle sessions and end those that are over, in every instance: each is changed by one of them."""
    door = staffing_on(edge).door

    async def sweep(ending: asyncio.Event) -> None:
        while not ending.is_set():
            try:
                await door.sweep()
            except (TimeoutError, *PASSING) as error:
                # A request that comes meanwhile locks or ends its session itself.
                _log.warning("sessions of staff could not be swept", why=type(error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), edge.settings.staff_swept_s)

    await service.run("locks of staff", sweep)
