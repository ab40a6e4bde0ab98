"""Random rounds with a wallet that dawdles, a log that loses answers, owners that die: what must hold.

One outcome for each bet id, answers that the stream bears out, no hold that nobody speaks of, and a replay
that agrees.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from eventstore import EventStoreError, OutcomeUnknown, VersionConflict
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_players import RandomPlayers
from rules_core.round import commands as c
from rules_core.round import events as e
from tests.table.owner.hands import HELD, HandFunds
from tests.table.owner.shaky import ShakyLog
from tests.table.owner.world import DEADLINE_S, TABLE, Owned, player_by
from upcard_table.app.calls import Declined, Done, RoundWork
from upcard_table.app.funding.resolving import is_default_stake
from upcard_table.app.ports import Batch, HoldsAnswer, OpenHold, PreviousOwner, WantedHolds

RULESETS = ("live-shared@1", "dark-boxes@1", "classic@1", "three-box@1", "four-box@1")
PLAYERS = ("p1", "p2", "p3", "p4")
STEPS = 300
REFUSED = HoldsAnswer("refused", "funds_refused")
UNKNOWN = HoldsAnswer("unknown")


@dataclass
class Wallet(HandFunds):
    """Answers at once, later, or never; and can say which holds it has."""

    dice: Dice = field(default_factory=lambda: Dice(0))
    said: dict[str, HoldsAnswer] = field(default_factory=dict)

    def decide(self, wanted: WantedHolds) -> HoldsAnswer | None:
        """What it says to a question: the same bet id gets the same word."""
        known = self.said.get(wanted.bet_id)
        if known is None:
            if self.dice.chance(30):
                return None
            known = self.dice.pick((HELD, HELD, HELD, HELD, REFUSED, UNKNOWN))
            self.said[wanted.bet_id] = known
        return known

    def speak(self) -> None:
        """Answer some of the open questions."""
        for wanted, answer in self.asked:
            if not answer.done() and self.dice.chance(60):
                answer.set_result(self.said.setdefault(wanted.bet_id, self.dice.pick((HELD, HELD, REFUSED))))

    def maybe_held(self) -> dict[str, WantedHolds]:
        """By bet id, what it holds or may hold."""
        return {
            wanted.bet_id: wanted
            for wanted, _ in self.asked
            if self.said.get(wanted.bet_id, UNKNOWN).outcome != "refused"
        }


@dataclass
class Life:
    """A table, its players and its troubles."""

    owned: Owned
    wallet: Wallet
    log: ShakyLog
    dice: Dice
    token: int = 1
    asked: list[tuple[RoundWork, asyncio.Future[Any]]] = field(default_factory=list)
    calls: int = 0

    def trouble(self, _: Batch) -> Exception | None:
        """Now and then a batch is not stored."""
        return VersionConflict("round-t1.1", 1, 2) if self.dice.chance(3) else None

    def silence(self, _: Batch) -> Exception | None:
        """Now and then nobody knows whether it was."""
        return OutcomeUnknown((), "cut") if self.dice.chance(3) else None

    def say(self, command: c.Command) -> None:
        """A player's command, in a call of its own with a request id; nobody waits for it."""
        player: str = command.player  # type: ignore[union-attr]  # a player's
        work = RoundWork(command, player_by(player))
        self.calls += 1
        self.asked.append((work, self.owned.send(work, request_id=f"r{self.calls}")))

    async def step(self, crowd: RandomPlayers) -> None:
        """Something happens."""
        owned, dice, state = self.owned, self.dice, self.owned.live.state
        roll = dice.below(100)
        now = state.window.opened_at if state.window is not None else state.last_at
        if roll < 3:
            await self.die()
        elif roll < 20:
            self.wallet.speak()
        elif roll < 26 and state.window is not None:
            owned.clock.move(dice.below(4_000))
        elif roll < 34 and self.asked:
            await self.again()
        elif state.window is not None:
            self.play(crowd, now)
        elif state.awaited:
            await self.lay()
        else:
            owned.clock.move(dice.below(2_000))
        await asyncio.sleep(0)

    def play(self, crowd: RandomPlayers, now: str) -> None:
        """Players do what the open window allows them."""
        state, sealed = self.owned.live.state, self.owned.live.sealed
        if state.step == "betting":
            command = crowd.bets(state, sealed, self.dice.pick(PLAYERS), now, self.new_id())
            if command is not None:
                self.say(command)
            return
        for command in crowd.decisions(state, sealed, now, self.ids()):
            if self.dice.chance(40):
                self.say(command)
        self.owned.clock.move(self.dice.below(12_000))

    def new_id(self) -> str:
        """A bet id."""
        return f"b{self.dice.hex(12)}"

    def ids(self) -> Iterator[str]:
        """Bet ids."""
        while True:
            yield self.new_id()

    async def again(self) -> None:
        """Somebody repeats a command; it has at most one effect."""
        work, _ = self.dice.pick(self.asked)
        self.asked.append((work, self.owned.send(work)))

    async def lay(self) -> None:
        """The next card comes out; where the table was loaded anew meanwhile, it may have to wait."""
        await self.owned.one(self.owned.next_scan())

    async def die(self) -> None:
        """The owner dies; another one takes over some time later."""
        owned = self.owned
        died_us = owned.clock.us
        await owned.kill(owned.owner)
        owned.clock.move(self.dice.below(3_000))
        self.wallet.listed = [
            OpenHold(wanted.player, bet_id, wanted.wagers, wanted.currency)
            for bet_id, wanted in self.wallet.maybe_held().items()
        ]
        self.token += 1
        await owned.begin(token=self.token, previous=PreviousOwner(self.token - 1, died_us), log=self.log)

    async def end(self) -> None:
        """Let whatever is left happen, without more trouble."""
        owned = self.owned
        self.log.before = self.log.after = lambda _: None
        while not owned.live.ended:
            self.wallet.speak()
            if owned.live.state.awaited:
                await self.lay()
            else:
                owned.clock.move(5_000)
                await asyncio.sleep(0.005)
        for wanted, answer in self.wallet.asked:
            if not answer.done():
                answer.set_result(self.wallet.said.setdefault(wanted.bet_id, HELD))
        await owned.until(lambda: not owned.owner.waiting)


