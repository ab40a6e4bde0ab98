"""What every page stands on.

router = APIRouter(include_in_schema=False)
Floor = Annotated[Member, needs("shift_manager", "operations", "admin")]

@router.get("/staff/floor")
async def floor(request: Request, member: Floor) -> Response:
    return page(request, member, "floor/tables.html", tables=await tables(edge_of(request)))

A template extends `layout.html`, fills its blocks `title` and `content`, and takes every word from
`t("area.key")`. A form has `{{ form_fields() }}`: the hidden fields that `form_of` and `acted` ask for.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final, cast

import jinja2
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.requests import Request

from upcard_gateway.domain.staff import Role
from upcard_gateway.entrypoints.pages.acting import acted
from upcard_gateway.entrypoints.pages.csrf import check_csrf, csrf_of, fields_of, form_of, keep_visit
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.guard import needs
from upcard_gateway.entrypoints.pages.live import LiveStreams, live
from upcard_gateway.entrypoints.pages.member import Member
from upcard_gateway.entrypoints.pages.problems import PageProblem, is_api
from upcard_gateway.entrypoints.pages.static import StaticFile, static_path
from upcard_gateway.entrypoints.staffing import Staffing

__all__ = [
    "CONTENT_SECURITY_POLICY",
    "Member",
    "PageProblem",
    "Pages",
    "Role",
    "acted",
    "check_csrf",
    "fields_of",
    "form_of",
    "fragment",
    "live",
    "needs",
    "page",
]

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
_THEMES: Final = ("light", "dark")
_SCRIPTS_WORDS: Final = "frame.script"


def moment(at: dt.datetime | None) -> str:
    """A moment as tables show it, in UTC: `2026-01-31 12:00:05`; empty for none."""
    return "" if at is None else at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the navigation."""

    path: str
    text: str
    key: str
    """The keyboard's: `g`, then this."""
    roles: frozenset[Role]


def _place(path: str, key: str, *roles: Role) -> Place:
    return Place(path, f"frame.nav.{path.rpartition('/')[2]}", key, frozenset(roles))


PLACES: Final = (
    _place("/staff/floor", "f", "shift_manager", "operations", "support", "auditor", "admin"),
    _place("/staff/dealer", "d", "dealer"),
    _place("/staff/chat", "c", "shift_manager", "admin"),
    _place("/staff/find", "i", "shift_manager", "operations", "support", "auditor", "admin"),
    _place("/staff/significant", "s", "shift_manager", "operations", "auditor", "admin"),
    _place("/staff/money", "m", "operations", "auditor", "admin"),
    _place("/staff/health", "h", "operations", "admin"),
    _place("/staff/people", "p", "admin"),
)
"""Where the navigation leads, in its order; a member sees what their roles may open."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What pages of one app share: `app.state.pages`."""

    english: English = field(repr=False)
    static: Mapping[str, StaticFile] = field(repr=False)
    staffing: Staffing
    https: bool
    """Whether people reach this by https; cookies are for it alone then."""
    paths: frozenset[str]
    """Templates of all paths that the app has."""
    streams: LiveStreams = field(default_factory=LiveStreams)
    environment: jinja2.Environment = field(init=False)

    def __post_init__(self) -> None:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(str(files("upcard_gateway") / "pages" / "templates")),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.globals.update(t=self.english, static=self._static)
        environment.filters["moment"] = moment
        object.__setattr__(self, "environment", environment)

    def _static(self, name: str) -> str:
        return static_path(self.static, name)

    @staticmethod
    async def check(request: Request) -> None:
        """Raise PageProblem unless what is to change something comes from a page of ours."""
        if is_api(request):
            check_csrf(request)
        else:
            await fields_of(request, None)

    def places(self, member: Member) -> tuple[Place, ...]:
        """Where this member may go."""
        return tuple(
            one for one in PLACES if one.path in self.paths and not one.roles.isdisjoint(member.roles)
        )


def page(
    request: Request, member: Member | None, template: str, /, *, status: int = 200, **context: object
) -> HTMLResponse:
    """A whole page. `member` None: nobody is signed in, and there is no navigation.

    Raises jinja2's errors: a mistake of the template.
    """
    html = _rendered(request, template, {"member": member, **context})
    response = HTMLResponse(html, status_code=status, headers=_HEADERS)
    keep_visit(request, response)
    return response


def fragment(request: Request, template: str, **context: object) -> str:
    """A part of a page: what a live region holds. It has everything that a page's template has.

    A template puts it in as it is: it is marked as HTML that is safe.
    """
    whole = {"member": getattr(request.state, "member", None), **context}
    return Markup(_rendered(request, template, whole))  # noqa: S704 - the template has escaped what it was given


def _rendered(request: Request, template: str, context: Mapping[str, object]) -> str:
    pages: Pages = request.app.state.pages
    member = cast("Member | None", context["member"])
    theme = request.cookies.get("upcard-theme", "")
    csrf = csrf_of(request)
    words: dict[str, Any] = {
        "request_path": request.url.path,
        "request_place": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "theme": theme if theme in _THEMES else "auto",
        "csrf": csrf,
        "places": () if member is None else pages.places(member),
        "script_words": pages.english.part(_SCRIPTS_WORDS),
        "form_fields": _form_fields(csrf),
    }
    return pages.environment.get_template(template).render({**words, **context})


def _form_fields(csrf: str) -> Callable[[], Markup]:
    """What puts a form's hidden fields in: each form gets a request_id of its own."""

    def fields() -> Markup:
        return Markup(
            '<input type="hidden" name="csrf" value="{}"><input type="hidden" name="request_id" value="{}">'
        ).format(csrf, secrets.token_urlsafe(16))

    return fields
