"""Calls to a bonus service in few words."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.grpc import Actor, ActorKind, acting_as, failure_of
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.bonus.v1.bonus_pb2_grpc import BonusServiceStub

TIMEOUT_S = 20.0
PLATFORM = Actor(ActorKind.PLATFORM)


def staff(*roles: str) -> Actor:
    """A member of staff."""
    return Actor(ActorKind.STAFF, "s1", frozenset(roles or ("operations",)))


def player(name: str) -> Actor:
    """A player."""
    return Actor(ActorKind.PLAYER, name)


def fresh() -> str:
    """An id that nobody has."""
    return uuid.uuid4().hex


def later(**lasts: float) -> Timestamp:
    """A moment to come; a day from now unless said otherwise."""
    made = Timestamp()
    made.FromDatetime(dt.datetime.now(dt.UTC) + dt.timedelta(**(lasts or {"days": 1})))
    return made


@dataclass
class Client:
    """What the gateway and the table do."""

    stub: BonusServiceStub

    async def open(
        self,
        jackpot: str = "j1",
        *,
        actor: Actor | None = None,
        request_id: str | None = None,
        **settings: Any,
    ) -> pb.OpenJackpotResponse:
        """Open a jackpot."""
        wanted = {"seed": 1_000, "contribution_ppm": 100_000, "reseed": True, "tables": ["t1"], **settings}
        request = pb.OpenJackpotRequest(
            request_id=request_id or fresh(),
            jackpot=jackpot,
            operator="op1",
            currency="EUR",
            settings=pb.JackpotSettings(**wanted),
        )
        with acting_as(actor or staff()):
            return await self.stub.OpenJackpot(request, timeout=TIMEOUT_S)

    async def fence(self, round_name: str, request_id: str | None = None) -> pb.FenceRoundResponse:
        """Fence a round."""
        request = pb.FenceRoundRequest(request_id=request_id or fresh(), round=round_name)
        return await self.stub.FenceRound(request, timeout=TIMEOUT_S)

    async def grant(
        self, free_bet: str = "f1", *, actor: Actor = PLATFORM, request_id: str | None = None, **more: Any
    ) -> pb.GrantFreeBetResponse:
        """Grant player p1 a free bet."""
        wanted: dict[str, Any] = {
            "player": "p1",
            "currency": "EUR",
            "amount": 500,
            "wagers": [pb.FREE_BET_WAGER_ANTE],
            "expires_at": later(),
            **more,
        }
        request = pb.GrantFreeBetRequest(request_id=request_id or fresh(), free_bet=free_bet, **wanted)
        with acting_as(actor):
            return await self.stub.GrantFreeBet(request, timeout=TIMEOUT_S)


async def refused(call: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    """Code and reason of a call that is not carried out."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = failure_of(caught.value)
    return failure.code, failure.reason
