"""Pages: one box that finds rounds, tables, players and other ids; rounds and players."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import Any, Final
from urllib.parse import quote

import grpc
import grpc.aio
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from servicekit.grpc import failure_of
from upcard_gateway.adapters import floor_rounds as rounds
from upcard_gateway.adapters.floor_rounds import RoundShown, WalletLine
from upcard_gateway.adapters.postgres import floor_corrections
from upcard_gateway.adapters.postgres.floor_finding import Found, found_by_id, operators_of, player_known
from upcard_gateway.adapters.postgres.significant import Wanted, listed
from upcard_gateway.app.floor_tables import boxes_of
from upcard_gateway.app.significant import is_round_name, is_table_name
from upcard_gateway.entrypoints.http.edge import Edge, edge_of
from upcard_gateway.entrypoints.pages.floor import shown_event
from upcard_gateway.entrypoints.pages.floor_shown import (
    Looking,
    checked_round,
    clock,
    flooring_of,
    money,
    names_of,
)
from upcard_gateway.entrypoints.pages.frame import Member, PageProblem, page

router = APIRouter(include_in_schema=False)

_SEE_OTHER: Final = 303
_LONGEST: Final = 128
_PAGE: Final = 300
_MOST_OPERATORS: Final = 10
_MOST_SKIPPED: Final = 1_000_000
_ROUNDS: Final = 25
_LINES: Final = 200
_DAYS: Final = {"1": 1, "7": 7, "30": 30}
_ADDRESSES: Final = {
    "table": "/staff/floor/tables/{id}",
    "round": "/staff/rounds/{id}",
    "player": "/staff/players/{id}",
    "partner_player": "/staff/players/{id}",
    "session": "/staff/players/{beside}",
    "account": "/staff/players/{beside}?account={id}",
    "significant": "/staff/significant?kind={beside}",
    "staff": "/staff/significant?staff={id}",
    "correction": "/staff/floor/corrections",
}
"""Where each kind of thing is shown; others have no page."""


@router.get("/staff/find")
async def find(request: Request, member: Looking) -> Response:
    """The box, and what is called as it says."""
    asked = request.query_params.get("q", "").strip()[:_LONGEST]
    found = await _found(request, member, asked) if asked else []
    shown = [(one, _address(one)) for one in found]
    if len(shown) == 1 and shown[0][1]:
        return RedirectResponse(shown[0][1], _SEE_OTHER)
    status = 404 if asked and not found else 200
    return page(request, member, "floor/find.html", status=status, asked=asked, found=shown)


@router.get("/staff/rounds/{name}")
async def one_round(request: Request, member: Looking, name: str) -> Response:
    """A round: cards, results, explanation, every event, what each wallet call answered."""
    edge, actor = edge_of(request), member.actor()
    shown = await rounds.shown_round(edge.services, actor, checked_round(name))
    if shown is None:
        raise PageProblem(404, "floor.round_unknown", round=name)
    skip = _number(request.query_params.get("skip", "0"))
    happened, more = await rounds.timeline(edge.services, actor, name, skip, _PAGE)
    players = sorted(
        {one.payload["player"] for one in happened if isinstance(one.payload.get("player"), str)}
    )
    currencies = sorted({total[0] for total in shown.totals})
    explained: tuple[tuple[str, ...], list[rounds.Part]] = ((), [])
    if shown.state == "settled":
        explained = await rounds.explained(edge.services, actor, name, currencies)
    wallet = await _wallet(edge, member, shown, players)
    async with edge.pool.acquire() as connection:
        significant = await listed(connection, Wanted(round=name), None, 20)
        corrections = await floor_corrections.listed(connection, name, 20)
    names = await names_of(request, [*shown.dealers, *(one.actor for one in happened)])
    settled = [one.payload for one in happened if one.type == "PlayerSettled"]
    return page(
        request,
        member,
        "floor/round.html",
        shown=shown,
        boxes=boxes_of(shown.view),
        happened=[
            {**shown_event(one, names, request.app.state.pages.english), "json": _pretty(one.payload)}
            for one in happened
        ],
        skip=skip,
        older=max(0, skip - _PAGE) if skip else None,
        newer=skip + _PAGE if more else None,
        explained=explained,
        settled=settled,
        wallet=wallet,
        significant=significant,
        corrections=corrections,
        names=names,
        money=money,
        clock=clock,
        may_correct=shown.state == "settled"
        and member.has("shift_manager", "operations", "support", "admin"),
        may_cancel=shown.state == "open" and member.has("shift_manager", "operations", "admin"),
    )


@router.get("/staff/players/{player}")
async def one_player(request: Request, member: Looking, player: str) -> Response:
    """A player: accounts, rounds, what happened to the money, sessions."""
    if not is_table_name(player):
        raise PageProblem(404, "frame.not_found")
    edge, actor = edge_of(request), member.actor()
    days = _DAYS.get(request.query_params.get("days", ""), 1)
    async with edge.pool.acquire() as connection:
        known = await player_known(connection, player)
        significant = await listed(connection, Wanted(player=player), None, 20)
    accounts, (played, older) = await asyncio.gather(
        rounds.player_accounts(edge.services, actor, player),
        rounds.player_rounds(edge.services, actor, player, request.query_params.get("after", ""), _ROUNDS),
    )
    if known is None and not accounts and not played:
        raise PageProblem(404, "floor.player_unknown", player=player)
    chosen = request.query_params.get("account", accounts[0].account if accounts else "")
    statement = None
    if chosen in {one.account for one in accounts}:
        until = edge.now() + dt.timedelta(seconds=5)
        since = until - dt.timedelta(days=days)
        statement = await rounds.account_lines(edge.services, actor, chosen, since, until, _LINES)
    return page(
        request,
        member,
        "floor/player.html",
        player=player,
        known=known,
        accounts=accounts,
        chosen=chosen,
        statement=statement,
        days=days,
        all_days=tuple(_DAYS.values()),
        most=_LINES,
        rounds=played,
        older=older,
        significant=significant,
        names=await names_of(request, [one.actor for one in significant]),
        money=money,
        clock=clock,
    )


async def _found(request: Request, member: Member, asked: str) -> list[Found]:
    """Everything that is called so: the gateway's own tables first, then what the services know."""
    edge, actor = edge_of(request), member.actor()
    found: list[Found] = []
    if is_round_name(asked):
        if await rounds.shown_round(edge.services, actor, asked) is not None:
            found.append(Found("round", asked, ""))
        return found
    if is_table_name(asked) and await flooring_of(request).row(asked) is not None:
        found.append(Found("table", asked, ""))
    async with edge.pool.acquire() as connection:
        found += await found_by_id(connection, asked)
    if is_table_name(asked) and not any(one.kind == "player" for one in found):
        accounts = await rounds.player_accounts(edge.services, actor, asked)
        found += [Found("player", asked, one.operator) for one in accounts[:1]]
    return found


