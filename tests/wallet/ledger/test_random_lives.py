"""Random lives of some players against a model of a few lines: every answer and every balance is foretold."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from rules_core.round.events import PlayerSettled
from tests.wallet.ledger.test_audit import audited
from tests.wallet.ledger.world import (
    ROUND_CANCELLED,
    World,
    bet,
    declined,
    round_resettled,
    round_settled,
    settled,
    states,
    withdrawn,
)
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.follow_rounds import RoundFact
from upcard_wallet.app.place_holds import WantedHolds
from upcard_wallet.app.withdraw import Withdraw, withdraw

PLAYERS = ("p1", "p2", "p3")


@dataclass
class Model:
    """What there should be: of each player cash, debt, and stakes (round, bet_id, box) that are held."""

    cash: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PLAYERS, 0))
    owed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PLAYERS, 0))
    held: dict[str, dict[tuple[str, str, int], int]] = field(
        default_factory=lambda: {player: {} for player in PLAYERS}
    )
    results: dict[tuple[str, str], tuple[int, int, int, int]] = field(default_factory=dict)
    """By round and player: revision, staked, returned, and what is owed of it."""
    over: set[str] = field(default_factory=set)

    def of_round(self, player: str, name: str) -> dict[tuple[str, str, int], int]:
        """The stakes of a player that are held in a round."""
        return {key: amount for key, amount in self.held[player].items() if key[0] == name}


class Life:
    """Draws what happens next, does it, and foretells it."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.model = Model()
        self.draw = random.Random(seed)
        self.number = 0
        self.round = "t1.1"
        self.commands: list[WantedHolds] = []
        self.facts: list[RoundFact] = []
        self.rounds: dict[str, dict[str, PlayerSettled]] = {}
        """Of settled rounds: each player's latest result."""

    async def step(self) -> None:
        """One thing that may happen."""
        acts = (
            self.pay,
            self.take,
            self.place,
            self.place,
            self.place,
            self.withdraw,
            self.end,
            self.correct,
        )
        await self.draw.choice(acts)()
        if self.draw.random() < 0.3:
            await self.again()

    def new(self) -> str:
        self.number += 1
        return f"n{self.number}"

    async def pay(self) -> None:
        player, amount = self.draw.choice(PLAYERS), self.draw.randint(1, 200)
        await self.world.do(deposit, Deposit(f"{player}-EUR", amount, self.new()))
        self.model.cash[player] += amount

    async def take(self) -> None:
        player, amount = self.draw.choice(PLAYERS), self.draw.randint(1, 200)
        answer = await self.world.do(withdraw, Withdraw(f"{player}-EUR", amount, self.new()))
        if self.model.owed[player]:
            assert getattr(answer, "reason", None) == "debt_open"
        elif self.model.cash[player] < amount:
            assert getattr(answer, "reason", None) == "funds_refused"
        else:
            self.model.cash[player] -= amount

    async def place(self) -> None:
        commands, expected = [], []
        for _ in range(self.draw.randint(1, 5)):
            player = self.draw.choice(PLAYERS)
            boxes = self.draw.sample((1, 2, 3), self.draw.randint(1, 3))
            stakes = [(box, "ante", self.draw.randint(1, 60)) for box in boxes]
            command = bet(*stakes, player=player, round_name=self.round, bet_id=self.new())
            commands.append(command)
            total = sum(amount for _, _, amount in stakes)
            if self.model.cash[player] < total:
                expected.append("funds_refused")
                continue
            expected.append("held")
            self.model.cash[player] -= total
            for box, _, amount in stakes:
                self.model.held[player][self.round, command.bet_id, box] = amount
        assert states(await self.world.place(*commands)) == expected
        self.commands += commands

    async def withdraw(self) -> None:
        player = self.draw.choice(PLAYERS)
        stakes = self.model.of_round(player, self.round)
        if not stakes:
            return
        _, bet_id, box = self.draw.choice(sorted(stakes))
        amount = self.model.held[player].pop((self.round, bet_id, box))
        self.model.cash[player] += amount
        make = self.draw.choice((withdrawn, declined))
        self.facts += await self.world.hear(
            (self.round, make((box, "ante", amount), player=player, bet_id=bet_id))
        )

    async def end(self) -> None:
        name = self.round
        self.round = f"t1.{int(name.partition('.')[2]) + 1}"
        self.model.over.add(name)
        if self.draw.random() < 0.3:
            for player in PLAYERS:
                for key, amount in self.model.of_round(player, name).items():
                    self.model.cash[player] += amount
                    del self.model.held[player][key]
            self.facts += await self.world.hear((name, ROUND_CANCELLED))
            return
        events = []
        for player in PLAYERS:
            stakes = self.model.of_round(player, name)
            if not stakes:
                continue
            lines = []
            for box in sorted({box for _, _, box in stakes}):
                stake = sum(amount for key, amount in stakes.items() if key[2] == box)
                lines.append((box, "ante", stake, stake * self.draw.choice((0, 0, 1, 2, 4))))
            for key in stakes:
                del self.model.held[player][key]
            staked, returned = sum(line[2] for line in lines), sum(line[3] for line in lines)
            self.model.cash[player] += returned
            self.model.results[name, player] = (1, staked, returned, 0)
            events.append((name, settled(*lines, player=player)))
        self.rounds[name] = {event.player: event for _, event in events}
        self.facts += await self.world.hear(*events, (name, round_settled(*self.rounds[name].values())))

    async def correct(self) -> None:
        if not self.model.results:
            return
        name, player = self.draw.choice(sorted(self.model.results))
        revision, staked, returned, owed = self.model.results[name, player]
        now = staked * self.draw.choice((0, 1, 2, 4))
        change = now - returned
        if change >= 0:
            back = min(owed, change)
            self.model.cash[player] += change - back
            owed -= back
            self.model.owed[player] -= back
        else:
            taken = min(-change, self.model.cash[player])
            self.model.cash[player] -= taken
            owed += -change - taken
            self.model.owed[player] += -change - taken
        self.model.results[name, player] = (revision + 1, staked, now, owed)
        event = settled((1, "ante", staked, now), player=player, revision=revision + 1)
        results = self.rounds[name]
        results[player] = event
        number = sum(one.revision - 1 for one in results.values())
        self.facts += await self.world.hear((name, event), (name, round_resettled(number, *results.values())))

    async def again(self) -> None:
        """Whatever happened before comes once more: nothing changes."""
        if self.commands:
            await self.world.place(*self.draw.sample(self.commands, min(3, len(self.commands))))
        if self.facts:
            first = self.draw.randrange(len(self.facts))
            await self.world.hear_again(self.facts[first : first + 4])

    async def is_as_foretold(self) -> None:
        for player in PLAYERS:
            held = sum(self.model.held[player].values())
            expected = (self.model.cash[player], held, 0, self.model.owed[player])
            assert await self.world.has(f"{player}-EUR") == expected


