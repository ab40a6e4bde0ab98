"""The players' page: what it is made of, and the rules of a table for whoever looks at one.

The page holds nothing of a player: who somebody is, is told over the connection that it opens (docs/play.md).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request, Response

from rules_core.rulesets.shipped import shipped, shipped_ids
from upcard_gateway.app.boards import limits_board, payouts_board
from upcard_gateway.app.boards_rules import rules_of
from upcard_gateway.app.boards_text import RulesText, in_words
from upcard_gateway.app.lobby import Visitor, sees
from upcard_gateway.app.lobby_keeping import NotKnown
from upcard_gateway.app.lobby_tables import TableNow
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.domain.operators import CurrencyLimits, Environment
from upcard_gateway.entrypoints.http.edge import OnEdge, Problem, json_answer, origin_of
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.http.lobby import lobby_of
from upcard_gateway.entrypoints.pages.frame import Pages, page
from upcard_platform.models import lobby as models
from upcard_platform.models.fields import Currency, OpaqueId
from upcard_seamless.currencies import unusual_digits

router = APIRouter(include_in_schema=False)

_PER_S: Final = 10.0
_BURST: Final = 100
"""Pages and rules a second behind one address, and at once: nobody signs in for them."""

OfTable = Annotated[OpaqueId, Path(description="the table's id")]


@router.get("/play")
async def play(
    request: Request, table: Annotated[OpaqueId | None, Query(description="the table to go to")] = None
) -> Response:
    """The page that players play on. A launch token stands behind # of its address, and never comes here."""
    _admitted(request)
    pages: Pages = request.app.state.pages
    return page(
        request,
        None,
        "play/play.html",
        words=pages.english.part("play"),
        digits=unusual_digits(),
        rulesets=_rulesets(),
        table=table or "",
    )


@router.get("/play/tables/{table}/rules")
async def rules(
    table: OfTable,
    request: Request,
    edge: OnEdge,
    currency: Annotated[Currency | None, Query(description="whose limits are wanted; absent: all")] = None,
) -> Response:
    """The rules of a table in words, with its limits and pay-outs, as `RulesPage`."""
    _admitted(request)
    environment: Environment = "sandbox" if table in edge.settings.sandbox_tables else "live"
    visitor = _Onlooker(environment, frozenset(), edge.settings.sandbox_tables)
    try:
        found = await lobby_of(request).settings_of(visitor, table)
    except NotKnown:
        detail = "what the rules are made of does not answer now; ask again"
        raise Problem("unavailable", detail, money="none_moved") from None
    if found is None:
        raise Problem("table_unknown", "there is no table of this id")
    text = await asyncio.to_thread(_rules, found, currency)
    return json_answer(models.RulesPage.model_validate(text))


@dataclass(frozen=True, slots=True)
class _Onlooker(Visitor):
    """Whoever looks at a table: its rules are no secret in any currency."""

    def sees(self, table: TableNow) -> bool:
        return sees(self.environment, self.sandbox_tables, table.table)


def _rules(table: TableNow, currency: str | None) -> RulesText:
    """Slow the first time: not for the event loop."""
    allowed = None if currency is None else {currency: CurrencyLimits(currency)}
    return in_words(rules_of(table, limits_board(table, allowed), payouts_board(table)))


@cache
def _rulesets() -> dict[str, dict[str, object]]:
    """What the page has to know of each ruleset before a round was opened."""
    found = map(shipped, shipped_ids())
    return {one.id: {"boxes": one.boxes, "shared": one.shared, "kinds": list(one.box_kinds)} for one in found}


def _admitted(request: Request) -> None:
    """Raise Problem for an address that asks too much."""
    state = request.app.state
    if not hasattr(state, "play_rates"):
        state.play_rates = RateLimit(time.monotonic)
    wait_s = state.play_rates.take(bucket_of(origin_of(request)), _PER_S, _BURST)
    if wait_s:
        detail = "too many pages are opened from this address"
        raise Problem("rate_limited", detail, retry_after_s=round(wait_s, 3))
