"""What stands around an owner under test: a clock, a wallet, a fence and figures, in the test's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rules_core.round import events as e
from rules_core.round.refusal import Refusal
from upcard_table.app.calls import By
from upcard_table.app.ports import FundsUnavailable, HoldsAnswer, OpenHold, WantedHolds

START_US = 1_790_000_000_000_000
HELD = HoldsAnswer("held")


class HandClock:
    """Stands still until the test moves it on."""

    def __init__(self) -> None:
        self.us = START_US
        self._moved: list[asyncio.Event] = []

    def now_us(self) -> int:
        """See `Clock`."""
        return self.us

    def move(self, milliseconds: float) -> None:
        """Let time pass."""
        self.us += int(milliseconds * 1_000)
        for event in self._moved:
            event.set()

    async def wait(self, wake: asyncio.Event, until_us: int | None) -> None:
        """See `Clock`: until woken, or until the clock was moved there."""
        moved = asyncio.Event()
        self._moved.append(moved)
        try:
            while not wake.is_set() and (until_us is None or self.us < until_us):
                moved.clear()
                waiters = [asyncio.ensure_future(wake.wait()), asyncio.ensure_future(moved.wait())]
                try:
                    await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for waiter in waiters:
                        waiter.cancel()
                    await asyncio.gather(*waiters, return_exceptions=True)
        finally:
            self._moved.remove(moved)


@dataclass
class HandFunds:
    """A wallet that holds at once, or answers when the test says so."""

    at_once: Callable[[WantedHolds], HoldsAnswer | None] = lambda _: HELD
    asked: list[tuple[WantedHolds, asyncio.Future[HoldsAnswer]]] = field(default_factory=list)
    listed: Sequence[OpenHold] = ()
    away: bool = False
    freed: list[tuple[str, e.RoundEvent]] = field(default_factory=list)

    def ask(self, wanted: WantedHolds, deadline_s: float) -> asyncio.Future[HoldsAnswer]:
        """See `Funds`."""
        assert deadline_s > 0
        answer: asyncio.Future[HoldsAnswer] = asyncio.get_running_loop().create_future()
        self.asked.append((wanted, answer))
        found = self.at_once(wanted)
        if found is not None:
            answer.set_result(found)
        return answer

    def answer(self, bet_id: str, answer: HoldsAnswer = HELD) -> None:
        """Answer the latest question for this bet."""
        future = [future for wanted, future in self.asked if wanted.bet_id == bet_id][-1]
        if not future.done():
            future.set_result(answer)

    def bets(self) -> list[str]:
        """The bet ids that were asked for, in their order."""
        return [wanted.bet_id for wanted, _ in self.asked]

    def free_reserves(self, round_name: str, events: Sequence[e.RoundEvent]) -> None:
        """See `Funds`."""
        self.freed += [(round_name, event) for event in events]

    async def open_holds(self, round_name: str, deadline_s: float) -> Sequence[OpenHold]:
        """See `Funds`."""
        assert round_name
        assert deadline_s > 0
        if self.away:
            raise FundsUnavailable
        return self.listed


@dataclass
class HandFence:
    """Fences, or refuses as the test says."""

    refusal: Refusal | None = None
    asked: list[str] = field(default_factory=list)

    async def before_correction(self, round_name: str, by: By, deadline_s: float) -> Refusal | None:
        """See `Fence`."""
        assert by.actor
        assert deadline_s > 0
        self.asked.append(round_name)
        return self.refusal


@dataclass
class Figures:
    """Notes what the owner tells of itself."""

    dropped_for: list[str] = field(default_factory=list)
    refused_for: list[str] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)
    batches: list[tuple[int, int]] = field(default_factory=list)
    floor: list[bool] = field(default_factory=list)

    def batch(self, works: int, events: int, took_s: float) -> None:
        """See `OwnerObserver`."""
        assert took_s >= 0
        self.batches.append((works, events))

    def refused(self, slug: str) -> None:
        """See `OwnerObserver`."""
        self.refused_for.append(slug)

    def declined(self, reason: str) -> None:
        """See `OwnerObserver`."""
        assert reason

    def dropped(self, why: str) -> None:
        """See `OwnerObserver`."""
        self.dropped_for.append(why)

    def late(self, late_s: float) -> None:
        """See `OwnerObserver`."""
        self.late_s.append(late_s)

    def taken_over(self, took_s: float) -> None:
        """See `OwnerObserver`."""
        assert took_s >= 0

    def waiting_for_floor(self, table: str, *, waits: bool) -> None:
        """See `OwnerObserver`."""
        assert table
        self.floor.append(waits)
