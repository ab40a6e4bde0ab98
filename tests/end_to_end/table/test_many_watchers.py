"""Ten thousand players of one shared table, all of them watching: bounded in memory and time."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
import tracemalloc
from dataclasses import replace

from rules_core.round import events as e
from rules_core.views.viewers import Player
from tests.messaging.waiting import until
from tests.table.watching.rounds import TABLE, Played, Recorded, append, played
from tests.table.watching.watchers import hubs, memory, opened
from upcard_table.app.watching.hubs import Watching
from upcard_table.app.watching.session import OwnUpdate, Session, SharedUpdate, Wanted

PLAYERS = 10_000
CHUNK = 500
WITHIN_S = 240.0
LONGEST_TURN_S = 1.0
"""Of the processor's time, that anything else on the event loop has to wait."""
SESSIONS_BYTES = 100_000_000
"""Of all sessions, their readers' tasks and the tracing itself, nothing having happened yet."""


def crowded() -> list[Recorded]:
    """A round of a few, in which ten thousand more bet, exchange a card and are settled like the first."""
    round_ = next(made for made in (played("live-shared@1", seed, 2) for seed in range(50)) if buys_one(made))
    crowd = [f"c{number}" for number in range(PLAYERS)]
    found: list[Recorded] = []
    for recorded in round_.events:
        event = recorded.event
        if isinstance(event, e.BettingClosed):
            stake = (e.Stake(2, "ante", 100),)
            found += [
                Recorded(
                    e.BetPlaced(player, "EUR", f"bet-{player}", "place", stake, event.closed_at),
                    recorded.command,
                    None,
                )
                for player in crowd
            ]
        if isinstance(event, e.OptionsClosed):
            found += [
                Recorded(
                    e.OptionChosen(player, 2, "exchange", event.closed_at, (0,), 100, f"option-{player}"),
                    recorded.command,
                    None,
                )
                for player in crowd
            ]
        if isinstance(event, e.RoundSettled):
            settled = next(one.event for one in round_.events if isinstance(one.event, e.PlayerSettled))
            assert isinstance(settled, e.PlayerSettled)
            found += [Recorded(replace(settled, player=player), recorded.command, None) for player in crowd]
        found.append(recorded)
    return found


def buys_one(round_: Played) -> bool:
    """Whether somebody exchanges cards, so that switch cards are laid face down."""
    return any(isinstance(one.event, e.OptionChosen) and one.event.positions for one in round_.events)


class Reader:
    """Takes messages and counts them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.cards = self.seq = 0
        self.over = {"own": False, "shared": False}
        self.shared: set[int] = set()
        """Which bytes: the same objects for all."""

    async def run(self) -> None:
        """Read until the player's own settlement, and the round's."""
        while not all(self.over.values()):
            told = await self.session.next()
            assert told.seq == self.seq + 1
            self.seq = told.seq
            match told.update:
                case OwnUpdate() as own:
                    self.cards += sum(len(item.cards) for item in own.items)
                    self.over["own"] |= any(isinstance(item.event, e.PlayerSettled) for item in own.items)
                case SharedUpdate(body=body):
                    self.shared.add(id(body))
                    self.over["shared"] |= b"RoundSettled" in body
                case _:
                    pass


async def test_ten_thousand_watch_one_table() -> None:
    round_ = crowded()
    store = memory()
    await opened(store, "live-shared@1")
    async with hubs(store, Watching()) as made, contextlib.AsyncExitStack() as exits:
        gc.collect()
        tracemalloc.start()
        readers = [
            Reader(await exits.enter_async_context(made.watch(TABLE, Wanted(Player(f"c{number}")))))
            for number in range(PLAYERS)
        ]
        running = [asyncio.create_task(reader.run()) for reader in readers]
        await until(lambda: all(reader.seq for reader in readers), what="all snapshots", timeout_s=WITHIN_S)
        sessions, _ = tracemalloc.get_traced_memory()
        assert sessions < SESSIONS_BYTES
        tracemalloc.stop()

        gaps: list[float] = []
        done = asyncio.Event()

        async def breathe() -> None:
            """Others on the event loop go on meanwhile: how long they have to wait at the most."""
            while not done.is_set():
                used_s = time.process_time()
                await asyncio.sleep(0)
                gaps.append(time.process_time() - used_s)
                await asyncio.sleep(0.005)

        breathing = asyncio.create_task(breathe())
        stream = played("live-shared@1", 1).stream
        began = asyncio.get_running_loop().time()
        for first in range(0, len(round_), CHUNK):
            await append(store, stream, round_[first : first + CHUNK], after=first)
            await asyncio.sleep(0.05)
        async with asyncio.timeout(WITHIN_S):
            await asyncio.gather(*running)
        took_s = asyncio.get_running_loop().time() - began
        done.set()
        await breathing
        assert all(reader.cards == 1 for reader in readers)
        bodies = set().union(*(reader.shared for reader in readers))
        assert len(bodies) <= took_s * 4 + 2
        assert max(gaps) < LONGEST_TURN_S
