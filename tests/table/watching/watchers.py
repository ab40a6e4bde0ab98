"""Hubs over a log in memory, and watchers who keep what they are told."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from eventstore.memory import MemoryEventStore
from eventstore.private import Keyring
from rules_core.views.viewers import Viewer
from tests.table.watching.rounds import TABLE, Played, append, append_to_table, opening
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.hubs import Hubs, Watching
from upcard_table.app.watching.resuming import ResumeTokens
from upcard_table.app.watching.session import Session, Wanted
from upcard_table.app.watching.sources import KnownTable, Sources
from upcard_table.entrypoints.grpc.shown import ENCODING, message

DEADLINE_S = 10.0
QUICK = Watching(updates_per_s=50)
KEY = b"k" * 32

Event = tuple[int, int, str, bytes]
"""Round, position, type and everything else of a shown event."""


class NothingKnown:
    """An index that knows nothing: everything is read."""

    async def find(self, table: str) -> KnownTable:
        """See `TableIndex`."""
        return KnownTable(table)

    async def page(self, *, after: str, limit: int, open_only: bool) -> list[KnownTable]:
        """See `TableIndex`."""
        raise NotImplementedError(after, limit, open_only)


def memory() -> MemoryEventStore:
    """A log with private parts."""
    return MemoryEventStore(keyring=Keyring({"k1": b"1" * 32}, writes_with="k1"))


@contextlib.asynccontextmanager
async def hubs(store: MemoryEventStore, how: Watching = QUICK) -> AsyncIterator[Hubs]:
    """An instance's hubs, fed."""
    made = Hubs(Sources(store, store, NothingKnown()), ENCODING, ResumeTokens(KEY), how)
    ending = asyncio.Event()
    running = asyncio.create_task(made.run(ending))
    try:
        yield made
    finally:
        ending.set()
        await asyncio.wait_for(running, DEADLINE_S)


@dataclass
class Watcher:
    """One who watches, and all that came."""

    session: Session
    messages: list[pb.WatchTableResponse] = field(default_factory=list, repr=False)

    async def take(self) -> pb.WatchTableResponse:
        """The next message."""
        async with asyncio.timeout(DEADLINE_S):
            told = await self.session.next()
        # As it would arrive.
        got = pb.WatchTableResponse.FromString(message(told).SerializeToString())
        self.messages.append(got)
        return got

    async def until(self, condition: Callable[[pb.WatchTableResponse], bool]) -> None:
        """Take messages up to one of which this holds."""
        while not condition(await self.take()):
            pass

    async def until_shown(self, number: int, position: int) -> None:
        """Take messages until this event of a round was shown to everybody."""
        while (number, position) not in self.shown:
            await self.take()

    @property
    def shown(self) -> set[tuple[int, int]]:
        """Rounds and positions of what everybody was shown."""
        return {(one.round, one.position) for got in self.messages for one in shared(got)}


def shared(got: pb.WatchTableResponse) -> list[pb.ShownEvent]:
    """Events that everybody is shown."""
    return list(pb.SharedUpdate.FromString(got.shared).events) if got.WhichOneof("update") == "shared" else []


def said(message: pb.WatchTableResponse) -> list[object]:
    """Everything that a message says, as JSON."""
    snapshot, own = message.snapshot, message.own
    found: list[object] = [json.loads(raw) for raw in (snapshot.view, own.view) if raw]
    for event in (*own.events, *shared(message)):
        found += [json.loads(event.payload), [[card.place, card.card] for card in event.cards]]
    if message.shared and (state := pb.SharedUpdate.FromString(message.shared).state):
        found.append(json.loads(state))
    return found


def plain(event: pb.ShownEvent) -> Event:
    """An event as a comparable value."""
    return event.round, event.position, event.type, event.SerializeToString(deterministic=True)


def everything(messages: list[pb.WatchTableResponse]) -> tuple[list[Event], list[Event]]:
    """What was told: to everybody, and to the player alone; each in its order."""
    public = [plain(event) for got in messages for event in shared(got)]
    own = [plain(event) for got in messages for event in got.own.events]
    return public, own


@contextlib.asynccontextmanager
async def watching(made: Hubs, viewer: Viewer, token: str = "", **more: bool) -> AsyncIterator[Watcher]:
    """Watch the table."""
    async with made.watch(TABLE, Wanted(viewer, "EUR", **more), token) as session:
        yield Watcher(session)


async def opened(store: MemoryEventStore, ruleset: str) -> int:
    """A table that was opened; the position of its stream."""
    return await append_to_table(store, *opening(ruleset))


async def record(store: MemoryEventStore, round_: Played, first: int = 0, last: int | None = None) -> None:
    """Store events of a round, those from `first` on."""
    await append(store, round_.stream, round_.events[first:last], after=first)
