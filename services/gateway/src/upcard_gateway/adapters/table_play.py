"""The table service over gRPC, as players need it; every call is made in the player's name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import grpc
import grpc.aio

from servicekit.grpc import failure_of
from upcard.table.v1 import table_pb2 as pb
from upcard.table.v1 import watching_pb2 as watching
from upcard.table.v1.table_pb2_grpc import TableServiceStub
from upcard_gateway.adapters.services import acting_as
from upcard_gateway.adapters.services import player as acting_player
from upcard_gateway.app.game_orders import (
    Bets,
    Done,
    FinalChoice,
    NotDone,
    OptionChoice,
    Order,
    PurchaseChoice,
    Stake,
    TableAway,
    Tipped,
    Withdrawal,
)
from upcard_gateway.app.game_seen import Beginning, Happened, Mine

__all__ = ["GrpcTablePlay", "beginning", "happened", "mine"]

ASK_S: Final = 9.0
"""For so long a wish is tried; after that nobody can say."""
CALL_S: Final = 5.0
"""Deadline of one try."""
VIEW_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 0.5
_REFUSED_FOR_NOW: Final = frozenset({"overloaded"})


class GrpcTablePlay:
    """`TablePlay` over gRPC."""

    def __init__(self, table: TableServiceStub) -> None:
        self._table = table

    async def ask(self, order: Order) -> Done | NotDone:
        """See `TablePlay`. A try whose answer did not come is made again with the same id."""
        call = self._call(order)
        until = asyncio.get_running_loop().time() + ASK_S
        pause_s = _FIRST_PAUSE_S
        while True:
            left_s = until - asyncio.get_running_loop().time()
            try:
                with acting_as(acting_player(order.player)):
                    return await call(min(CALL_S, max(0.05, left_s)))
            except grpc.aio.AioRpcError as error:
                failure = failure_of(error)
                if not failure.may_pass:
                    return _refused(error)
                left_s = until - asyncio.get_running_loop().time()
                if left_s <= pause_s:
                    return NotDone("outcome_unknown", order.round, money="unknown", again=True)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def own(
        self, table: str, number: int, player: str, currency: str, at_least: int = 0
    ) -> Mapping[str, Any] | None:
        """See `TablePlay`."""
        if number < 1:
            return None
        request = watching.GetRoundRequest(table=table, round=number, currency=currency)
        until = asyncio.get_running_loop().time() + VIEW_S
        pause_s = _FIRST_PAUSE_S
        while True:
            answer = await self._view(request, player)
            known = answer.WhichOneof("result") == "view"
            if known and answer.position >= at_least:
                found: Mapping[str, Any] = json.loads(answer.view)["own"]
                return found
            if not known and not at_least:
                return None
            if asyncio.get_running_loop().time() + pause_s > until:
                raise TableAway
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _view(self, request: watching.GetRoundRequest, player: str) -> watching.GetRoundResponse:
        try:
            with acting_as(acting_player(player)):
                return await self._table.GetRound(request, timeout=VIEW_S)
        except grpc.aio.AioRpcError as error:
            if failure_of(error).may_pass or error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise TableAway from error
            raise

    def _call(self, order: Order) -> Callable[[float], Awaitable[Done | NotDone]]:
        if isinstance(order.what, Tipped):
            tip = pb.TipRequest(
                request_id=order.request_id,
                table=order.table,
                currency=order.currency,
                amount=order.what.amount,
            )
            return lambda timeout: self._tip(tip, timeout)
        request, method = self._items(order)
        return lambda timeout: _one_item(method(request, timeout=timeout), order)

    async def _tip(self, request: pb.TipRequest, timeout: float) -> Done | NotDone:  # noqa: ASYNC109 - gRPC's own deadline
        answer = await self._table.Tip(request, timeout=timeout)
        if answer.WhichOneof("result") == "given":
            return Done(0)
        return NotDone(answer.refusal.reason, data=dict(answer.refusal.data))

    def _items(self, order: Order) -> tuple[Any, Any]:
        """The request, and the call that takes it."""
        head: dict[str, Any] = {
            "request_id": order.request_id,
            "table": order.table,
            "round": order.round,
        }
        bet_id, what, table = order.request_id, order.what, self._table
        match what:
            case Bets() | OptionChoice() | FinalChoice() | PurchaseChoice():
                return self._staking(head, order)
            case Withdrawal(box=box, wager=wager):
                withdrawal = pb.WithdrawBetsItem(box=box, wager=wager)
                return pb.WithdrawBetsRequest(**head, items=[withdrawal]), table.WithdrawBets
            case "undo":
                return pb.UndoBetsRequest(**head, items=[pb.UndoBetsItem()]), table.UndoBets
            case "clear":
                return pb.ClearBetsRequest(**head, items=[pb.ClearBetsItem()]), table.ClearBets
            case "double":
                twice = pb.DoubleBetsItem(bet_id=bet_id)
                return pb.DoubleBetsRequest(**head, items=[twice]), table.DoubleBets
            case "rebet":
                again = pb.RebetBetsItem(currency=order.currency, bet_id=bet_id)
                return pb.RebetBetsRequest(**head, items=[again]), table.RebetBets
            case _:
                raise TypeError("a tip is no item of a round")

    def _staking(self, head: dict[str, Any], order: Order) -> tuple[Any, Any]:
        """Likewise, of what has a body."""
        bet_id, what, table = order.request_id, order.what, self._table
        match what:
            case Bets(placements=placements):
                wagers = [
                    pb.Wager(
                        box=one.box,
                        wager=one.wager,
                        amount=one.amount,
                        blind=one.blind,
                        funding=one.funding,
                    )
                    for one in placements
                ]
                placing = pb.PlaceBetsItem(currency=order.currency, bet_id=bet_id, placements=wagers)
                return pb.PlaceBetsRequest(**head, items=[placing]), table.PlaceBets
            case OptionChoice(box=box, kind=kind, positions=positions):
                stakes = "" if kind == "fold" else bet_id
                option = pb.ChooseOptionsItem(box=box, kind=kind, positions=positions, bet_id=stakes)
                return pb.ChooseOptionsRequest(**head, items=[option]), table.ChooseOptions
            case FinalChoice(box=box, choice=choice, insurance=insurance):
                stakes = bet_id if choice == "bet" or insurance else ""
                final = pb.ChooseFinalOptionsItem(box=box, choice=choice, insurance=insurance, bet_id=stakes)
                return pb.ChooseFinalOptionsRequest(**head, items=[final]), table.ChooseFinalOptions
            case PurchaseChoice(box=box, buy=buy):
                purchase = pb.DecidePurchasesItem(box=box, buy=buy, bet_id=bet_id if buy else "")
                return pb.DecidePurchasesRequest(**head, items=[purchase]), table.DecidePurchases
            case _:
                raise TypeError(f"{what} stakes nothing")


def happened(event: watching.ShownEvent) -> Happened:
    """An event of a watch as a plain value."""
    return Happened(
        round=event.round,
        position=event.position,
        type=event.type,
        payload=json.loads(event.payload) if event.payload else {},
        cards={one.place: one.card for one in event.cards},
        bonuses=[
            {
                "box": one.box,
                "stake": one.stake,
                "hand": one.hand,
                "returned": one.returned,
                "jackpot_share_percent": one.jackpot_share_percent or None,
            }
            for one in event.bonuses
        ],
        crowd=_crowd(event.crowd) if event.HasField("crowd") else None,
    )


def beginning(snapshot: watching.Snapshot) -> Beginning:
    """A watch's first message as a plain value."""
    table = snapshot.table
    return Beginning(
        table={
            "table": table.table,
            "name": table.name,
            "ruleset": table.ruleset,
            "open": table.open,
            "dealer": table.dealer,
            "round": table.round,
            "step": table.step,
            "currencies": list(table.currencies),
            "manual_mode": table.manual_mode,
            "details": json.loads(table.details) if table.details else {},
            "position": table.position,
        },
        round=snapshot.round,
        position=snapshot.position,
        view=json.loads(snapshot.view) if snapshot.view else None,
    )