@pytest.mark.parametrize("seed", range(5))
async def test_what_must_hold_holds(owned: Owned, seed: int) -> None:
    dice = Dice(1_000 + seed)
    await owned.prepare(RULESETS[seed % len(RULESETS)], reserve_bet_with_ante=dice.chance(30))
    await owned.open_round()
    await owned.end()
    wallet = Wallet(dice=dice)
    wallet.at_once = wallet.decide
    owned.funds = wallet
    log = ShakyLog(owned.log)
    life = Life(owned, wallet, log, dice)
    log.before, log.after = life.trouble, life.silence
    await owned.begin(token=1, log=log)
    crowd = RandomPlayers(dice, PLAYERS, "EUR")
    for _ in range(STEPS):
        if owned.live.ended:
            break
        await life.step(crowd)
    async with asyncio.timeout(3 * DEADLINE_S):
        await life.end()
    await check(owned, life)


async def check(owned: Owned, life: Life) -> None:
    """The invariants."""
    events = await owned.events()
    assert type(events[-1]).__name__ in {"RoundSettled", "RoundCancelled", "BetDeclined"}
    ids = [bet_id for event in events if (bet_id := getattr(event, "bet_id", None)) is not None]
    assert len(ids) == len(set(ids)), "one outcome for each bet id"
    answered = 0
    for _, answer in life.asked:
        assert answer.done()
        if answer.cancelled() or isinstance(answer.exception(), EventStoreError):
            continue
        (result,) = answer.result() if not isinstance(answer.result(), bytes) else (None,)
        for position, event in _recorded(result):
            assert events[position - 1] == event, "an answer is what the stream says"
            answered += 1
    assert answered
    state, known = owned.live.state, set(ids)
    for bet_id, wanted in life.wallet.maybe_held().items():
        spoken_of = bet_id in known or is_default_stake(state, f"{TABLE}.1", wanted.player, bet_id)
        assert spoken_of, f"nobody speaks of the hold of {bet_id}"
    await owned.check_replay()


def _recorded(result: object) -> list[tuple[int, e.RoundEvent]]:
    if isinstance(result, Declined):
        return [(result.position, result.event)]
    if isinstance(result, Done):
        return [(one.position, one.event) for one in result.events]  # type: ignore[misc]  # of a round
    return []
