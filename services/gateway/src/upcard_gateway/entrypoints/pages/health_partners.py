"""Pages: an operator's wallet. Calls to it that wait for people, tried again or ended by two of them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response
from starlette.requests import Request

from servicekit.grpc import acting_as
from upcard_gateway.adapters.parked_calls import ENDINGS, CallRefused
from upcard_gateway.adapters.postgres.two_people import enrolled_after
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, form_of, needs, page
from upcard_gateway.entrypoints.pages.health_desk import desk_of
from upcard_gateway.entrypoints.pages.shown import amount, clock, count

router = APIRouter(include_in_schema=False)

Operator = Annotated[Member, needs("operations", "admin")]

_is_operator: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
_is_uuid: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_REFUSED: Final = frozenset(
    {
        "call_not_parked",
        "reason_invalid",
        "ending_invalid",
        "proposal_unknown",
        "proposal_decided",
        "two_people_needed",
    }
)


@router.get("/staff/health/partners/{operator}")
async def partner(request: Request, member: Operator, operator: str, done: str = "") -> Response:
    """How an operator's wallet stands, and its calls that wait for people."""
    if not _is_operator(operator):
        raise PageProblem(404, "health.partner.unknown")
    desk = desk_of(request)
    with acting_as(member.actor()):
        calls, more = await desk.parked_calls.of(operator)
    seen = await desk.overview(member)
    standing = next((one for one in seen.partners or () if one.operator == operator), None)
    if standing is None and not calls:
        raise PageProblem(404, "health.partner.unknown")
    return page(
        request,
        member,
        "health/partner.html",
        operator=operator,
        partner=standing,
        calls=calls,
        more=more,
        done=done if done in {"retried", "proposed", "approved", "rejected"} else "",
        own=str(member.actor()),
        clock=partial(clock, now=edge_of(request).now()),
        count=count,
        amount=amount,
    )


@router.post("/staff/health/partners/{operator}/retry")
async def retry(request: Request, member: Operator, operator: str) -> Response:
    """Have a parked call tried again."""
    form = await form_of(request, member)
    call, reason = _id(form, "call"), checked_reason(form)
    calls = desk_of(request).parked_calls
    work = partial(calls.retry, call, reason, form.get("request_id", ""))
    return await _do(request, member, form, operator, "parked_call_retry", call, work, "retried")


@router.post("/staff/health/partners/{operator}/propose")
async def propose(request: Request, member: Operator, operator: str) -> Response:
    """Propose how a parked call ends without the partner."""
    form = await form_of(request, member)
    call, reason, ending = _id(form, "call"), checked_reason(form), form.get("ending", "")
    if ending not in ENDINGS:
        raise PageProblem(422, "health.refusals.ending_invalid")
    calls = desk_of(request).parked_calls
    work = partial(calls.propose, call, ending, reason, form.get("request_id", ""))
    return await _do(request, member, form, operator, f"parked_call_propose_{ending}", call, work, "proposed")


@router.post("/staff/health/partners/{operator}/decide")
async def decide(request: Request, member: Operator, operator: str) -> Response:
    """A second person's word about a proposal."""
    form = await form_of(request, member)
    proposal, approve = _id(form, "proposal"), form.get("approve") == "yes"
    calls = desk_of(request).parked_calls
    if approve:
        await _check_second(request, member, operator, proposal)
    work = partial(calls.decide, proposal, form.get("request_id", ""), approve=approve)
    done = "approved" if approve else "rejected"
    return await _do(request, member, form, operator, f"parked_call_{done}", proposal, work, done)


async def _do(  # noqa: PLR0913, PLR0917 - an audited act: what, about what, why, and how
    request: Request,
    member: Member,
    form: dict[str, str],
    operator: str,
    action: str,
    subject: str,
    work: Callable[[], Awaitable[None]],
    done: str,
) -> Response:
    """Record it, do it, and show the page again."""
    if not _is_operator(operator):
        raise PageProblem(404, "health.partner.unknown")

    async def told() -> None:
        try:
            with acting_as(member.actor()):
                await work()
        except CallRefused as refused:
            key = refused.reason if refused.reason in _REFUSED else "refused"
            raise PageProblem(409, f"health.refusals.{key}") from refused

    await acted(
        edge_of(request),
        member,
        action=action,
        subject=f"{operator}: {subject}",
        reason=checked_reason(form),
        request_id=form.get("request_id", ""),
        work=told,
    )
    desk_of(request).forget()
    return RedirectResponse(f"/staff/health/partners/{quote(operator, safe='')}?done={done}", 303)


async def _check_second(request: Request, member: Member, operator: str, proposal: str) -> None:
    """Raise PageProblem: it waits for nobody here, or the member enrolled after it was made."""
    if not _is_operator(operator):
        raise PageProblem(404, "health.partner.unknown")
    with acting_as(member.actor()):
        calls, _ = await desk_of(request).parked_calls.of(operator)
    made = next((one for call in calls for one in call.proposals if one.proposal == proposal), None)
    if made is None:
        raise PageProblem(409, "health.refusals.proposal_gone")
    async with edge_of(request).pool.acquire() as connection:
        if await enrolled_after(connection, member.staff, made.at):
            raise PageProblem(409, "health.refusals.enrolled_later")


def _id(form: dict[str, str], name: str) -> str:
    value = form.get(name, "")
    if not _is_uuid(value):
        raise PageProblem(400, "frame.form_unreadable")
    return value
