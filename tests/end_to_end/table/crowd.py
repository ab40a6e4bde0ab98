"""Random players at a table that is played through its calls: what rules_core's own players would do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from rules_core.cards import DECK
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_players import RandomPlayers
from rules_core.round import commands as c
from servicekit.grpc import acting_as
from tests.end_to_end.table.play import CURRENCY, TIMEOUT_S, Table, fresh, player
from upcard.table.v1 import table_pb2 as pb

_NOW: Final = ""
_TURNS: Final = 6
Outcome = pb.ItemOutcome


@dataclass
class Crowd:
    """Players who bet and decide by chance, always within what is allowed."""

    table: Table
    players: tuple[str, ...]
    seed: int
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._dice = Dice(self.seed)
        self._crowd = RandomPlayers(self._dice, self.players, CURRENCY)

    async def bet(self) -> None:
        """Bet while the window is open."""
        for who in self.players:
            for _ in range(_TURNS):
                await self.table.look()
                if self.table.state.step != "betting":
                    return
                command = self._crowd.bets(self.table.state, self.table.sealed, who, _NOW, fresh())
                if command is None:
                    break
                self.outcomes.append(await perform(self.table, command))

    async def decide(self) -> None:
        """Decide in the window that is open; some let it pass."""
        state, sealed = self.table.state, self.table.sealed
        for command in list(self._crowd.decisions(state, sealed, _NOW, _ids())):
            self.outcomes.append(await perform(self.table, command))

    async def play(self) -> None:
        """Play the round to its end."""
        table = self.table
        deck = iter(self._dice.shuffled(DECK))
        await self.bet()
        await table.until("the close of betting", lambda: table.over() or table.state.step != "betting")
        while not table.over():
            await table.until(
                "something to do",
                lambda: table.over() or table.step in {"lay_card", "confirm_cards", "close_window"},
            )
            if table.over():
                return
            if table.step == "close_window":
                opened = table.window
                await self.decide()
                await table.until_closed(opened)
            elif table.step == "confirm_cards":
                await table.confirm()
            else:
                answer = await table.scan(next(deck))
                assert answer.HasField("laid"), answer


def _ids() -> Iterator[str]:
    while True:
        yield fresh()


async def perform(table: Table, command: c.Command) -> Outcome:
    """Have a player's command done by the call that it belongs to."""
    who = player(command.player)  # type: ignore[union-attr]  # players' commands only
    with acting_as(who):
        (outcome,) = await _call(table, command)
    await table.look()
    return outcome


async def _call(table: Table, command: c.Command) -> list[Outcome]:
    calls = table.calls.table
    head: dict[str, Any] = {"request_id": fresh(), "table": table.name, "round": table.number}
    match command:
        case c.PlaceBet(currency=currency, bet_id=bet_id, placements=placements):
            wagers = [pb.Wager(box=p.box, wager=p.wager, amount=p.amount, blind=p.blind) for p in placements]
            bet = pb.PlaceBetsItem(currency=currency, bet_id=bet_id, placements=wagers)
            return await _sent(calls.PlaceBets, pb.PlaceBetsRequest(**head, items=[bet]))
        case c.WithdrawBet(box=box, wager=wager):
            back = pb.WithdrawBetsItem(box=box, wager=wager)
            return await _sent(calls.WithdrawBets, pb.WithdrawBetsRequest(**head, items=[back]))
        case c.UndoBet():
            return await _sent(calls.UndoBets, pb.UndoBetsRequest(**head, items=[pb.UndoBetsItem()]))
        case c.DoubleBets(bet_id=bet_id):
            double = pb.DoubleBetsItem(bet_id=bet_id)
            return await _sent(calls.DoubleBets, pb.DoubleBetsRequest(**head, items=[double]))
        case c.ChooseOption(box=box, kind=kind, positions=positions, bet_id=bet):
            option = pb.ChooseOptionsItem(box=box, kind=kind, positions=positions, bet_id=bet or "")
            return await _sent(calls.ChooseOptions, pb.ChooseOptionsRequest(**head, items=[option]))
        case c.ChooseFinalOption(box=box, choice=choice, insurance=insurance, bet_id=bet):
            final = pb.ChooseFinalOptionsItem(box=box, choice=choice, insurance=insurance, bet_id=bet or "")
            return await _sent(calls.ChooseFinalOptions, pb.ChooseFinalOptionsRequest(**head, items=[final]))
        case c.MakePurchase(box=box, bet_id=bet_id):
            buy = pb.DecidePurchasesItem(box=box, buy=True, bet_id=bet_id)
            return await _sent(calls.DecidePurchases, pb.DecidePurchasesRequest(**head, items=[buy]))
        case c.DeclinePurchase(box=box):
            no = pb.DecidePurchasesItem(box=box)
            return await _sent(calls.DecidePurchases, pb.DecidePurchasesRequest(**head, items=[no]))
        case _:
            raise TypeError(type(command).__name__)


async def _sent(call: Callable[..., Awaitable[object]], request: object) -> list[Outcome]:
    answer = await call(request, timeout=TIMEOUT_S)
    return list(answer.items)  # type: ignore[attr-defined]  # every answer to a batch has items
