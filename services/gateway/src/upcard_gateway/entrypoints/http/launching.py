"""Redeeming launch tokens: the one call of the players' pages that needs no signature."""

from __future__ import annotations

import time
from typing import Final

from fastapi import APIRouter, Depends, Request, Response

from upcard_gateway.app.sessions import SessionUnknown
from upcard_gateway.domain.addresses import bucket_of
from upcard_gateway.entrypoints.http.edge import OnEdge, Problem, json_answer, origin_of, responses
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.http.players import player_sessions_on
from upcard_platform.models import sessions as models

router = APIRouter()

_PER_S: Final = 5.0
_BURST: Final = 100
"""Pages behind one address may open so many sessions a second, and so many at once."""

# Nobody signs it, so nothing of a signature can be wrong.
_RESPONSES: Final = {
    status: told for status, told in responses("launch_token_invalid").items() if status != 401
}


async def _admitted(request: Request) -> None:
    """Raise Problem for an address that redeems too much; guessing a token is hopeless at any rate."""
    state = request.app.state
    if not hasattr(state, "launch_rates"):
        state.launch_rates = RateLimit(time.monotonic)
    wait_s = state.launch_rates.take(bucket_of(origin_of(request)), _PER_S, _BURST)
    if wait_s:
        detail = "too many sessions are opened from this address"
        raise Problem("rate_limited", detail, retry_after_s=round(wait_s, 3))


@router.post(
    "/v1/launch", response_model=models.Redeemed, responses=_RESPONSES, dependencies=[Depends(_admitted)]
)
async def redeem(body: models.Redeem, edge: OnEdge) -> Response:
    """Redeem a launch token, once: the answer has the token that the player's connection begins with."""
    now = edge.now()
    try:
        playing, token = await player_sessions_on(edge).redeem(body.token, now)
    except SessionUnknown:
        raise Problem("launch_token_invalid", "it was used, is too old, or never was one") from None
    session, player = playing.session, playing.player
    operator = await edge.operators.operator(session.operator)
    if operator is None or operator.terms.closed:
        await player_sessions_on(edge).end(session.id, now, "platform")
        raise Problem("launch_token_invalid", "no sessions of this casino are opened now")
    limits = models.SessionLimits(wager_max=session.limits.wager_max, round_max=session.limits.round_max)
    return json_answer(
        models.Redeemed(
            session=session.id,
            session_token=token,
            nickname=player.nickname,
            currency=session.currency,
            language=player.language,
            environment=session.environment,
            cashier_url=player.cashier_url,
            table=session.table,
            limits=limits,
            ends_by=session.ends_by,
            idle_s=session.idle_s,
            now=now,
        )
    )
