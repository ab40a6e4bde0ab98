"""The players' money, with the wallet: `app.ports.Funds` and `app.funding.tips.Tips` over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import Final, TypeVar
from uuid import uuid4

import grpc.aio

from rules_core.round.events import RoundEvent
from rules_core.round.refusal import Refusal, refuse
from servicekit.grpc import failure_of
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_table.adapters.wallet.asking import HoldAsking
from upcard_table.adapters.wallet.freeing import Freeing, Reserve
from upcard_table.adapters.wallet.messages import open_holds
from upcard_table.adapters.wallet.observing import AskObserver
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.funding.tips import PostedTip, WantedTip
from upcard_table.app.ports import FundsUnavailable, HoldsAnswer, OpenHold, WantedHolds

WALLET: Final = pb.DESCRIPTOR.services_by_name["WalletService"]
"""The service, for whoever opens the channel."""

Answer = TypeVar("Answer")


class WalletFunds:
    """The wallet, over one channel. Holds are asked for, and reserves given back, while `run` runs."""

    def __init__(
        self,
        stub: WalletServiceStub,
        settings: AskingSettings | None = None,
        observer: AskObserver | None = None,
    ) -> None:
        self._stub = stub
        self._settings = settings or AskingSettings()
        self._freeing = Freeing(self._bets_of, self._release, self._settings, observer)
        self._asking = HoldAsking(stub.AskHolds, self._settings, observer, self._freeing.held)

    async def run(self, ending: asyncio.Event) -> None:
        """Work until `ending` is set: a stage of a service."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._asking.run(ending))
            tasks.create_task(self._freeing.run(ending))

    def ask(self, wanted: WantedHolds, deadline_s: float) -> asyncio.Future[HoldsAnswer]:
        """See `app.ports.Funds`."""
        return self._asking.ask(wanted, deadline_s)

    def free_reserves(self, round_name: str, events: Sequence[RoundEvent]) -> None:
        """See `app.ports.Funds`."""
        self._freeing.note(round_name, events)

    async def open_holds(self, round_name: str, deadline_s: float) -> Sequence[OpenHold]:
        """See `app.ports.Funds`."""
        return open_holds(await self._listed(round_name, deadline_s))

    async def post_tip(self, tip: WantedTip, deadline_s: float) -> PostedTip | Refusal:
        """See `app.funding.tips.Tips`. Refused: `account_unknown`, and what the wallet says of the tip."""
        which = pb.PlayerCurrency(player=tip.player, currency=tip.currency)
        found = await _answered(
            self._stub.GetBalance(pb.GetBalanceRequest(player=which), timeout=_left_s(deadline_s))
        )
        if found.WhichOneof("result") != "found":
            return _refusal(found.refusal.reason, found.refusal.message)
        request = pb.PostTipRequest(
            request_id=tip.request_id,
            account=found.found.account.account,
            amount=tip.amount,
            table=tip.table,
            dealer=tip.dealer or "",
        )
        posted = await _answered(self._stub.PostTip(request, timeout=_left_s(deadline_s)))
        if posted.WhichOneof("result") != "moved":
            return _refusal(posted.refusal.reason, posted.refusal.message)
        return PostedTip(posted.moved.transaction)

    async def _bets_of(self, round_name: str) -> Iterable[tuple[Reserve, str]]:
        holds = await self._listed(round_name, self._soon_s())
        return [
            (Reserve(round_name, one.player, one.bet_id, one.wager.box), one.hold)
            for one in holds
            if one.wager.wager == "bet"
        ]

    async def _release(self, holds: Sequence[str]) -> None:
        request = pb.ReleaseHoldsRequest(
            request_id=str(uuid4()), holds=holds, reason=pb.RELEASE_REASON_NO_STAKE
        )
        await _answered(self._stub.ReleaseHolds(request, timeout=self._settings.call_timeout_s))

    async def _listed(self, round_name: str, deadline_s: float) -> list[pb.Hold]:
        """All open holds of a round, page by page."""
        found: list[pb.Hold] = []
        while True:
            request = pb.ListHoldsRequest(
                round=round_name,
                open_only=True,
                after=found[-1].hold if found else "",
                limit=self._settings.page,
            )
            page = await _answered(self._stub.ListHolds(request, timeout=_left_s(deadline_s)))
            found += page.holds
            if not page.more or not page.holds:
                return found

    def _soon_s(self) -> float:
        return asyncio.get_running_loop().time() + self._settings.call_timeout_s


async def _answered(call: Awaitable[Answer]) -> Answer:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise FundsUnavailable(f"the wallet: {failure_of(error).reason}") from error


def _left_s(deadline_s: float) -> float:
    left_s = deadline_s - asyncio.get_running_loop().time()
    if left_s <= 0:
        raise FundsUnavailable("the time is over")
    return left_s


def _refusal(reason: str, message: str) -> Refusal:
    return refuse(reason, message or "the wallet refuses it")
