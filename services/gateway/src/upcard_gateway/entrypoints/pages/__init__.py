"""Pages for people: staff's, and the players' own. docs/adr/0014 says why they are rendered here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.requests import Request
from starlette.responses import Response

from upcard_gateway.entrypoints.http.edge import Edge
from upcard_gateway.entrypoints.pages import (
    account,
    chat,
    dealer,
    finding,
    floor,
    floor_acts,
    floor_config,
    floor_corrections,
    health,
    people,
    play,
    significant,
    signing_in,
    static,
)
from upcard_gateway.entrypoints.pages.english import English
from upcard_gateway.entrypoints.pages.frame import Pages
from upcard_gateway.entrypoints.pages.problems import PageProblem, is_page
from upcard_gateway.entrypoints.pages.static import load_static
from upcard_gateway.entrypoints.pages.telling import PageErrors, told
from upcard_gateway.entrypoints.staffing import staffing_on

__all__ = ["PAGES", "add_pages"]

PAGES: Final = (
    static,
    signing_in,
    account,
    people,
    dealer,
    floor,
    floor_acts,
    floor_config,
    floor_corrections,
    significant,
    finding,
    chat,
    health,
    play,
)
"""The modules whose routers make up the pages. One that has `start(service, edge)` is started with the
service; one that has `prepare(app, edge)` is called when the app is made."""

Handler = Callable[[Request, Any], Awaitable[Response]]


def add_pages(app: FastAPI, edge: Edge, handlers: dict[Any, Handler]) -> None:
    """Add the pages to an app; what goes wrong on one is told as a page, everything else as `handlers` do."""
    for module in PAGES:
        app.include_router(module.router)
    https = edge.settings.public_url.startswith("https://")
    paths = frozenset(str(route.path) for route in iter_route_contexts(app.routes))
    app.state.pages = Pages(English.load(), load_static(), staffing_on(edge), https, paths)
    for module in PAGES:
        prepare = getattr(module, "prepare", None)
        if prepare is not None:
            prepare(app, edge)
    app.add_exception_handler(PageProblem, told)
    app.add_middleware(PageErrors)
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, _on_pages_too(handler))


def _on_pages_too(handler: Handler) -> Handler:
    async def handled(request: Request, error: Exception) -> Response:
        if is_page(request):
            return await told(request, error)
        return await handler(request, error)

    return handled
