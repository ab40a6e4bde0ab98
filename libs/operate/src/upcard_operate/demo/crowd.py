"""The players: they bet, change their mind, run dry, come late, sleep through windows, and mostly play well.

They see the table as their own view shows it, and act through their platform, many in one call.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from servicekit.grpc import acting_as
from upcard.table.v1 import table_pb2, watching_pb2
from upcard.wallet.v1 import wallet_pb2
from upcard_operate.demo.casino import PLATFORM, Casino, new_id, player
from upcard_operate.demo.deciding import (
    Stake,
    finals,
    options,
    purchases,
    stakes_alone,
    stakes_together,
)
from upcard_operate.demo.house import View, accepted
from upcard_operate.demo.tables import CURRENCY, DemoTable

OPERATOR: Final = "demo-operator"
_CALL_S: Final = 30.0
_AT_ONCE: Final = 16
_BATCH: Final = 100
_GROUP: Final = 20
_SHORT, _LONG = 400, 100_000


@dataclass(slots=True)
class DemoPlayer:
    """One player, their account and their habits."""

    player: str
    account: str
    deposit: int
    sleeps: bool = False
    """Lets windows pass."""
    late: bool = False
    """Bets again when betting is over."""
    changes: bool = False
    """Takes bets back and makes others."""
    operator: str = OPERATOR
    """The casino that sent them."""
    elsewhere: bool = False
    """Their money lies in the wallet of the casino that sent them."""
    tipped: int = 0
    """What they have given dealers, minor units."""


Seen = tuple[DemoPlayer, View]
"""A player, and what they see."""
Act = Callable[[int, Sequence[Seen]], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Crowd:
    """The players of one table."""

    casino: Casino
    table: DemoTable
    players: Sequence[DemoPlayer]
    random: Random
    outcomes: Counter[str] = field(default_factory=Counter)
    """What became of their bets and choices: `accepted`, `declined:<reason>`, `refused:<reason>`."""

    async def come(self) -> None:
        """Open accounts and pay in."""
        gate = asyncio.Semaphore(_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for one in self.players:
                group.create_task(self._come(one, gate))

    async def _come(self, one: DemoPlayer, gate: asyncio.Semaphore) -> None:
        account = wallet_pb2.Account(
            account=one.account,
            player=one.player,
            operator=OPERATOR,
            currency=CURRENCY,
            purse=wallet_pb2.PURSE_INTERNAL,
        )
        async with gate:
            with acting_as(PLATFORM):
                request = wallet_pb2.OpenAccountRequest(request_id=new_id(), account=account)
                accepted("open an account", await self.casino.wallet.OpenAccount(request, timeout=_CALL_S))
                deposit = wallet_pb2.DepositRequest(
                    request_id=new_id(), account=one.account, amount=one.deposit, currency=CURRENCY
                )
                accepted("pay in", await self.casino.wallet.Deposit(deposit, timeout=_CALL_S))

    async def play(self, view: View) -> None:
        """Do what the window that has opened asks for."""
        number, kind = view["round"], view["window"]["kind"]
        if kind == "betting":
            await (self._bet_together(number) if self.table.shared else self._bet_in_turn(number))
        elif kind == "options":
            await self._in_groups(number, self._choose)
        elif kind == "final_options":
            await self._in_groups(number, self._choose_finally)
        else:
            await self._in_groups(number, self._purchase)

    async def come_late(self, number: int) -> None:
        """Those who always bet too late."""
        items = [self._shared_bet(one) for one in self.players if one.late]
        if items and self.table.shared:
            await self._place(number, items)

    # ------------------------------------------------------------ betting

    async def _bet_together(self, number: int) -> None:
        items = [self._shared_bet(one) for one in self.players if not one.late]
        await self._place(number, items)
        changing = [one for one in self.players if one.changes]
        for one in changing:
            with acting_as(player(one.player)):
                undo = table_pb2.UndoBetsRequest(
                    request_id=new_id(),
                    table=self.table.table,
                    round=number,
                    items=[table_pb2.UndoBetsItem()],
                )
                self._count((await self.casino.table.UndoBets(undo, timeout=_CALL_S)).items)
        await self._place(number, [self._shared_bet(one) for one in changing])

    def _shared_bet(self, one: DemoPlayer) -> table_pb2.PlaceBetsItem:
        return _item_of(one, stakes_together(self.random))

    async def _place(self, number: int, items: list[table_pb2.PlaceBetsItem]) -> None:
        for start in range(0, len(items), _BATCH):
            request = table_pb2.PlaceBetsRequest(
                request_id=new_id(), table=self.table.table, round=number, items=items[start : start + _BATCH]
            )
            with acting_as(PLATFORM):
                answer = await self.casino.table.PlaceBets(request, timeout=_CALL_S)
            self._count(answer.items)

    async def _bet_in_turn(self, number: int) -> None:
        """At exclusive tables the boxes are few: each looks at what is allowed, and takes some of it."""
        for one in self.players:
            for _ in range(self.random.randint(1, 4)):
                view = await self._view(number, one)
                stakes = stakes_alone(view, self.random)
                if not stakes:
                    break
                await self._place(number, [_item_of(one, stakes)])

    # ------------------------------------------------------------ choices

    async def _choose(self, number: int, views: Sequence[Seen]) -> None:
        items = []
        for one, view in views:
            items += [
                table_pb2.ChooseOptionsItem(
                    player=one.player,
                    box=choice.box,
                    kind=choice.kind,
                    positions=choice.positions,
                    bet_id="" if choice.kind == "fold" else new_id(),
                )
                for choice in options(view)
            ]
        if items:
            request = table_pb2.ChooseOptionsRequest(
                request_id=new_id(), table=self.table.table, round=number, items=items
            )
            with acting_as(PLATFORM):
                self._count((await self.casino.table.ChooseOptions(request, timeout=_CALL_S)).items)

    async def _choose_finally(self, number: int, views: Sequence[Seen]) -> None:
        items = []
        for one, view in views:
            items += [
                table_pb2.ChooseFinalOptionsItem(
                    player=one.player,
                    box=choice.box,
                    choice=choice.choice,
                    insurance=choice.insurance,
                    bet_id=new_id() if choice.stakes else "",
                )
                for choice in finals(view)
            ]
        if items:
            request = table_pb2.ChooseFinalOptionsRequest(
                request_id=new_id(), table=self.table.table, round=number, items=items
            )
            with acting_as(PLATFORM):
                self._count((await self.casino.table.ChooseFinalOptions(request, timeout=_CALL_S)).items)

    async def _purchase(self, number: int, views: Sequence[Seen]) -> None:
        items = []
        for one, view in views:
            items += [
                table_pb2.DecidePurchasesItem(
                    player=one.player,
                    box=choice.box,
                    buy=choice.buy,
                    bet_id=new_id() if choice.buy else "",
                )
                for choice in purchases(view)
            ]
        if items:
            request = table_pb2.DecidePurchasesRequest(
                request_id=new_id(), table=self.table.table, round=number, items=items
            )
            with acting_as(PLATFORM):
                self._count((await self.casino.table.DecidePurchases(request, timeout=_CALL_S)).items)

    # ------------------------------------------------------------ looking

    async def _in_groups(self, number: int, act: Act) -> None:
        """Let players who are awake look and act, so many in one call; nobody waits for all the others."""
        awake = [one for one in self.players if not one.sleeps]
        gate = asyncio.Semaphore(_AT_ONCE)

        async def look(one: DemoPlayer) -> Seen:
            async with gate:
                return one, await self._view(number, one)

        async def group_of(some: Sequence[DemoPlayer]) -> None:
            await act(number, await asyncio.gather(*map(look, some)))

        async with asyncio.TaskGroup() as group:
            for start in range(0, len(awake), _GROUP):
                group.create_task(group_of(awake[start : start + _GROUP]))

    async def _view(self, number: int, one: DemoPlayer) -> View:
        request = watching_pb2.GetRoundRequest(table=self.table.table, round=number, currency=CURRENCY)
        with acting_as(player(one.player)):
            answer = accepted("look at the round", await self.casino.table.GetRound(request, timeout=_CALL_S))
        view: View = json.loads(answer.view)
        return view

    def _count(self, items: Sequence[table_pb2.ItemOutcome]) -> None:
        for item in items:
            which = item.WhichOneof("result")
            if which == "declined":
                self.outcomes[f"declined: {item.declined.reason}"] += 1
            elif which == "refusal":
                self.outcomes[f"refused: {item.refusal.reason}"] += 1
            else:
                self.outcomes["accepted"] += 1


def _item_of(one: DemoPlayer, stakes: Sequence[Stake]) -> table_pb2.PlaceBetsItem:
    wagers = [
        table_pb2.Wager(box=stake.box, wager=stake.wager, amount=stake.amount, blind=stake.blind)
        for stake in stakes
    ]
    return table_pb2.PlaceBetsItem(player=one.player, currency=CURRENCY, bet_id=new_id(), placements=wagers)


def players_of(table: DemoTable, count: int, random: Random) -> list[DemoPlayer]:
    """So many players with habits of their own."""
    found = []
    for number in range(1, count + 1):
        dry = random.random() < 0.1
        name = f"{table.table}-p{number}"
        found.append(
            DemoPlayer(
                name,
                f"{name}-eur",
                _SHORT if dry else _LONG,
                sleeps=random.random() < 0.1,
                late=table.shared and random.random() < 0.05,
                changes=table.shared and random.random() < 0.05,
            )
        )
    return found
