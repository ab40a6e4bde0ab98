"""How what goes wrong is told: a page to people, a problem (RFC 9457) to programs."""

from __future__ import annotations

import json
import math
import secrets
from typing import Any, Final

import grpc.aio
import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eventstore.coordination.outages import PASSING
from servicekit.grpc import failure_of
from upcard_gateway.entrypoints.http.problems import Problem
from upcard_gateway.entrypoints.pages.frame import page
from upcard_gateway.entrypoints.pages.problems import PageProblem, is_api, is_page

__all__ = ["PageErrors", "told"]

_MEDIA_TYPE: Final = "application/problem+json"
_SEE_OTHER: Final = 303
_KNOWN: Final = {404: "frame.not_found", 405: "frame.method_not_allowed"}

_log = structlog.get_logger("upcard.gateway.pages")


class PageErrors:
    """ASGI middleware: what nobody foresaw on a page is told as a page too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of ASGI."""
        if scope["type"] != "http" or not is_page(Request(scope)):
            await self._app(scope, receive, send)
            return
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except TimeoutError:
            raise  # the call's own deadline: who set it answers
        except Exception as error:
            if begun:
                raise
            response = await told(Request(scope, receive), error)
            await response(scope, receive, send)


async def told(request: Request, error: Exception) -> Response:
    """The answer to whatever a page's route raised."""
    problem = error if isinstance(error, PageProblem) else _as_page_problem(request, error)
    if problem.redirect is not None and not is_api(request):
        return RedirectResponse(problem.redirect, _SEE_OTHER)
    english = request.app.state.pages.english
    text = english(problem.key, **problem.values)
    headers = {}
    if problem.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, math.ceil(problem.retry_after_s)))
    if is_api(request):
        body = {
            "type": f"urn:upcard:problem:{problem.code}",
            "title": english("frame.problem_title"),
            "status": problem.status,
            "code": problem.code,
            "detail": text,
            **{name: value for name, value in problem.values.items() if isinstance(value, (str, int))},
        }
        return Response(
            json.dumps(body, ensure_ascii=False),
            status_code=problem.status,
            media_type=_MEDIA_TYPE,
            headers=headers,
        )
    member = getattr(request.state, "member", None)
    response = page(request, member, "problem.html", status=problem.status, text=text, code=problem.code)
    response.headers.update(headers)
    return response


def _as_page_problem(request: Request, error: Exception) -> PageProblem:
    if isinstance(error, HTTPException):
        key = _KNOWN.get(error.status_code, "frame.form_unreadable")
        return PageProblem(error.status_code if error.status_code in _KNOWN else 400, key)
    if isinstance(error, RequestValidationError):
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc']))[:80]}: {one['msg'][:120]}" for one in error.errors()[:5]
        )
        return PageProblem(422, "frame.request_invalid", wrong=wrong)
    if isinstance(error, Problem):
        return PageProblem(
            error.status, "frame.passed_on", detail=error.detail, retry_after_s=error.retry_after_s
        )
    instance = secrets.token_hex(8)
    values: dict[str, Any] = {"instance": instance}
    if isinstance(error, grpc.aio.AioRpcError):
        failure = failure_of(error)
        _log.warning(
            "a service behind failed",
            code=failure.code.name,
            reason=failure.reason,
            error_id=failure.error_id,
            answer=instance,
            path=_route(request),
        )
        if failure.may_pass:
            return PageProblem(
                503, "frame.service_away", retry_after_s=failure.retry_after_s or 1.0, **values
            )
        reason = failure.reason or failure.code.name.lower()
        return PageProblem(502, "frame.service_refused", reason=reason, **values)
    if isinstance(error, (TimeoutError, *PASSING)):
        _log.warning(
            "the database does not answer", why=type(error).__name__, answer=instance, path=_route(request)
        )
        return PageProblem(503, "frame.database_away", retry_after_s=1.0, **values)
    _log.error("a page failed", answer=instance, path=_route(request), exc_info=error)
    return PageProblem(500, "frame.broken", **values)


def _route(request: Request) -> str:
    """The template of a path: the path itself may name people."""
    return str(getattr(request.scope.get("route"), "path", "")) or "(none)"