async def _wallet(
    edge: Edge, member: Member, shown: RoundShown, players: list[str]
) -> tuple[list[WalletLine], str]:
    """What the round did to players' money, and the key of what is to be said beside it."""
    async with edge.pool.acquire() as connection:
        operators = await operators_of(connection, players)
    until = edge.now() if shown.ended_at is None else max(shown.ended_at, edge.now())
    lines: list[WalletLine] = []
    said = "" if operators else "floor.wallet.nobody"
    for operator in operators[:_MOST_OPERATORS]:
        try:
            some, more = await rounds.wallet_lines(
                edge.services, member.actor(), operator, shown.round, shown.opened_at, until
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.PERMISSION_DENIED:
                return lines, "floor.wallet.role_missing"
            if not failure_of(error).may_pass:
                raise
            return lines, "floor.wallet.away"
        lines += some
        said = "floor.wallet.more" if more else said
    if len(operators) > _MOST_OPERATORS:
        said = "floor.wallet.more"
    return sorted(lines, key=lambda one: (one.at, one.transaction)), said


def _address(one: Found) -> str:
    template = _ADDRESSES.get(one.kind, "")
    return template.format(id=quote(one.id, safe=""), beside=quote(one.beside, safe=""))


def _number(text: str) -> int:
    return min(int(text), _MOST_SKIPPED) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _pretty(payload: Any) -> str:  # noqa: ANN401 - plain JSON
    return json.dumps(payload, indent=2, ensure_ascii=False)
