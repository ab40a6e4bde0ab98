"""A player's money over gRPC: balance, free bets, statement. Every call is made in the player's name."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Final

import grpc.aio
import structlog

from servicekit.grpc import failure_of
from upcard.bonus.v1 import bonus_pb2
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_gateway.adapters.services import Services, acting_as
from upcard_gateway.adapters.services import player as acting_player
from upcard_gateway.app.game_seen import Json, Purse
from upcard_gateway.domain.sessions import Session

__all__ = ["GrpcPlayerMoney"]

BALANCE_S: Final = 3.0
"""Deadline; a partner has two seconds of it."""
FREE_BETS_S: Final = 1.0
FREE_BETS_MOST: Final = 100
"""More free bets of a player are not offered at a time."""
UNKNOWN: Final = "balance_unknown"

_WAGERS: Final = {
    bonus_pb2.FREE_BET_WAGER_ANTE: "ante",
    bonus_pb2.FREE_BET_WAGER_BONUS_PLAYER: "bonus_player",
    bonus_pb2.FREE_BET_WAGER_BONUS_DEALER: "bonus_dealer",
}

_log = structlog.get_logger("upcard.gateway.play")


class GrpcPlayerMoney:
    """`PlayerMoney` over gRPC."""

    def __init__(self, services: Services, now: Callable[[], dt.datetime]) -> None:
        self._services = services
        self._now = now

    async def purse(self, session: Session) -> Purse:
        """See `PlayerMoney`."""
        with acting_as(acting_player(session.player)):
            balance, free = await asyncio.gather(self._balance(session), self._free_bets(session))
        return Purse(session.currency, balance.cash, balance.held, balance.owed, free, balance.unknown)

    async def _balance(self, session: Session) -> Purse:
        asks = session.wallet == "seamless"
        request = pb.GetBalanceRequest(account=session.account, ask_partner=asks)
        try:
            answer = await self._services.wallet.GetBalance(request, timeout=BALANCE_S)
        except grpc.aio.AioRpcError as error:
            if not failure_of(error).may_pass and error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise
            return Purse(session.currency, None, unknown=UNKNOWN)
        if answer.WhichOneof("result") != "found":
            raise RuntimeError(f"the wallet does not know a session's account: {answer.refusal.reason}")
        balance = answer.found.balance
        if not asks:
            return Purse(session.currency, balance.cash, balance.held, balance.owed)
        partner = answer.found.partner
        told = partner.WhichOneof("result") == "cash"
        return Purse(
            session.currency,
            partner.cash if told else None,
            balance.held,
            balance.owed,
            unknown=None if told else partner.unknown or UNKNOWN,
        )

    async def _free_bets(self, session: Session) -> tuple[Json, ...]:
        request = bonus_pb2.ListFreeBetsRequest(player=session.player, limit=FREE_BETS_MOST, usable_only=True)
        try:
            answer = await self._services.bonus.ListFreeBets(request, timeout=FREE_BETS_S)
        except grpc.aio.AioRpcError as error:
            # Without the bonus service nothing is offered; what was placed stays.
            _log.warning("free bets are not offered", reason=failure_of(error).reason)
            return ()
        now = self._now()
        return tuple(
            {
                "funding": one.free_bet,
                "wager": _WAGERS[wager],
                "amount": one.left,
                "until": one.expires_at.ToDatetime(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            }
            for one in answer.free_bets
            if one.currency == session.currency
            and one.state == bonus_pb2.FREE_BET_STATE_GRANTED
            and one.left > 0
            and one.expires_at.ToDatetime(dt.UTC) > now
            for wager in one.wagers
            if wager in _WAGERS
        )