@pytest.mark.parametrize("seed", range(4))
async def test_a_random_life_is_as_foretold(world: World, seed: int) -> None:
    for player in PLAYERS:
        await world.player(player)
    life = Life(world, seed)
    for _ in range(80):
        await life.step()
        await life.is_as_foretold()
    await world.all_is_explained()
    assert [one.kind for one in await audited(world)] == []
    assert world.seen.in_suspense == []


async def test_everything_at_once_loses_nothing(world: World) -> None:
    """Many callers at once, each on all players and rounds: no deadlock, no difference."""
    for player in PLAYERS:
        await world.player(player, 2_000)

    async def caller(seed: int) -> None:
        draw = random.Random(seed)
        for number in range(12):
            name = f"t{draw.randint(1, 3)}.{number // 3 + 1}"
            bets = [
                bet(
                    (1, "ante", draw.randint(1, 30)),
                    player=player,
                    round_name=name,
                    bet_id=f"c{seed}-{number}",
                )
                for player in draw.sample(PLAYERS, 3)
            ]
            await world.place(*bets)
            if draw.random() < 0.3:
                player = draw.choice(PLAYERS)
                await world.do(withdraw, Withdraw(f"{player}-EUR", draw.randint(1, 50), f"{seed}-{number}"))

    async def table(number: int) -> None:
        draw = random.Random(number)
        for place in range(1, 5):
            name = f"t{number}.{place}"
            held = await world.pool.fetch(
                "SELECT player, sum(amount)::bigint AS amount FROM wallet.holds"
                " WHERE round = $1 AND state = 'held' GROUP BY player",
                name,
            )
            results = [
                settled((1, "ante", row["amount"], row["amount"] * draw.choice((0, 2))), player=row["player"])
                for row in held
            ]
            end = draw.choice((round_settled(*results), round_settled(*results), ROUND_CANCELLED))
            await world.hear(*((name, result) for result in results), (name, end))

    await asyncio.gather(*map(caller, range(8)), *map(table, (1, 2, 3)))
    await world.all_is_explained()
    assert await audited(world) == []
    assert (
        await world.value(
            "SELECT count(*) FROM wallet.holds JOIN wallet.rounds USING (round) WHERE state = 'held'"
        )
        == 0
    )
    assert await world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0
