"""Reserves whose antes are gone: what is given back, what is remembered, what is left to the round's end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from rules_core.round import events as e
from tests.table.funding.calls import DEADLINE_S, Observed
from tests.wallet.ledger.world import NOW, ROUND_CANCELLED
from upcard_table.adapters.wallet.freeing import Freeing, Reserve, reserves_gone
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.ports import FundsUnavailable, WantedHolds

ROUND = "t1.7"
ANTE = e.DeclinedStake(2, "ante", 100)
BET = e.DeclinedStake(2, "bet", 200)


def gone(*bets: str) -> list[e.RoundEvent]:
    """The antes of these bets are withdrawn."""
    return [e.BetWithdrawn("p1", "undo", (e.WithdrawnStake(bet, 2, "ante", 100),), NOW) for bet in bets]


def held(bet_id: str, *stakes: e.DeclinedStake, round_name: str = ROUND) -> WantedHolds:
    return WantedHolds(round_name, "p1", "EUR", bet_id, stakes or (ANTE, BET), "corr")


@dataclass
class Wallet:
    """Lists and releases, as a test says."""

    listed: dict[str, list[tuple[Reserve, str]]] = field(default_factory=dict)
    released: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    failures: int = 0
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def find(self, round_name: str) -> Iterable[tuple[Reserve, str]]:
        self.lists.append(round_name)
        return self.listed.get(round_name, [])

    async def release(self, holds: Sequence[str]) -> None:
        if self.failures:
            self.failures -= 1
            raise FundsUnavailable("by a test")
        self.released += holds
        self.batches.append(len(holds))
        self.heard.set()

    async def until_released(self, number: int) -> list[str]:
        async with asyncio.timeout(DEADLINE_S):
            while len(self.released) < number:
                self.heard.clear()
                await self.heard.wait()
        return self.released


@contextlib.asynccontextmanager
async def at_work(
    wallet: Wallet, settings: AskingSettings | None = None, observed: Observed | None = None
) -> AsyncIterator[Freeing]:
    chosen = settings or AskingSettings(first_pause_s=0.001)
    freeing = Freeing(wallet.find, wallet.release, chosen, observed)
    ending = asyncio.Event()
    running = asyncio.create_task(freeing.run(ending))
    try:
        yield freeing
    finally:
        ending.set()
        async with asyncio.timeout(DEADLINE_S):
            await running


async def test_what_was_held_here_is_given_back_without_asking_for_a_list() -> None:
    wallet = Wallet()
    async with at_work(wallet) as freeing:
        freeing.held(held("b1"), ["ante-1", "bet-1"])
        freeing.held(held("b2"), ["ante-2", "bet-2"])
        freeing.note(ROUND, gone("b1"))
        assert await wallet.until_released(1) == ["bet-1"]
    assert wallet.lists == []


async def test_of_a_round_that_was_taken_over_the_wallet_is_asked() -> None:
    theirs = [(Reserve(ROUND, "p1", bet, 2), f"hold-{bet}") for bet in ("b1", "b2")]
    wallet = Wallet({ROUND: theirs})
    async with at_work(wallet) as freeing:
        freeing.note(ROUND, gone("b1", "b9"))
        assert await wallet.until_released(1) == ["hold-b1"]
    assert wallet.lists == [ROUND]


async def test_a_wallet_that_fails_is_asked_again() -> None:
    wallet, observed = Wallet(failures=2), Observed()
    async with at_work(wallet, observed=observed) as freeing:
        freeing.held(held("b1"), ["ante-1", "bet-1"])
        freeing.note(ROUND, gone("b1"))
        assert await wallet.until_released(1) == ["bet-1"]
    assert observed.reserves == 0


async def test_after_three_failures_it_is_left_to_the_end_and_others_are_not() -> None:
    wallet, observed = Wallet(failures=3), Observed()
    async with at_work(wallet, observed=observed) as freeing:
        freeing.held(held("b1"), ["ante-1", "bet-1"])
        freeing.held(held("b2"), ["ante-2", "bet-2"])
        freeing.note(ROUND, gone("b1"))
        async with asyncio.timeout(DEADLINE_S):
            while not observed.reserves:  # noqa: ASYNC110 - told by another task
                await asyncio.sleep(0)
        freeing.note(ROUND, gone("b2"))
        assert await wallet.until_released(1) == ["bet-2"]
    assert observed.reserves == 1


async def test_a_rounds_end_ends_it() -> None:
    wallet = Wallet()
    async with at_work(wallet) as freeing:
        freeing.held(held("b1"), ["ante-1", "bet-1"])
        freeing.held(held("b1", round_name="t1.8"), ["ante-8", "bet-8"])
        freeing.note(ROUND, [*gone("b1"), ROUND_CANCELLED])
        freeing.note("t1.8", gone("b1"))
        assert await wallet.until_released(1) == ["bet-8"]


async def test_what_waits_and_what_is_remembered_is_bounded() -> None:
    wallet, observed = Wallet(), Observed()
    settings = AskingSettings(freeing_max=3, releases_max=2, reserves_known_max=4, first_pause_s=0.001)
    async with at_work(wallet, settings, observed) as freeing:
        for number in range(4):
            freeing.held(held(f"b{number}"), [f"ante-{number}", f"bet-{number}"])
        freeing.note(ROUND, gone("b0", "b1", "b2", "b3"))
        assert await wallet.until_released(3) == ["bet-0", "bet-1", "bet-2"]
        assert wallet.batches == [2, 1]
        assert observed.reserves == 1
        for number in range(5):
            freeing.held(held("b1", round_name=f"t2.{number + 1}"), ["ante", f"bet-{number}"])
        freeing.note("t2.1", gone("b1"))
        freeing.note("t2.5", gone("b1"))
        assert (await wallet.until_released(4))[3:] == ["bet-4"]
    assert wallet.lists == ["t2.1"], "the oldest is forgotten first, and looked up"


def test_an_event_frees_the_reserves_of_its_open_antes_alone() -> None:
    stakes = (
        e.WithdrawnStake("b1", 2, "ante", 100),
        e.WithdrawnStake("b1", 2, "bonus_player", 50),
        e.WithdrawnStake("b2", 1, "ante", 100),
        e.WithdrawnStake("b2", 1, "bet", 200),
    )
    assert reserves_gone(ROUND, e.BetWithdrawn("p1", "clear", stakes, NOW)) == [Reserve(ROUND, "p1", "b1", 2)]
    declined = e.BetDeclined("p1", "EUR", "b3", (ANTE,), "funds_refused", NOW, "PlaceBet")
    assert reserves_gone(ROUND, declined) == [Reserve(ROUND, "p1", "b3", 2)]
    named = e.BetDeclined("p1", "EUR", "b3", (ANTE, BET), "hold_answered_late", NOW, "DeclineBet")
    assert reserves_gone(ROUND, named) == [], "the wallet frees what an event names"
    assert reserves_gone(ROUND, ROUND_CANCELLED) == []


def test_only_a_bet_beside_an_open_ante_is_a_reserve() -> None:
    wallet = Wallet()
    freeing = Freeing(wallet.find, wallet.release)
    blind = (e.DeclinedStake(1, "ante", 100, blind=True), e.DeclinedStake(1, "bet", 200, blind=True))
    freeing.held(held("b1", *blind), ["ante-1", "bet-1"])
    freeing.held(held("b2", BET), ["bet-2"])
    freeing.held(held("b3", ANTE, e.DeclinedStake(3, "bet", 200)), ["ante-3", "bet-3"])
    assert freeing.remembered == 0
    freeing.held(held("b4"), ["ante-4", "bet-4"])
    freeing.held(held("b4"), ["ante-4", "bet-4"])
    assert freeing.remembered == 1
