"""Pages: parked events, what stands still, what was left out, dead letters: tried again, left out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Final, TypeVar
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response
from starlette.requests import Request

from messaging.operations import Operations, OperationsAway, OperationsRefused
from servicekit.grpc import acting_as
from upcard_gateway.entrypoints.http.edge import edge_of
from upcard_gateway.entrypoints.pages.acting import checked_reason
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, acted, form_of, needs, page
from upcard_gateway.entrypoints.pages.health_desk import desk_of
from upcard_gateway.entrypoints.pages.shown import clock, count

router = APIRouter(include_in_schema=False)

Operator = Annotated[Member, needs("operations", "admin")]

_REFUSED: Final = frozenset(
    {"not_parked", "other_event", "reason_invalid", "not_stopped", "role_missing", "invalid_argument"}
)
_LONGEST: Final = 500

T = TypeVar("T")


@router.get("/staff/health/parked")
async def parked(request: Request, member: Operator, service: str = "", done: str = "") -> Response:
    """What waits for people, of one service or of all."""
    desk = desk_of(request)
    asked = {name: one for name, one in desk.operations.items() if service in {"", name}} or desk.operations
    with acting_as(member.actor()):
        waiting, stopped, skipped = await asyncio.gather(
            asyncio.gather(*(_or_none(one.parked()) for one in asked.values())),
            asyncio.gather(*(_or_none(one.stopped()) for one in asked.values())),
            asyncio.gather(*(_or_none(one.skipped(limit=20)) for one in asked.values())),
        )
    names = list(asked)
    left_out = [
        (name, event)
        for name, one in zip(names, skipped, strict=True)
        if one is not None
        for event in one.events
    ]
    left_out.sort(key=lambda one: one[1].skipped_at, reverse=True)
    return page(
        request,
        member,
        "health/parked.html",
        service=service if service in desk.operations else "",
        names=list(desk.operations),
        parked=[
            (name, stream)
            for name, one in zip(names, waiting, strict=True)
            if one is not None
            for stream in one.streams
        ],
        more=[name for name, one in zip(names, waiting, strict=True) if one is not None and one.more],
        away=[name for name, one in zip(names, waiting, strict=True) if one is None],
        stopped=[
            (name, stop) for name, one in zip(names, stopped, strict=True) if one is not None for stop in one
        ],
        skipped=left_out[:50],
        done=done if done in {"retried", "skipped", "resumed"} else "",
        clock=partial(clock, now=edge_of(request).now()),
        count=count,
    )


@router.post("/staff/health/parked/retry")
async def retry(request: Request, member: Operator) -> Response:
    """Have a parked stream tried again."""
    form = await form_of(request, member)
    operations = _of(request, form)
    follower, source, stream = _named(form, "follower"), _named(form, "source"), _named(form, "stream")
    return await _do(
        request,
        member,
        form,
        "parked_event_retry",
        f"{operations.service}: {follower} of {source}: {stream}",
        lambda: operations.retry(follower, source, stream),
        "retried",
    )


@router.post("/staff/health/parked/skip")
async def skip(request: Request, member: Operator) -> Response:
    """Leave out the event that a stream is parked at."""
    form = await form_of(request, member)
    operations = _of(request, form)
    follower, source, stream = _named(form, "follower"), _named(form, "source"), _named(form, "stream")
    position = _named(form, "position")
    if not position.isdecimal() or len(position) > 18:
        raise PageProblem(400, "frame.form_unreadable")
    reason = checked_reason(form)
    return await _do(
        request,
        member,
        form,
        "parked_event_skip",
        f"{operations.service}: {follower} of {source}: {stream} at {position}",
        lambda: operations.skip(follower, source, stream, int(position), by=str(member.actor()), why=reason),
        "skipped",
    )


@router.post("/staff/health/stopped/resume")
async def resume(request: Request, member: Operator) -> Response:
    """Let a follower that stands still go on."""
    form = await form_of(request, member)
    operations = _of(request, form)
    follower, source = _named(form, "follower"), _named(form, "source")
    return await _do(
        request,
        member,
        form,
        "follower_resume",
        f"{operations.service}: {follower} of {source}",
        lambda: operations.resume(follower, source),
        "resumed",
    )


@router.get("/staff/health/dead-letters")
async def dead_letters(request: Request, member: Operator) -> Response:
    """Copies of events that somebody could not apply, and whether they wait still."""
    desk = desk_of(request)
    names = list(desk.operations)
    with acting_as(member.actor()):
        letters, waiting = await asyncio.gather(
            asyncio.gather(*(_or_why(one.dead_letters()) for one in desk.operations.values())),
            asyncio.gather(*(_or_none(one.parked(limit=1_000)) for one in desk.operations.values())),
        )
    still = {
        (stream.source, stream.follower, stream.stream, stream.failed_position): at
        for at, one in zip(names, waiting, strict=True)
        if one is not None
        for stream in one.streams
    }
    found = [
        (name, one, still.get((name, one.follower, one.stream, one.stream_position), ""))
        for name, answer in zip(names, letters, strict=True)
        if not isinstance(answer, str)
        for one in answer.failures
    ]
    found.sort(key=lambda one: one[1].failed_at, reverse=True)
    return page(
        request,
        member,
        "health/dead_letters.html",
        letters=found,
        unreadable=sum(one.unreadable for one in letters if not isinstance(one, str)),
        silent=[
            (name, why)
            for name, why in zip(names, letters, strict=True)
            if isinstance(why, str) and why != "not_published"
        ],
        clock=partial(clock, now=edge_of(request).now()),
    )


async def _do(  # noqa: PLR0913, PLR0917 - an audited act: what, about what, why, and how
    request: Request,
    member: Member,
    form: dict[str, str],
    action: str,
    subject: str,
    work: Callable[[], Awaitable[object]],
    done: str,
) -> Response:
    """Record it, do it, and show the page again."""

    async def told() -> None:
        try:
            with acting_as(member.actor()):
                await work()
        except OperationsRefused as refused:
            key = refused.reason if refused.reason in _REFUSED else "refused"
            raise PageProblem(409, f"health.refusals.{key}") from refused
        except OperationsAway as away:
            raise PageProblem(503, "health.refusals.away", retry_after_s=2.0) from away

    await acted(
        edge_of(request),
        member,
        action=action,
        subject=subject,
        reason=checked_reason(form),
        request_id=form.get("request_id", ""),
        work=told,
    )
    desk_of(request).forget()
    service = quote(form.get("only", ""), safe="")
    return RedirectResponse(f"/staff/health/parked?done={done}&service={service}", 303)


def _of(request: Request, form: dict[str, str]) -> Operations:
    found = desk_of(request).operations.get(form.get("service", ""))
    if found is None:
        raise PageProblem(400, "frame.form_unreadable")
    return found


def _named(form: dict[str, str], name: str) -> str:
    """A field that has to be there. Raises PageProblem."""
    value = form.get(name, "")
    if not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise PageProblem(400, "frame.form_unreadable")
    return value


async def _or_none(asked: Awaitable[T]) -> T | None:
    """The answer; None where the service is away or does not give it."""
    try:
        return await asked
    except (OperationsAway, OperationsRefused):
        return None


async def _or_why(asked: Awaitable[T]) -> T | str:
    try:
        return await asked
    except OperationsRefused as refused:
        return refused.reason
    except OperationsAway as away:
        return away.slug
