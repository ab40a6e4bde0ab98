"""Who may open which page: roles are looked up in the database at each request.

Floor = Annotated[Member, needs("shift_manager", "operations", "admin")]
"""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import Depends
from starlette.requests import Request

from upcard_gateway.app.staff_sessions import Standing
from upcard_gateway.domain.staff import Role
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import STAFF, PageProblem, is_api

__all__ = [
    "ENROL",
    "LIVE",
    "LOCKED",
    "SIGN_IN",
    "AnyMember",
    "cookie_name",
    "needs",
    "safe_next",
    "standing_of",
    "token_of",
    "with_next",
]

SIGN_IN: Final = f"{STAFF}/sign-in"
LIVE: Final = "/live"
"""The paths of live regions end with it."""
LOCKED: Final = f"{STAFF}/locked"
ENROL: Final = f"{STAFF}/enrol"
_RELOADED: Final = "upcard-reloaded"
"""The cookie that `live.js` sets for a moment when it asks for its page again by itself."""
_LONGEST_NEXT: Final = 1_000
_LONGEST_TOKEN: Final = 100


def needs(*roles: Role) -> Any:  # noqa: ANN401 - what FastAPI's Depends gives
    """A dependency that is the member who is signed in, who has one of these roles; none: any role.

    Raises PageProblem: nobody is signed in or the session is locked (a page leads to where that can be
    changed, a call of the API is answered 401), or the role is missing (403).
    """
    wanted = frozenset(roles)

    async def admitted(request: Request) -> Member:
        if b"%00" in request.scope["query_string"] or "\0" in request.url.path:
            raise PageProblem(400, "frame.form_unreadable")  # no text in a database has it
        standing = await standing_of(request, passive=_by_itself(request))
        if standing is None:
            raise _elsewhere(request, "frame.not_signed_in", SIGN_IN)
        if standing.state == "enrolling":
            raise _elsewhere(request, "frame.not_enrolled", ENROL)
        if standing.state == "locked":
            raise _elsewhere(request, "frame.locked", LOCKED)
        if wanted and wanted.isdisjoint(standing.roles):
            raise PageProblem(403, "frame.role_missing")
        member = Member(standing.staff, standing.name, standing.roles, standing.session)
        request.state.member = member
        request.state.roles_wanted = wanted
        if request.method not in {"GET", "HEAD"}:
            await request.app.state.pages.check(request)
        return member

    return Depends(admitted)


AnyMember = Annotated[Member, needs()]
"""A parameter of a route: whoever is signed in."""


async def standing_of(request: Request, *, passive: bool = False) -> Standing | None:
    """How whoever has this request's cookie stands; None: nobody is signed in.

    `passive`: the request is no sign of the person, as those that a page makes by itself are not.
    """
    token = token_of(request)
    if not token:
        return None
    found: Standing | None = await request.app.state.pages.staffing.door.standing(token, passive=passive)
    return found


def _by_itself(request: Request) -> bool:
    """Whether a page asks this with nobody at it.

    That is a live region, which is opened anew every few minutes, what else a script reads, and a page that
    `live.js` asks for again because its stream was refused.
    """
    if request.method not in {"GET", "HEAD"}:
        return False
    return (
        request.url.path.endswith(LIVE)
        or request.headers.get("sec-fetch-dest") == "empty"
        or request.cookies.get(_RELOADED) is not None
    )


def token_of(request: Request) -> str:
    """What the session's cookie holds; empty: none."""
    token = request.cookies.get(cookie_name(request), "")
    return token if len(token) <= _LONGEST_TOKEN else ""


def cookie_name(request: Request, what: str = "staff") -> str:
    """The name of a cookie. Behind https it has the prefix that ties it to this host and to https."""
    return f"__Host-upcard-{what}" if request.app.state.pages.https else f"upcard-{what}"


def safe_next(given: str | None) -> str:
    """Where to go on: a path of staff's pages, and nothing else that an address may bring."""
    if given is None or len(given) > _LONGEST_NEXT or not given.isascii() or not given.isprintable():
        return STAFF
    if (given == STAFF or given.startswith((f"{STAFF}/", f"{STAFF}?"))) and "\\" not in given:
        return given
    return STAFF


def with_next(path: str, place: str) -> str:
    """A path that leads on to a place afterwards."""
    return path if place == STAFF else f"{path}?{urlencode({'next': place}, quote_via=quote)}"


def _elsewhere(request: Request, key: str, path: str) -> PageProblem:
    """A page leads there and back again; a call is told that nobody is signed in."""
    if is_api(request):
        return PageProblem(401, key)
    place = request.url.path
    if request.method != "GET":
        place = STAFF  # what was posted is gone; the form is not asked for again
    elif request.url.query:
        place = f"{place}?{request.url.query}"
    return PageProblem(401, key, redirect=with_next(path, safe_next(place)))
