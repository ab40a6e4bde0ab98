"""Free bets of a platform's players."""

from __future__ import annotations

from typing import Annotated, Final

import grpc.aio
from fastapi import APIRouter, Path, Response
from pydantic import TypeAdapter

from upcard_gateway.adapters.lobby_free_bets import GrpcFreeBets
from upcard_gateway.app.lobby_free_bets import FreeBet, NotGranted, WantedFreeBet
from upcard_gateway.entrypoints.http.edge import (
    Caller,
    Edge,
    OnEdge,
    Problem,
    Signed,
    as_problem,
    bound,
    canonical,
    derived_request_id,
    json_answer,
    kept,
    responses,
)
from upcard_gateway.entrypoints.http.lobby_pages import After, Limit, after_of, cursor
from upcard_gateway.entrypoints.http.players import OfPlayer, people_on, player_of
from upcard_platform.models import lobby as models
from upcard_platform.models.fields import OpaqueId

router = APIRouter(tags=["free bets"])

GRANT: Final = "POST /v1/players/{player}/free-bets"
REVOKE: Final = "POST /v1/players/{player}/free-bets/{free_bet}/revoke"
_LIST: Final = "free-bets"
_ONCE: Final = ("request_id_reused", "request_under_way")
_STORED: Final = TypeAdapter(FreeBet)
"""As answers are stored: with our id of the player, since the platform's is in the erasable table alone."""

OfFreeBet = Annotated[OpaqueId, Path(description="the free bet's id")]


@router.get(
    "/v1/players/{player}/free-bets",
    response_model=models.FreeBetPage,
    responses=responses("player_unknown", "cursor_invalid"),
)
async def free_bets(
    player: OfPlayer, caller: Signed, edge: OnEdge, limit: Limit = 50, after: After = None
) -> Response:
    """A player's free bets by id, those that are spent and lapsed too."""
    known = await player_of(edge, caller, player)
    try:
        found = await _free_bets_on(edge).page(known.id, after=after_of(_LIST, after), limit=limit + 1)
    except grpc.aio.AioRpcError as error:
        raise as_problem(error, money="none_moved") from error
    items = [_shown(one, player) for one in found[:limit]]
    following = cursor(_LIST, items[-1].free_bet) if len(found) > limit else None
    return json_answer(models.FreeBetPage(items=items, next=following))


@router.post(
    "/v1/players/{player}/free-bets",
    response_model=models.FreeBet,
    responses=responses("player_unknown", "account_unknown", "free_bet_refused", *_ONCE),
)
async def grant(player: OfPlayer, body: models.GrantFreeBet, caller: Signed, edge: OnEdge) -> Response:
    """Grant a player a free bet, in a currency in which the player has an account.

    The free bet's id follows from the `request_id`, and the bonus service knows it for ever: the same call
    after a process died finds what was granted.
    """
    same = canonical(body, player=player)
    stored = await bound(edge, caller, GRANT, body.request_id, same)
    if stored is None:
        known = await player_of(edge, caller, player)
        if await people_on(edge).account_of(known.id, body.currency) is None:
            raise Problem("account_unknown", f"the player has no account in {body.currency}")
        wanted = WantedFreeBet(
            request_id=derived_request_id(caller, GRANT, body.request_id),
            free_bet=derived_request_id(caller, GRANT, body.request_id, "free bet"),
            player=known.id,
            currency=body.currency,
            amount=body.amount,
            wagers=tuple(body.wagers),
            expires_at=body.expires_at,
        )
        done = _done(await _free_bets_on(edge).grant(wanted), body.request_id)
        stored = await kept(edge, caller, GRANT, body.request_id, same, _STORED.dump_json(done))
    return json_answer(_shown(_STORED.validate_json(stored), player))


@router.post(
    "/v1/players/{player}/free-bets/{free_bet}/revoke",
    response_model=models.FreeBet,
    responses=responses("player_unknown", "free_bet_unknown", *_ONCE),
)
async def revoke(
    player: OfPlayer, free_bet: OfFreeBet, body: models.RevokeFreeBet, caller: Signed, edge: OnEdge
) -> Response:
    """Take back what is left of a free bet. What is staked of it goes when it comes back."""
    same = canonical(body, player=player, free_bet=free_bet)
    stored = await bound(edge, caller, REVOKE, body.request_id, same)
    if stored is None:
        done = await _revoked(edge, caller, player, free_bet, body.request_id)
        stored = await kept(edge, caller, REVOKE, body.request_id, same, _STORED.dump_json(done))
    return json_answer(_shown(_STORED.validate_json(stored), player))


async def _revoked(edge: Edge, caller: Caller, player: str, free_bet: str, request_id: str) -> FreeBet:
    known = await player_of(edge, caller, player)
    bets = _free_bets_on(edge)
    if await bets.find(known.id, free_bet) is None:
        raise Problem("free_bet_unknown", "the player has no free bet of this id", request_id=request_id)
    return _done(await bets.revoke(derived_request_id(caller, REVOKE, request_id), free_bet), request_id)


def _free_bets_on(edge: Edge) -> GrpcFreeBets:
    return GrpcFreeBets(edge.services.bonus)


def _done(answer: FreeBet | NotGranted, request_id: str) -> FreeBet:
    if isinstance(answer, NotGranted):
        raise Problem("free_bet_refused", answer.why, request_id=request_id, reason=answer.reason)
    return answer


def _shown(free_bet: FreeBet, player: str) -> models.FreeBet:
    return models.FreeBet(
        free_bet=free_bet.free_bet,
        player=player,
        currency=free_bet.currency,
        amount=free_bet.amount,
        wagers=list(free_bet.wagers),
        expires_at=free_bet.expires_at,
        left=free_bet.left,
        used=free_bet.used,
        state=free_bet.state,
    )
