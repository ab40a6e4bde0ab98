"""Forms that only our own pages can post.

A form carries what follows from the session's secret token, which no other site knows; and the browser has to
say that the request comes from this site. Who is not signed in yet has a cookie of the visit in its place.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from fastapi.responses import Response
from starlette.requests import Request

from upcard_gateway.entrypoints.pages.guard import cookie_name, token_of
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import PageProblem

__all__ = ["FIELD", "HEADER", "check_csrf", "check_origin", "csrf_of", "fields_of", "form_of", "keep_visit"]

FIELD: Final = "csrf"
HEADER: Final = "upcard-csrf"
_MOST_BYTES: Final = 65_536
_MOST_FIELDS: Final = 500
_AS_TYPED: Final = frozenset({"password", "password_again", "password_before"})
"""White space at their ends is a part of them."""
_VISIT_BYTES: Final = 18
_LONGEST_VISIT: Final = 64


def csrf_of(request: Request) -> str:
    """What this request's browser has to post with its forms."""
    token = token_of(request) or _visit(request)
    return hmac.digest(token.encode(), b"upcard: a form of this session", hashlib.sha256).hex()


def keep_visit(request: Request, response: Response) -> None:
    """Give a browser that is not signed in a cookie, so that its forms can be told from those of others."""
    if getattr(request.state, "visit", None) is not None:
        response.set_cookie(
            cookie_name(request, "visit"),
            request.state.visit,
            max_age=86_400,
            path="/",
            secure=request.app.state.pages.https,
            httponly=True,
            samesite="strict",
        )


async def form_of(request: Request, member: Member | None) -> dict[str, str]:
    """A posted form's fields, white space at their ends gone; of a name that is there twice the last.

    Passwords stay as they were typed.
    `member` is who posts, so that nobody reads a form who did not look for one; None: a form of before the
    sign-in. Raises PageProblem: it is not a form, too large, or did not come from a page of ours.
    """
    return {name: value for name, value in await fields_of(request, member) if name != FIELD}


async def fields_of(request: Request, member: Member | None) -> list[tuple[str, str]]:
    """As `form_of`, with every field in its order: for names that may be there more than once."""
    del member
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise PageProblem(415, "frame.not_a_form")
    body = await request.body()
    if len(body) > _MOST_BYTES:
        raise PageProblem(413, "frame.form_too_large")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise PageProblem(400, "frame.form_unreadable") from None
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise PageProblem(400, "frame.form_unreadable")
    given = next((value for name, value in reversed(pairs) if name == FIELD), "")
    check_csrf(request, given)
    return [(name, value if name in _AS_TYPED else value.strip()) for name, value in pairs]


def check_csrf(request: Request, given: str | None = None) -> None:
    """Raise PageProblem unless a request that changes something comes from a page of ours.

    `given`: the form's field; None: it is in the header `Upcard-Csrf`, as calls with JSON have it.
    """
    check_origin(request)
    found = given if given is not None else request.headers.get(HEADER, "")
    if not hmac.compare_digest(found.encode("utf-8", "replace"), csrf_of(request).encode()):
        raise PageProblem(403, "frame.form_not_ours")


def check_origin(request: Request) -> None:
    """Raise PageProblem if the browser says that another site made it send this."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in {"same-origin", "none"}:
        raise PageProblem(403, "frame.form_not_ours")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() not in _own_hosts(request):
        raise PageProblem(403, "frame.form_not_ours")


def _own_hosts(request: Request) -> frozenset[str]:
    """Hosts that this is reached under: the one that people are told, and the one that was asked."""
    public = urlsplit(request.app.state.edge.settings.public_url).netloc.lower()
    return frozenset({public, request.headers.get("host", "").lower()})


def _visit(request: Request) -> str:
    """The cookie of a visit; made when there is none, and then kept by `keep_visit`."""
    found = request.cookies.get(cookie_name(request, "visit"), "")
    if found and len(found) <= _LONGEST_VISIT:
        return found
    if getattr(request.state, "visit", None) is None:
        request.state.visit = secrets.token_urlsafe(_VISIT_BYTES)
    made: str = request.state.visit
    return made
