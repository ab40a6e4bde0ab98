"""Rounds of a platform's players: lists, recall with cards and choices, what happened, links for players."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from dataclasses import replace
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Path, Query, Response

from upcard_gateway.adapters import history_money, history_rounds
from upcard_gateway.adapters.history_rounds import CursorWrong, NotTheirs, Unreadable
from upcard_gateway.app.people import Player
from upcard_gateway.app.rounds import Played, without_others
from upcard_gateway.entrypoints.http.edge import Caller, Edge, OnEdge, Problem, Signed, json_answer, responses
from upcard_gateway.entrypoints.http.players import OfPlayer, people_on, player_of
from upcard_gateway.entrypoints.http.reading_lists import (
    EARLIEST,
    LATEST,
    After,
    Limit,
    OfWindow,
    cursor_of,
    no_such_cursor,
    token_of,
)
from upcard_gateway.entrypoints.http.round_answers import detail_shown, event_shown, history_url, round_shown
from upcard_platform.models import rounds as models

router = APIRouter(tags=["rounds"])

MOST_PLAYERS: Final = 200
"""Most players of one round that are told of at once."""
_AT_ONCE: Final = 8
_is_number: Final = re.compile("[0-9]{1,7}").fullmatch

T = TypeVar("T")

OfRound = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9_-]{1,64}\.[1-9][0-9]{0,15}$", description="the round's name, <table>.<number>"
    ),
]


@router.get(
    "/v1/players/{player}/rounds",
    response_model=models.PlayerRoundList,
    responses=responses("player_unknown", "cursor_invalid", "period_invalid"),
)
async def rounds_of(
    player: OfPlayer,
    caller: Signed,
    edge: OnEdge,
    window: OfWindow,
    currency: Annotated[str, Query(pattern=r"^([A-Z]{3})?$", description="in this currency alone")] = "",
) -> Response:
    """A player's rounds, the newest first; the period is that in which they were opened."""
    known = await player_of(edge, caller, player)
    try:
        found, following = await history_rounds.player_rounds(edge.services, known.id, currency, window)
    except CursorWrong:
        raise no_such_cursor() from None
    items = [round_shown(edge, one, player) for one in found]
    return json_answer(models.PlayerRoundList(items=items, next=cursor_of(following)))


@router.get(
    "/v1/players/{player}/rounds/{round_name}",
    response_model=models.RoundDetail,
    responses=responses("player_unknown", "round_unknown", "round_unreadable"),
)
async def round_of(player: OfPlayer, round_name: OfRound, caller: Signed, edge: OnEdge) -> Response:
    """A round as the player may see it: cards, choices, why each wager ended as it did.

    While the round is open it shows what everybody sees.
    """
    known = await player_of(edge, caller, player)
    detail = await _theirs(history_rounds.round_detail(edge.services, known.id, round_name))
    return json_answer(detail_shown(edge, detail, player))


@router.get(
    "/v1/players/{player}/rounds/{round_name}/events",
    response_model=models.RoundEventList,
    responses=responses("player_unknown", "round_unknown", "round_unreadable", "cursor_invalid"),
)
async def events_of(
    player: OfPlayer,
    round_name: OfRound,
    caller: Signed,
    edge: OnEdge,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """What happened in a round, in the order in which the player was shown it, without other players."""
    skip = _skipped(token_of(after))
    known = await player_of(edge, caller, player)
    found, more = await _theirs(history_rounds.round_events(edge.services, known.id, round_name, skip, limit))
    shown = [
        event_shown(replace(one, data=data))
        for one in found
        if (data := without_others(one.data, known.id, player)) is not None
    ]
    following = cursor_of(str(skip + len(found)) if more else "")
    return json_answer(models.RoundEventList(items=shown, next=following))


@router.get(
    "/v1/players/{player}/rounds/{round_name}/link",
    response_model=models.RoundLink,
    responses=responses("player_unknown", "round_unknown", "round_unreadable", "links_unavailable"),
)
async def link_of(player: OfPlayer, round_name: OfRound, caller: Signed, edge: OnEdge) -> Response:
    """An address that shows the round to its player, without signing in, for ever."""
    known = await player_of(edge, caller, player)
    await _theirs(history_rounds.round_part(edge.services, known.id, round_name))
    url = history_url(edge, known.id, round_name)
    if url is None:
        raise Problem("links_unavailable", "no key signs links to rounds here")
    return json_answer(models.RoundLink(round=round_name, player=player, history_url=url))


@router.get(
    "/v1/rounds/{round_name}",
    response_model=models.RoundOfPlayers,
    responses=responses("round_unknown", "round_unreadable"),
)
async def round_of_players(round_name: OfRound, caller: Signed, edge: OnEdge) -> Response:
    """A round with the parts of the platform's own players, by the first 200; erased players are left out."""
    players, more = await _players_in(edge, caller, round_name)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def part(player: Player) -> Played | None:
        async with turns:
            try:
                return await history_rounds.round_part(edge.services, player.id, round_name)
            except NotTheirs:
                # Their bets were taken back or declined, or the history has not heard of them yet.
                return None
            except Unreadable:
                raise _unreadable() from None

    found = await asyncio.gather(*(part(one) for one in players))
    items = [
        round_shown(edge, played, one.partner_id)
        for one, played in zip(players, found, strict=True)
        if played is not None
    ]
    if not items:
        raise _unknown()
    return json_answer(models.RoundOfPlayers(round=round_name, items=items, more=more))


async def _players_in(edge: Edge, caller: Caller, round_name: str) -> tuple[list[Player], bool]:
    """The caller's players whose money moved in a round, up to a bound, and whether there are more."""
    seen: dict[str, None] = {}
    token = ""
    while True:
        lines, token = await history_money.transactions(
            edge.services, caller.operator, EARLIEST, LATEST, token, history_money.LARGEST_PAGE, round_name
        )
        seen |= dict.fromkeys(line.player for line in lines)
        if not token or len(seen) > MOST_PLAYERS:
            break
    some = list(seen)[:MOST_PLAYERS]
    known = await people_on(edge).known(some)
    players = [known[one] for one in some if one in known and known[one].operator == caller.operator]
    return players, len(seen) > MOST_PLAYERS


async def _theirs(asked: Awaitable[T]) -> T:
    """What is asked of a player's round. Raises Problem."""
    try:
        return await asked
    except NotTheirs:
        raise _unknown() from None
    except Unreadable:
        raise _unreadable() from None


def _skipped(token: str) -> int:
    """How many events came before a page. Raises Problem."""
    if not token:
        return 0
    if not _is_number(token):
        raise no_such_cursor()
    return int(token)


def _unknown() -> Problem:
    return Problem("round_unknown", "no bet of the player's stands in a round of this name")


def _unreadable() -> Problem:
    return Problem("round_unreadable", "the rules of this round are not known here any more")
