"""Tables, boards, rules, jackpots."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from servicekit.lifecycle import Service
from upcard_gateway.adapters.lobby import GrpcLobbySources
from upcard_gateway.app.boards import limits_board, payouts_board
from upcard_gateway.app.boards_page import CONTENT_SECURITY_POLICY, rules_page
from upcard_gateway.app.boards_rules import rules_of
from upcard_gateway.app.boards_text import RulesText, in_words
from upcard_gateway.app.lobby import House, Lobby, TableShown, Visitor, Wanted
from upcard_gateway.app.lobby_keeping import NotKnown
from upcard_gateway.app.lobby_tables import TableNow
from upcard_gateway.domain.operators import CurrencyLimits
from upcard_gateway.entrypoints.dealer_names import DealersRead
from upcard_gateway.entrypoints.http import lobby_free_bets
from upcard_gateway.entrypoints.http.edge import (
    Caller,
    Edge,
    OnEdge,
    Problem,
    Signed,
    edge_of,
    json_answer,
    responses,
)
from upcard_gateway.entrypoints.http.lobby_pages import After, Limit, after_of, cursor
from upcard_gateway.settings import GatewaySettings
from upcard_platform.models import lobby as models
from upcard_platform.models.fields import Currency, Language, OpaqueId

router = APIRouter(tags=["lobby"])
router.include_router(lobby_free_bets.router)

_TABLES: Final = "tables"
_JACKPOTS: Final = "jackpots"

OfTable = Annotated[OpaqueId, Path(description="the table's id")]


def lobby_of(request: Request) -> Lobby:
    """The lobby of this app, made when it is asked for first."""
    state = request.app.state
    if not hasattr(state, "lobby"):
        state.lobby = _lobby(edge_of(request))
    lobby: Lobby = state.lobby
    return lobby


@router.get("/v1/tables", response_model=models.TablePage, responses=responses("cursor_invalid"))
async def tables(  # noqa: PLR0913 - a parameter of the query each
    request: Request,
    caller: Signed,
    edge: OnEdge,
    *,
    limit: Limit = 50,
    after: After = None,
    closed: Annotated[bool, Query(description="whether closed tables are wanted too")] = False,
    currency: Annotated[Currency | None, Query(description="tables that take it")] = None,
    ruleset: Annotated[
        str | None, Query(max_length=100, description="tables that are played by it: name@version")
    ] = None,
    language: Annotated[Language | None, Query(description="tables where it is spoken")] = None,
) -> Response:
    """Tables by id, with how they stand now: what a lobby shows."""
    wanted = Wanted(after_of(_TABLES, after), limit, closed, currency, ruleset, language)
    try:
        page = await lobby_of(request).page(_visitor(caller, edge), wanted)
    except NotKnown:
        raise _away() from None
    items = [_table(one, caller) for one in page.tables]
    return json_answer(
        models.TablePage(
            as_of=_as_of(edge, page.age_s),
            stale=page.stale,
            items=items,
            next=cursor(_TABLES, items[-1].table) if page.more else None,
        )
    )


@router.get("/v1/tables/{table}", response_model=models.TableAnswer, responses=responses("table_unknown"))
async def one_table(table: OfTable, request: Request, caller: Signed, edge: OnEdge) -> Response:
    """A table, open or closed, with how it stands now."""
    try:
        page = await lobby_of(request).table(_visitor(caller, edge), table)
    except NotKnown:
        raise _away() from None
    if page is None:
        raise _no_such_table()
    item = _table(page.tables[0], caller)
    return json_answer(models.TableAnswer(as_of=_as_of(edge, page.age_s), stale=page.stale, item=item))


@router.get(
    "/v1/tables/{table}/limits", response_model=models.LimitsBoard, responses=responses("table_unknown")
)
async def limits(table: OfTable, request: Request, caller: Signed, edge: OnEdge) -> Response:
    """The limits board of a table: what the next round is opened with."""
    found = await _settings_of(request, caller, edge, table)
    board = limits_board(found, _currencies(caller))
    return json_answer(models.LimitsBoard.model_validate(board))


@router.get(
    "/v1/tables/{table}/payouts", response_model=models.PayoutsBoard, responses=responses("table_unknown")
)
async def payouts(table: OfTable, request: Request, caller: Signed, edge: OnEdge) -> Response:
    """The pay-outs board of a table: combinations, pairs of them, bonuses."""
    found = await _settings_of(request, caller, edge, table)
    # The first of its kind asks the rules for all hands.
    board = await asyncio.to_thread(payouts_board, found)
    return json_answer(models.PayoutsBoard.model_validate(board))


@router.get(
    "/v1/tables/{table}/rules",
    response_model=models.RulesPage,
    responses=responses("table_unknown")
    | {200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "the rules"}},
)
async def rules(
    table: OfTable,
    request: Request,
    caller: Signed,
    edge: OnEdge,
    form: Annotated[
        Literal["json", "html"], Query(alias="format", description="a page or its parts")
    ] = "json",
) -> Response:
    """The rules of a table in words, made of its ruleset and its settings: to be shown to players."""
    found = await _settings_of(request, caller, edge, table)
    text = await asyncio.to_thread(_rules, found, caller)
    if form == "json":
        return json_answer(models.RulesPage.model_validate(text))
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "X-Content-Type-Options": "nosniff"}
    return Response(rules_page(text), media_type="text/html", headers=headers)


@router.get("/v1/jackpots", response_model=models.JackpotPage, responses=responses("cursor_invalid"))
async def jackpots(
    request: Request, caller: Signed, edge: OnEdge, limit: Limit = 50, after: After = None
) -> Response:
    """Progressive jackpots that can be played for at the caller's tables, with what is in them."""
    behind = after_of(_JACKPOTS, after)
    try:
        known = await lobby_of(request).jackpots(_visitor(caller, edge))
    except NotKnown:
        raise _away() from None
    found = [one for one in known.value if one.jackpot > behind][: limit + 1]
    return json_answer(
        models.JackpotPage(
            as_of=_as_of(edge, known.age_s),
            stale=known.stale,
            items=[models.Jackpot.model_validate(one) for one in found[:limit]],
            next=cursor(_JACKPOTS, found[limit - 1].jackpot) if len(found) > limit else None,
        )
    )


