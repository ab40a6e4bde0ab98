"""Rounds for whoever has a link to one: a page without signing in."""

from __future__ import annotations

import time
from typing import Final

import grpc.aio
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from upcard_gateway.adapters.history_rounds import NotTheirs, Unreadable, round_detail
from upcard_gateway.app.round_page import CONTENT_SECURITY_POLICY, message_page, round_page
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.entrypoints.http.edge import OnEdge, as_problem, origin_of
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.http.round_answers import links_on

router = APIRouter(tags=["pages"])

_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    # The address is all that is needed to see it.
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "private, no-store",
}
_PER_S_OF_LINK, _BURST_OF_LINK = 1.0, 20
_PER_S_OF_ADDRESS, _BURST_OF_ADDRESS = 20.0, 200
"""Pages a second of one link, and behind one address; and so many at once."""
_PAGES: Final = {
    200: "the round as its player may see it",
    404: "the link is none of ours, or its key is gone",
    429: "this round, or rounds from this address, are asked for too often",
    503: "the round cannot be read now",
}


@router.get(
    "/r/{token}",
    response_class=HTMLResponse,
    responses={
        status: {"description": text, "content": {"text/html": {"schema": {"type": "string"}}}}
        for status, text in _PAGES.items()
    },
)
async def round_by_link(token: str, request: Request, edge: OnEdge) -> HTMLResponse:
    """A round for whoever has a link to it. The link is the permission: it never runs out."""
    if _too_often(
        request, "link_addresses", bucket_of(origin_of(request)), _PER_S_OF_ADDRESS, _BURST_OF_ADDRESS
    ):
        return _many()
    links = links_on(edge)
    linked = None if links is None else links.read(token)
    if linked is not None and _too_often(request, "links", token, _PER_S_OF_LINK, _BURST_OF_LINK):
        return _many()
    if linked is None:
        return _answer(404, message_page("No such round", "This link shows no round. Was it copied whole?"))
    try:
        detail = await round_detail(edge.services, linked.player, linked.round)
    except NotTheirs:
        sentence = "There is nothing of this round here yet. Come again in a moment."
        return _answer(404, message_page("No such round", sentence))
    except Unreadable:
        sentence = "The round was played by rules that are not known here any more. Ask the casino about it."
        return _answer(404, message_page(f"Round {linked.round}", sentence))
    except grpc.aio.AioRpcError as error:
        problem = as_problem(error, money="none_moved")
        if problem.status != 503:
            raise
        sentence = "The round cannot be shown just now. Come again in a moment."
        return _answer(503, message_page(f"Round {linked.round}", sentence))
    return _answer(200, round_page(detail))


def _too_often(request: Request, what: str, name: str, per_s: float, burst: int) -> bool:
    """Nobody signs these calls, and each costs two of the history's."""
    state = request.app.state
    if not hasattr(state, what):
        setattr(state, what, RateLimit(time.monotonic))
    rates: RateLimit = getattr(state, what)
    return rates.take(name, per_s, burst) > 0


def _many() -> HTMLResponse:
    return _answer(429, message_page("One moment", "Rounds are asked for very often. Come again."))


def _answer(status: int, page: str) -> HTMLResponse:
    return HTMLResponse(page, status_code=status, headers=_HEADERS)
