"""Signing in and out, the lock, and the enrolment."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from upcard_gateway.adapters.passwords import TooManyAtOnce
from upcard_gateway.app.staff import Refused
from upcard_gateway.app.staff_proofs import LEAST_PASSWORD
from upcard_gateway.app.staff_sessions import Standing
from upcard_gateway.app.staff_signing_in import Begun, Entering, Wait
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.entrypoints.http.edge import edge_of, origin_of
from upcard_gateway.entrypoints.pages.csrf import form_of
from upcard_gateway.entrypoints.pages.frame import page
from upcard_gateway.entrypoints.pages.guard import (
    ENROL,
    LOCKED,
    SIGN_IN,
    AnyMember,
    cookie_name,
    safe_next,
    standing_of,
    with_next,
)
from upcard_gateway.entrypoints.pages.problems import STAFF, PageProblem
from upcard_gateway.entrypoints.staffing import Staffing

router = APIRouter(include_in_schema=False)

_SEE_OTHER: Final = 303
_LONGEST_BROWSER: Final = 200


@router.get("/staff/sign-in")
async def sign_in_page(request: Request) -> Response:
    """The form; whoever is signed in goes on."""
    place = safe_next(request.query_params.get("next"))
    standing = await standing_of(request, passive=True)
    if standing is not None:
        return RedirectResponse(_where(standing, place), _SEE_OTHER)
    return page(request, None, "signing_in/sign_in.html", next=place, name="", text=None)


@router.post("/staff/sign-in")
async def sign_in(request: Request) -> Response:
    """Begin a session. What was wrong is not said, and takes as long whatever it was."""
    began_s = time.monotonic()
    form = await form_of(request, None)
    place = safe_next(form.get("next"))
    found = await _entered(request, form)
    if isinstance(found, Begun):
        response = RedirectResponse(with_next(ENROL, place) if found.enrolling else place, _SEE_OTHER)
        _keep(request, response, found.token)
        return response
    await _not_before(request, began_s)
    return _refused(request, found, "signing_in/sign_in.html", next=place, name=form.get("name", "")[:64])


@router.get("/staff/locked")
async def locked_page(request: Request) -> Response:
    """Asks for the password of a locked session, and leads back to where it was."""
    place = safe_next(request.query_params.get("next"))
    standing = await standing_of(request, passive=True)
    if standing is None or standing.state != "locked":
        return RedirectResponse(_where(standing, place), _SEE_OTHER)
    return page(request, None, "signing_in/locked.html", next=place, name=standing.name, text=None)


@router.post("/staff/locked")
async def unlock(request: Request) -> Response:
    """Let a locked session go on."""
    began_s = time.monotonic()
    form = await form_of(request, None)
    place = safe_next(form.get("next"))
    standing = await standing_of(request, passive=True)
    if standing is None or standing.state != "locked":
        return RedirectResponse(_where(standing, place), _SEE_OTHER)
    try:
        found = await _staffing(request).signing_in.unlock(standing, form.get("password", ""))
    except TooManyAtOnce:
        raise PageProblem(503, "signing_in.busy", retry_after_s=2.0) from None
    if found is True:
        return RedirectResponse(place, _SEE_OTHER)
    await _not_before(request, began_s)
    result = found if isinstance(found, Wait) else Refused("password_wrong")
    return _refused(request, result, "signing_in/locked.html", next=place, name=standing.name)


@router.post("/staff/lock")
async def lock(request: Request, member: AnyMember) -> Response:
    """Lock the session: whoever goes away for a moment."""
    form = await form_of(request, member)
    standing = await standing_of(request, passive=True)
    if standing is not None:
        await _staffing(request).signing_in.lock(standing)
    return RedirectResponse(with_next(LOCKED, safe_next(form.get("next"))), _SEE_OTHER)


@router.post("/staff/sign-out")
async def sign_out(request: Request) -> Response:
    """End the session; also one that is locked, or is enrolling."""
    await form_of(request, None)
    standing = await standing_of(request, passive=True)
    if standing is not None:
        await _staffing(request).signing_in.sign_out(standing.staff, standing.session)
    response = RedirectResponse(SIGN_IN, _SEE_OTHER)
    response.delete_cookie(
        cookie_name(request),
        path="/",
        secure=request.app.state.pages.https,
        httponly=True,
        samesite="strict",
    )
    return response


@router.get("/staff/enrol")
async def enrol_page(request: Request) -> Response:
    """Choose a password, and set up the second factor."""
    standing = await standing_of(request, passive=True)
    if standing is None or standing.state != "enrolling":
        return RedirectResponse(_where(standing, STAFF), _SEE_OTHER)
    return await _enrolling(request, standing, None, safe_next(request.query_params.get("next")))


@router.post("/staff/enrol")
async def enrol(request: Request) -> Response:
    """End the enrolment: the member is signed in, and sees the recovery codes this once."""
    form = await form_of(request, None)
    place = safe_next(form.get("next"))
    standing = await standing_of(request, passive=True)
    if standing is None or standing.state != "enrolling":
        return RedirectResponse(_where(standing, place), _SEE_OTHER)
    if form.get("password", "") != form.get("password_again", ""):
        return await _enrolling(request, standing, "signing_in.wrong.password_differs", place, status=422)
    try:
        found = await _staffing(request).signing_in.enrol(standing, _entering(request, form))
    except TooManyAtOnce:
        raise PageProblem(503, "signing_in.busy", retry_after_s=2.0) from None
    if isinstance(found, Refused):
        return await _enrolling(request, standing, f"signing_in.wrong.{found.reason}", place, status=422)
    response = page(request, None, "signing_in/enrolled.html", codes=found.recovery_codes, next=place)
    _keep(request, response, found.token)
    return response


async def _enrolling(
    request: Request, standing: Standing, wrong: str | None, place: str, *, status: int = 200
) -> Response:
    staffing = _staffing(request)
    secret = await staffing.signing_in.shown_factor(standing)
    if secret is None:
        return RedirectResponse(SIGN_IN, _SEE_OTHER)
    return page(
        request,
        None,
        "signing_in/enrol.html",
        status=status,
        name=standing.name,
        wrong=wrong,
        least=LEAST_PASSWORD,
        picture=staffing.totp.picture(secret, standing.name or "staff"),
        secret=staffing.totp.text(secret),
        next=place,
    )


async def _entered(request: Request, form: dict[str, str]) -> Begun | Wait | Refused:
    try:
        return await _staffing(request).signing_in.sign_in(_entering(request, form))
    except TooManyAtOnce:
        raise PageProblem(503, "signing_in.busy", retry_after_s=2.0) from None


def _entering(request: Request, form: dict[str, str]) -> Entering:
    browser = "".join(one for one in request.headers.get("user-agent", "") if one.isprintable())
    origin = origin_of(request)
    return Entering(
        sign_in_name=form.get("name", ""),
        password=form.get("password", ""),
        code=form.get("code", ""),
        address=str(origin or ""),
        place=bucket_of(origin),
        browser=browser[:_LONGEST_BROWSER],
    )


def _refused(request: Request, found: Wait | Refused, template: str, **context: object) -> Response:
    english = request.app.state.pages.english
    if isinstance(found, Wait):
        seconds = max(1, math.ceil(found.seconds))
        response = page(
            request, None, template, status=429, text=english("signing_in.wrong.wait", n=seconds), **context
        )
        response.headers["Retry-After"] = str(seconds)
        return response
    text = english(f"signing_in.wrong.{found.reason}")
    return page(request, None, template, status=401, text=text, **context)


async def _not_before(request: Request, began_s: float) -> None:
    """Wait until a refusal may be answered: its time says nothing of what was wrong."""
    due_s = began_s + edge_of(request).settings.staff_refusal_s
    await asyncio.sleep(max(0.0, due_s - time.monotonic()))


def _where(standing: Standing | None, place: str) -> str:
    """Where somebody who stands so goes on their way to a place."""
    if standing is None:
        return with_next(SIGN_IN, place)
    ways = {"live": place, "locked": with_next(LOCKED, place), "enrolling": with_next(ENROL, place)}
    return ways[standing.state]


def _keep(request: Request, response: Response, token: str) -> None:
    """Give the browser the session's cookie, which no script reads and no other site's request carries."""
    response.set_cookie(
        cookie_name(request),
        token,
        path="/",
        secure=request.app.state.pages.https,
        httponly=True,
        samesite="strict",
    )


def _staffing(request: Request) -> Staffing:
    found: Staffing = request.app.state.pages.staffing
    return found
