"""Seeded lives at a partner that does whatever it likes; when it behaves again, everything agrees."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from eventstore.postgres import Pool, PostgresEventStore
from rules_core.round.events import RoundEvent
from tests.wallet.ledger.world import ROUND_CANCELLED, ROUND_SETTLED, bet, declined, settled, withdrawn
from tests.wallet.partner import Trick
from tests.wallet.seamless.world import QUICK, SeamlessWorld, seamless_world
from upcard_wallet.app.place_holds import WantedHolds

PLAYERS = tuple(f"p{number}" for number in range(8))
START = 1_000
BAD = [trick for trick in Trick if trick not in {Trick.DENIES, Trick.LATE, Trick.HANGS}]
"""Whatever can be found out and answers at once. Nobody can find out who says no and takes the money."""


class Table:
    """A table that only knows what the wallet answered, as the real one does."""

    def __init__(self, world: SeamlessWorld, dice: random.Random, name: str) -> None:
        self.world = world
        self.dice = dice
        self.name = name
        self.stakes: dict[tuple[str, str], list[tuple[int, str, int]]] = {}
        self.paid: dict[str, int] = {}

    async def say(self, *events: RoundEvent) -> None:
        """Say it, and often say it again."""
        facts = await self.world.hear(*((self.name, event) for event in events))
        if self.dice.random() < 0.3:
            await self.world.hear_again(facts)

    async def take_bets(self) -> None:
        """Three commands of each player, many at once; what was not held is declined."""
        wanted: list[WantedHolds] = []
        for number in range(3):
            for player in PLAYERS:
                wagers = [(1, "ante", self.dice.randint(1, 40)), (1, "bonus_player", self.dice.randint(1, 9))]
                wanted.append(
                    bet(*wagers, player=player, round_name=self.name, bet_id=f"{self.name[1]}-{number}")
                )
        size = len(PLAYERS)
        batches = [wanted[start : start + size] for start in range(0, len(wanted), size)]
        answers = await asyncio.gather(*(self.world.place(*batch) for batch in batches))
        for command, one in zip(wanted, [one for batch in answers for one in batch], strict=True):
            wagers = [(wager.box, wager.wager, wager.amount) for wager in command.wagers]
            if one.outcome.state == "held":
                self.stakes[command.player, command.bet_id] = wagers
            else:
                await self.say(declined(*wagers, player=command.player, bet_id=command.bet_id))
        for (player, bet_id), wagers in self.stakes.items():
            if self.dice.random() < 0.3:
                await self.say(withdrawn(wagers.pop(), player=player, bet_id=bet_id))

    async def end(self) -> None:
        """Cancel, or settle and correct."""
        if self.dice.random() < 0.25:
            await self.say(ROUND_CANCELLED)
            self.stakes.clear()
            return
        revisions = self.dice.randint(1, 4)
        for revision in range(1, revisions + 1):
            results = [self._result(player, revision) for player in PLAYERS if self._staked(player)]
            await self.say(*results, *([ROUND_SETTLED] if revision == 1 else []))

    def _staked(self, player: str) -> dict[str, int]:
        sums: dict[str, int] = {}
        for (who, _), wagers in self.stakes.items():
            for _, wager, amount in wagers:
                if who == player:
                    sums[wager] = sums.get(wager, 0) + amount
        return sums

    def _result(self, player: str, revision: int) -> RoundEvent:
        lines = [
            (1, wager, stake, self.dice.choice([0, stake, 3 * stake]))
            for wager, stake in self._staked(player).items()
        ]
        self.paid[player] = sum(returned for *_, returned in lines)
        return settled(*lines, player=player, revision=revision)

    def change(self, player: str) -> int:
        """What the round has changed for a player."""
        return self.paid.get(player, 0) - sum(self._staked(player).values())


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_a_partner_does_money_ends_where_it_belongs(
    pool: Pool, store: PostgresEventStore, seed: int
) -> None:
    dice = random.Random(seed)
    stubborn = replace(QUICK, contradictions_max=1_000, bets_at_once=16)
    async with seamless_world(pool, store, "op1", settings=stubborn) as world:
        for player in PLAYERS:
            await world.guest(player, START)
        server = world.server
        for kind in ("bet", "win", "rollback"):
            honest = [trick for trick in BAD if kind == "bet" or trick is not Trick.REFUSES]
            server.script(kind, *(dice.choice([Trick.HONEST, *honest]) for _ in range(60)))
        world.start_work()
        tables = [Table(world, random.Random(100 * seed + number), f"t{number}.1") for number in range(3)]
        await asyncio.gather(*(table.take_bets() for table in tables))
        if dice.random() < 0.5:
            await server.crash()
            ends = [asyncio.create_task(table.end()) for table in tables]
            await asyncio.wait(ends)
            await server.start()
        else:
            await asyncio.gather(*(table.end() for table in tables))
        await world.agrees_with_partners()
        assert await world.hold_states_left() <= {"settled", "released", "refused"}
        for player in PLAYERS:
            expected = START + sum(table.change(player) for table in tables)
            assert server.balances[player, "EUR"] == expected, player
        assert world.told.parked_calls == []
        assert world.told.failures == []