def mine(update: watching.OwnUpdate) -> Mine:
    """A player's own update as a plain value."""
    view = json.loads(update.view) if update.view else None
    return Mine(tuple(map(happened, update.events)), view)


def _crowd(crowd: watching.Crowd) -> dict[str, object]:
    return {
        "players": crowd.players,
        "stakes": [
            {
                "currency": one.currency,
                "wager": one.wager,
                "box": one.box,
                "players": one.players,
                "amount": one.amount,
            }
            for one in crowd.stakes
        ],
        "choices": [{"choice": one.choice, "boxes": one.boxes} for one in crowd.choices],
    }


async def _one_item(call: Awaitable[Any], order: Order) -> Done | NotDone:
    (outcome,) = (await call).items
    match outcome.WhichOneof("result"):
        case "accepted":
            wagers = tuple(
                Stake(one.box, one.wager, one.amount, one.blind, one.funding)
                for one in outcome.accepted.wagers
            )
            return Done(outcome.accepted.round, wagers, outcome.accepted.position)
        case "declined":
            return NotDone(outcome.declined.reason, outcome.declined.round)
        case _:
            refusal = outcome.refusal
            again = refusal.reason in _REFUSED_FOR_NOW
            return NotDone(refusal.reason, order.round, dict(refusal.data), again=again)


def _refused(error: grpc.aio.AioRpcError) -> NotDone:
    """What a failed call means to the player; raises the error where it is a mistake of ours."""
    failure = failure_of(error)
    if failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return NotDone("overloaded", again=True)
    if failure.reason == "request_id_reused":
        return NotDone("id_reused")
    if failure.reason == "table_unknown":
        return NotDone("table_unknown")
    if failure.code is grpc.StatusCode.INVALID_ARGUMENT:
        return NotDone("word_invalid")
    raise error