async def start(service: Service[GatewaySettings], edge: Edge) -> None:
    """Begin to read what dealers are called."""
    await service.run("dealers' names", DealersRead(edge).run)


def _lobby(edge: Edge) -> Lobby:
    settings = edge.settings
    return Lobby(
        GrpcLobbySources(edge.services, results=settings.lobby_results),
        House(settings.languages, settings.table_languages, edge.dealer_names),
        fresh_s=settings.lobby_fresh_s,
        stale_max_s=settings.lobby_stale_max_s,
    )


def _visitor(caller: Caller, edge: Edge) -> Visitor:
    return Visitor(caller.environment, frozenset(_currencies(caller)), edge.settings.sandbox_tables)


async def _settings_of(request: Request, caller: Caller, edge: Edge, table: str) -> TableNow:
    try:
        found = await lobby_of(request).settings_of(_visitor(caller, edge), table)
    except NotKnown:
        raise _away() from None
    if found is None:
        raise _no_such_table()
    return found


def _currencies(caller: Caller) -> dict[str, CurrencyLimits]:
    return {one.currency: one for one in caller.terms.currencies}


def _rules(table: TableNow, caller: Caller) -> RulesText:
    return in_words(rules_of(table, limits_board(table, _currencies(caller)), payouts_board(table)))


def _table(shown: TableShown, caller: Caller) -> models.LobbyTable:
    now = shown.now
    own = _currencies(caller)
    return models.LobbyTable(
        table=now.table,
        name=now.name,
        ruleset=now.ruleset.id,
        title=now.ruleset.title,
        kind=now.ruleset.table,
        boxes=now.ruleset.boxes,
        state=now.phase,
        step=now.step or None,
        round=now.round,
        manual_mode=now.manual_mode,
        languages=list(shown.languages),
        dealer=None if now.dealer is None else models.Dealer(id=now.dealer, name=shown.dealer_name),
        limits=[models.TableAntes.model_validate(one) for one in now.limits if one.currency in own],
        jackpot=now.jackpot,
        seats=None if shown.seats is None else models.Seats.model_validate(shown.seats),
        last_results=(
            None
            if shown.results is None
            else [models.RoundResult.model_validate(one) for one in shown.results]
        ),
    )


def _as_of(edge: Edge, age_s: float) -> dt.datetime:
    return edge.now() - dt.timedelta(seconds=age_s)


def _away() -> Problem:
    detail = "what the lobby is made of does not answer now; ask again"
    return Problem("unavailable", detail, money="none_moved")


def _no_such_table() -> Problem:
    return Problem("table_unknown", "you have no table of this id")
