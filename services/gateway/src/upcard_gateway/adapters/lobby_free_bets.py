"""Free bets over the bonus service's calls, for an operator: it acts as a platform."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub
from upcard_gateway.adapters.services import PLATFORM, acting_as
from upcard_gateway.app.lobby_free_bets import (
    FreeBet,
    FreeBetState,
    FreeBetWager,
    NotGranted,
    WantedFreeBet,
)

CALL_S: Final = 5.0
"""Deadline of each call."""

_WAGERS: Final[dict[FreeBetWager, pb.FreeBetWager.ValueType]] = {
    "ante": pb.FREE_BET_WAGER_ANTE,
    "bonus_player": pb.FREE_BET_WAGER_BONUS_PLAYER,
    "bonus_dealer": pb.FREE_BET_WAGER_BONUS_DEALER,
}
_WAGER_NAMES: Final = {value: name for name, value in _WAGERS.items()}
_STATES: Final[dict[pb.FreeBetState.ValueType, FreeBetState]] = {
    pb.FREE_BET_STATE_GRANTED: "granted",
    pb.FREE_BET_STATE_SPENT: "spent",
    pb.FREE_BET_STATE_EXPIRED: "expired",
}
_NEAR: Final = 100
_MOST_PAGES: Final = 20
"""Where so many free bets of a player begin alike, the rest is not looked through."""


class GrpcFreeBets:
    """`FreeBets` over gRPC."""

    def __init__(self, bonus: BonusServiceStub) -> None:
        self._bonus = bonus

    async def grant(self, wanted: WantedFreeBet) -> FreeBet | NotGranted:
        """See `FreeBets`."""
        expires_at = Timestamp()
        expires_at.FromDatetime(wanted.expires_at)
        request = pb.GrantFreeBetRequest(
            request_id=wanted.request_id,
            free_bet=wanted.free_bet,
            player=wanted.player,
            currency=wanted.currency,
            amount=wanted.amount,
            wagers=[_WAGERS[wager] for wager in wanted.wagers],
            expires_at=expires_at,
        )
        with acting_as(PLATFORM):
            return _either(await self._bonus.GrantFreeBet(request, timeout=CALL_S))

    async def page(self, player: str, *, after: str, limit: int) -> Sequence[FreeBet]:
        """See `FreeBets`."""
        request = pb.ListFreeBetsRequest(player=player, after=after, limit=limit)
        with acting_as(PLATFORM):
            answer = await self._bonus.ListFreeBets(request, timeout=CALL_S)
        return tuple(map(_free_bet, answer.free_bets))

    async def find(self, player: str, free_bet: str) -> FreeBet | None:
        """See `FreeBets`. The service has no call for one: it is looked for among those that begin alike."""
        after = free_bet[:-1]
        for _ in range(_MOST_PAGES):
            near = await self.page(player, after=after, limit=_NEAR)
            found = next((one for one in near if one.free_bet >= free_bet), None)
            if found is not None or len(near) < _NEAR:
                return found if found is not None and found.free_bet == free_bet else None
            after = near[-1].free_bet
        return None

    async def revoke(self, request_id: str, free_bet: str) -> FreeBet | NotGranted:
        """See `FreeBets`."""
        request = pb.RevokeFreeBetRequest(request_id=request_id, free_bet=free_bet)
        with acting_as(PLATFORM):
            return _either(await self._bonus.RevokeFreeBet(request, timeout=CALL_S))


def _either(answer: pb.GrantFreeBetResponse | pb.RevokeFreeBetResponse) -> FreeBet | NotGranted:
    if answer.WhichOneof("result") == "free_bet":
        return _free_bet(answer.free_bet)
    return NotGranted(answer.refusal.reason, answer.refusal.message)


def _free_bet(message: pb.FreeBet) -> FreeBet:
    return FreeBet(
        free_bet=message.free_bet,
        player=message.player,
        currency=message.currency,
        amount=message.amount,
        wagers=tuple(_WAGER_NAMES[wager] for wager in message.wagers),
        expires_at=message.expires_at.ToDatetime(dt.UTC),
        left=message.left,
        used=message.used,
        state=_STATES[message.state],
    )
