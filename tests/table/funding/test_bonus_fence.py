"""No round with a jackpot's stakes is undone before its pool is fenced; every other round needs nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import pytest

from rules_core.round.limits import AmountRange, CurrencyLimits
from rules_core.round.refusal import Refusal
from servicekit.context import correlation_id
from tests.rules_core.round.scripted import Scripted, ante, bonus_b
from upcard.bonus.v1 import bonus_pb2 as pb
from upcard.call.v1.refusal_pb2 import Refusal as Refused
from upcard_table.adapters.bonus.fence import BonusFence, NoBonus
from upcard_table.app.bonus_fence import needs_fence
from upcard_table.app.calls import By

BY = By("staff:floor-1", "corr-1")
Handler = Callable[[pb.FenceRoundRequest], Awaitable[pb.FenceRoundResponse]]


class Bonus:
    """The stub's one call."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.rounds: list[str] = []

    async def FenceRound(  # noqa: N802 - the name of the call
        self,
        request: pb.FenceRoundRequest,
        *,
        timeout: float,  # noqa: ASYNC109 - as stubs have it
    ) -> pb.FenceRoundResponse:
        assert timeout > 0
        assert request.request_id
        assert correlation_id() == "corr-1"
        self.rounds.append(request.round)
        return await self._handler(request)


async def ask(handler: Handler, within_s: float = 5.0) -> Refusal | None:
    stub: Any = Bonus(handler)
    return await BonusFence(stub).before_correction("t1.7", BY, asyncio.get_running_loop().time() + within_s)


async def test_fenced_pools_let_the_correction_go_on() -> None:
    async def fenced(_: pb.FenceRoundRequest) -> pb.FenceRoundResponse:
        pools = [pb.FencedJackpot(jackpot="j1", hit_followed=True)]
        return pb.FenceRoundResponse(fences=pb.Fences(jackpots=pools))

    assert await ask(fenced) is None


async def test_what_bonus_refuses_is_not_corrected() -> None:
    async def refused(_: pb.FenceRoundRequest) -> pb.FenceRoundResponse:
        return pb.FenceRoundResponse(refusal=Refused(reason="round_invalid", message="no such round"))

    found = await ask(refused)
    assert found is not None
    assert found.code == "jackpot_not_fenced"
    assert "no such round" in found.message


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL])
async def test_without_an_answer_nothing_is_corrected(code: grpc.StatusCode) -> None:
    async def away(_: pb.FenceRoundRequest) -> pb.FenceRoundResponse:
        raise grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "by a test")

    found = await ask(away)
    assert found is not None
    assert found.code == "jackpot_not_fenced"


async def test_without_time_bonus_is_not_asked() -> None:
    async def never(_: pb.FenceRoundRequest) -> pb.FenceRoundResponse:
        raise AssertionError("asked")

    found = await ask(never, within_s=-1)
    assert found is not None
    assert found.code == "jackpot_not_fenced"


async def test_without_a_bonus_service_nothing_can_be_fenced() -> None:
    found = await NoBonus().before_correction("t1.7", BY, 0.0)
    assert found is not None
    assert found.code == "jackpot_not_fenced"


def test_only_stakes_on_a_jackpots_bonus_need_a_fence() -> None:
    limits = CurrencyLimits("EUR", 50, AmountRange(100, 5_000), bonus_player=AmountRange(100, 100))
    jackpot = Scripted("dark-boxes@1", limits=limits).open().place("p1", ante(1))
    assert not needs_fence(jackpot.state)
    jackpot.place("p1", bonus_b(1, 100))
    assert needs_fence(jackpot.state)
    plain = Scripted("live-shared@1").open().place("p1", ante(2), bonus_b(2, 100))
    assert not needs_fence(plain.state)
    without = Scripted("classic@1").open().place("p1", ante(1))
    assert not needs_fence(without.state)
