"""The app: all routers, the form of problems, limits, headers that every answer has."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc.aio
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from eventstore.coordination.outages import PASSING
from servicekit.grpc import failure_of
from upcard_gateway.entrypoints.http import (
    lobby,
    operators,
    public_rounds,
    reports,
    rounds,
    sessions,
    wallets,
    webhooks,
)
from upcard_gateway.entrypoints.http.admitting import Admission
from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.http.problems import Problem, answer, as_problem
from upcard_gateway.entrypoints.pages import add_pages
from upcard_gateway.entrypoints.play import serving as play
from upcard_platform.problems import ProblemBody
from upcard_platform.signing import KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER

__all__ = ["ROUTERS", "api", "http_app"]

ROUTERS: Final = (operators, sessions, wallets, lobby, rounds, reports, webhooks, public_rounds)
"""The modules whose routers make up the API, in the order of its documentation."""

VERSION: Final = "1.0.0"
_READING: Final = frozenset({"GET", "HEAD"})
_MOST_ERRORS_SHOWN: Final = 20

_log = structlog.get_logger("upcard.gateway.http")


def api() -> FastAPI:
    """The platform API by itself, without anything behind it: what its description is made from.

    It has no pages of documentation of its own: docs/openapi.json is that.
    """
    app = FastAPI(
        title="Upcard platform API",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for module in ROUTERS:
        app.include_router(module.router)
    app.openapi = lambda: openapi_of(app)  # type: ignore[method-assign]  # how FastAPI says to change it
    return app


def http_app(edge: Edge) -> FastAPI:
    """The app over this edge: the API, the players' connections, the pages."""
    app = api()
    app.state.edge = edge
    app.include_router(play.router)
    handlers: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
        Problem: _problem,
        RequestValidationError: _invalid,
        HTTPException: _refused,
        grpc.aio.AioRpcError: _service_failed,
        **dict.fromkeys((*PASSING, TimeoutError), _database_away),
    }
    add_pages(app, edge, handlers)
    app.add_middleware(Admission, settings=edge.settings)
    return app


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """The description of the API, with what FastAPI does not know by itself: signatures, problems."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_DESCRIPTION)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    body = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(body.pop("$defs", {}))
    schemas["ProblemBody"] = body
    made["components"]["securitySchemes"] = {
        name: {"type": "apiKey", "in": "header", "name": name}
        for name in (KEY_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)
    }
    for path in made.get("paths", {}).values():
        for operation in path.values():
            found = operation.get("responses", {})
            if "HTTPValidationError" in str(found.get("422", "")):
                del found["422"]  # FastAPI's own, which ours is answered in place of
            # Routes that are signed document what a wrong signature is answered with.
            if "401" in found:
                operation["security"] = [{KEY_HEADER: [], TIMESTAMP_HEADER: [], SIGNATURE_HEADER: []}]
    app.openapi_schema = made
    return made


_DESCRIPTION: Final = """\
What a casino platform calls. Each call is signed (docs/gateway.md); each that changes something carries a
`request_id`, and the same again gets the original answer. Amounts are whole minor units beside a currency.
What is not done is answered with a problem (RFC 9457), which says what happened to the money and whether to
try again.
"""


async def _problem(request: Request, problem: Problem) -> Response:
    instance = None
    if problem.status >= 500:
        instance = _instance()
        _log.warning("a call is not done", code=problem.code, answer=instance, route=_route(request))
    return answer(problem, instance)


async def _invalid(request: Request, error: RequestValidationError) -> Response:  # noqa: ARG001 - as it is called
    errors = [
        {"place": ".".join(str(step) for step in found["loc"])[:200], "wrong": str(found["msg"])[:300]}
        for found in error.errors()[:_MOST_ERRORS_SHOWN]
    ]
    return answer(Problem("request_invalid", "see `errors` for what is wrong where", errors=errors))


async def _refused(request: Request, error: HTTPException) -> Response:
    code = {404: "not_found", 405: "method_not_allowed", 400: "request_invalid"}.get(error.status_code)
    if code is None:
        return await _unexpected(request, error)
    headers = dict(error.headers or {})
    detail = {
        "not_found": "there is nothing at this path",
        "method_not_allowed": "the path does not take this method",
    }.get(code, "the request cannot be read")
    return answer(Problem(code, detail, headers=headers))


async def _service_failed(request: Request, error: grpc.aio.AioRpcError) -> Response:
    failure = failure_of(error)
    problem = as_problem(error, money="none_moved" if request.method in _READING else "unknown")
    instance = _instance()
    _log.warning(
        "a service behind failed",
        code=failure.code.name,
        reason=failure.reason,
        error_id=failure.error_id,
        answer=instance,
        route=_route(request),
    )
    return answer(problem, instance)


async def _database_away(request: Request, error: Exception) -> Response:
    instance = _instance()
    _log.warning(
        "the database does not answer", why=type(error).__name__, answer=instance, route=_route(request)
    )
    money: Any = "none_moved" if request.method in _READING else "unknown"
    return answer(
        Problem(
            "unavailable", "the database does not answer now; ask again with the same request_id", money=money
        ),
        instance,
    )


async def _unexpected(request: Request, error: Exception) -> Response:
    instance = _instance()
    _log.error("a call failed", answer=instance, route=_route(request), exc_info=error)
    money: Any = "none_moved" if request.method in _READING else "unknown"
    return answer(Problem("internal", "something went wrong; tell us `instance`", money=money), instance)


def _route(request: Request) -> str:
    """The template of a call's path: the path itself may name players."""
    route = request.scope.get("route")
    return str(getattr(route, "path", "")) or "(none)"


def _instance() -> str:
    return f"urn:upcard:log:{secrets.token_hex(8)}"
