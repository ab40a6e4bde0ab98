"""Forgetting a person: the link to the platform's id goes, and every event stays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

import grpc.aio
from fastapi import APIRouter, Response

from eventstore import StreamAppend
from eventstore.postgres import Connection, append_in_transaction
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.app.people import Player
from upcard_gateway.entrypoints.http.edge import (
    Caller,
    Edge,
    OnEdge,
    Problem,
    Signed,
    answered_once,
    as_problem,
    bound,
    canonical,
    json_answer,
    responses,
)
from upcard_gateway.entrypoints.http.players import (
    OfPlayer,
    cashier_on,
    no_such_player,
    people_on,
    player_of,
    sessions_on,
)
from upcard_platform.models import sessions as models
from upcard_platform.models.fields import moment_text

router = APIRouter()

ERASE: Final = "POST /v1/players/{player}/erase"


@router.post(
    "/v1/players/{player}/erase",
    response_model=models.ErasedPlayer,
    responses=responses("player_unknown", "player_has_money", "request_id_reused", "request_under_way"),
)
async def erase(player: OfPlayer, body: models.ErasePlayer, caller: Signed, edge: OnEdge) -> Response:
    """Forget who a player was. The live session ends; with money or an open round nothing is erased."""
    same = canonical(body, player=player)
    stored = await bound(edge, caller, ERASE, body.request_id, same)
    if stored is None:
        known = await player_of(edge, caller, player)
        await _leave(edge, known)
        await _check_money(edge, caller, known)
        work = partial(_erase, edge, known)
        stored = await answered_once(edge, caller, ERASE, body.request_id, same, work)
    return json_answer(models.ErasedPlayer.model_validate_json(stored))


async def _leave(edge: Edge, player: Player) -> None:
    """End the live session, so that no new bet comes while the money is looked at."""
    async with edge.pool.acquire() as connection, connection.transaction():
        _, appends = await sessions_on(edge.settings).end_live(
            connection, player.id, edge.now(), "player_erased"
        )
        appended = await append_in_transaction(connection, appends) if appends else ()
    if appended:
        edge.store.announce(appended)


async def _check_money(edge: Edge, caller: Caller, player: Player) -> None:
    """Raise Problem while the player has something, or something is held."""
    cashier = cashier_on(edge)
    for account in await people_on(edge).accounts_of(player.id):
        try:
            balance = await cashier.balance(account.account)
        except grpc.aio.AioRpcError as error:
            raise as_problem(error, money="none_moved") from error
        # Of a seamless account the cash is the operator's own business.
        cash = balance.cash if caller.wallet == "transfer" else 0
        if cash or balance.held:
            detail = f"{account.currency}: {cash} can be withdrawn, {balance.held} are held, in minor units"
            raise Problem("player_has_money", detail, currency=account.currency, cash=cash, held=balance.held)


async def _erase(edge: Edge, player: Player, connection: Connection) -> tuple[bytes, Sequence[StreamAppend]]:
    now = edge.now()
    appends = await sessions_on(edge.settings).erased(connection, player.id, player.operator, now)
    if not await PeopleTables.erase(connection, player.operator, player.id):
        raise no_such_player()
    return json.dumps({"player_ref": player.id, "erased_at": moment_text(now)}).encode(), appends
