"""What every route of the platform API stands on: who called, whom to call, how to answer, what went wrong.

@router.post("/v1/things", response_model=Thing, responses=responses("not_found"))
async def make(body: MakeThing, caller: Signed, edge: OnEdge) -> Response: ...
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from fastapi import Depends, Request

from eventstore.postgres import Pool, PostgresEventStore
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.lobby_dealers import DealerNames
from upcard_gateway.app.operators import Operators
from upcard_gateway.domain.operators import Terms
from upcard_gateway.entrypoints.http.admitting import ADMISSION, Admission
from upcard_gateway.entrypoints.http.answering import (
    answered_once,
    bound,
    bound_to,
    canonical,
    derived_request_id,
    json_answer,
    kept,
)
from upcard_gateway.entrypoints.http.authenticating import Guard
from upcard_gateway.entrypoints.http.limits import client_address
from upcard_gateway.entrypoints.http.problems import Problem, as_problem, responses
from upcard_gateway.settings import GatewaySettings

__all__ = [
    "Caller",
    "Edge",
    "OnEdge",
    "Problem",
    "Signed",
    "answered_once",
    "as_problem",
    "bound",
    "bound_to",
    "canonical",
    "derived_request_id",
    "edge_of",
    "json_answer",
    "kept",
    "origin_of",
    "platform",
    "responses",
]


_SHARE: Final = 4
_SHARE_OF_REPORTS: Final = 64


@dataclass(frozen=True, slots=True)
class Caller:
    """Who signed this request."""

    operator: str
    key_id: str
    environment: Literal["sandbox", "live"]
    wallet: Literal["transfer", "seamless"]
    terms: Terms
    """Its currencies with limits, where its webhooks go, and so on."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What routers stand on: `app.state.edge`, made once at the start."""

    pool: Pool
    store: PostgresEventStore
    services: Services
    operators: Operators
    settings: GatewaySettings
    now: Callable[[], dt.datetime]
    """The wall clock, in UTC."""
    guard: Guard
    """What lets platforms in."""
    dealer_names: DealerNames = field(init=False)
    """What players call the dealers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dealer_names", DealerNames(self.settings.dealer_names))


def edge_of(request: Request) -> Edge:
    """What the routers of this app stand on; a dependency of FastAPI's."""
    edge: Edge = request.app.state.edge
    return edge


def origin_of(request: Request) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Where a call comes from, behind proxies that are trusted; None where that cannot be told."""
    proxies = [ipaddress.ip_network(one) for one in edge_of(request).settings.trusted_proxies]
    peer = request.client.host if request.client is not None else ""
    return client_address(peer, request.headers.getlist("x-forwarded-for"), proxies)


async def platform(request: Request) -> Caller:
    """Who signed this request; a dependency of FastAPI's.

    Raises Problem: the call is not signed, by a key that is not in force, at another time, for other bytes,
    twice, from elsewhere, or too often.
    """
    edge = edge_of(request)
    let_in = await edge.guard.let_in(request, await request.body(), edge.now())
    operator = let_in.operator
    _count(request, operator.operator)
    return Caller(operator.operator, let_in.key_id, operator.environment, operator.wallet, operator.terms)


def _count(request: Request, operator: str) -> None:
    """Nobody takes what all need: an operator has a part of all calls, and a smaller one of reports."""
    admission: Admission = request.scope[ADMISSION]
    admission.begin(request.scope, operator, _SHARE)
    route = str(getattr(request.scope.get("route"), "path", ""))
    if route.startswith("/v1/reports") or route.endswith(".csv"):
        admission.begin(request.scope, f"{operator}/reports", _SHARE_OF_REPORTS)


OnEdge = Annotated[Edge, Depends(edge_of)]
"""A parameter of a route: the edge."""
Signed = Annotated[Caller, Depends(platform)]
"""A parameter of a route: it has to be signed, and by whom it was."""
