"""The life of hubs and of their sessions: bounds, ends, what cannot be read, what is corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eventstore.errors import LogBroken
from eventstore.memory import MemoryEventStore
from rules_core.round import commands as c
from rules_core.views.viewers import Player, Public
from tests.messaging.waiting import until
from tests.table.watching.rounds import TABLE, played
from tests.table.watching.watchers import QUICK, NothingKnown, hubs, memory, opened, record, shared, watching
from upcard_table.app.watching.feed import RoundFeed
from upcard_table.app.watching.following import TableFollower, TableUnknown
from upcard_table.app.watching.hubs import TooManyWatchers
from upcard_table.app.watching.inbox import EVENTS_MAX
from upcard_table.app.watching.session import Wanted, WatchEnded
from upcard_table.app.watching.sources import Sources
from upcard_table.entrypoints.grpc.shown import ENCODING


async def test_a_table_that_nobody_opened_cannot_be_watched() -> None:
    store = memory()
    async with hubs(store) as made:
        for _ in range(2):
            with pytest.raises(TableUnknown):
                async with watching(made, Public()):
                    pass
        assert (made.sessions, made.tables) == (0, 0)


async def test_watchers_and_tables_are_bounded() -> None:
    store = memory()
    await opened(store, "classic@1")
    async with hubs(store, replace(QUICK, sessions_max=1)) as made, watching(made, Public()):
        with pytest.raises(TooManyWatchers):
            async with watching(made, Public()):
                pass
    async with hubs(store, replace(QUICK, tables_max=1)) as made:
        async with watching(made, Public()) as watcher:
            await watcher.take()
            with pytest.raises(TooManyWatchers):
                await made.round_view("t2", 0, Wanted(Public()))
        with pytest.raises(TableUnknown):  # there is room for it now
            await made.round_view("t2", 0, Wanted(Public()))


async def test_a_table_that_nobody_watches_is_forgotten() -> None:
    store = memory()
    await opened(store, "classic@1")
    async with hubs(store, replace(QUICK, idle_s=0.01)) as made:
        async with watching(made, Public()) as watcher:
            await watcher.take()
        await until(lambda: not made.tables, what="nothing is kept")


async def test_events_that_cannot_be_read_end_the_sessions_and_a_new_one_tries_again() -> None:
    store = memory()
    await opened(store, "classic@1")
    async with hubs(store) as made, watching(made, Public()) as watcher:
        await watcher.take()
        broken = played("classic@1", 1)
        await record(store, replace(broken, events=broken.events[1:3]))
        with pytest.raises(WatchEnded, match="table_unreadable"):
            await watcher.take()


async def test_a_stop_ends_all_sessions() -> None:
    store = memory()
    await opened(store, "classic@1")
    async with hubs(store) as made:
        context = watching(made, Public())
        watcher = await context.__aenter__()
        await watcher.take()
    with pytest.raises(WatchEnded, match="server_stopping"):
        await watcher.take()
    await context.__aexit__(None, None, None)


async def test_a_correction_of_a_round_that_is_kept_is_shown() -> None:
    round_ = played("classic@1", 1)
    store = memory()
    await opened(store, "classic@1")
    async with (
        hubs(store) as made,
        watching(made, Public()) as watcher,
        watching(made, Player("p1")) as player,
    ):
        await watcher.take()
        await player.take()
        await record(store, round_)
        before = len(round_.events)
        await record(store, played("classic@1", 2, number=2))
        await watcher.until_shown(2, 1)
        round_.do(c.Resettle("wrong_result", "staff:s1", "staff:s2", refund=True))
        await record(store, round_, first=before)
        await watcher.until(lambda got: any(one.type == "RoundResettled" for one in shared(got)))
        await player.until(
            lambda got: any(one.round == 1 and one.position > before for one in got.own.events)
        )


class Replaced:
    """A log that is another one from some moment on, as after a restore."""

    def __init__(self, store: MemoryEventStore) -> None:
        self.now = store

    def __getattr__(self, name: str) -> object:
        return getattr(self.now, name)


class Deaf:
    """A listener who does nothing."""

    def told(self, players: set[str]) -> None:
        """See `Listener`."""

    def changed(self) -> None:
        """See `Listener`."""

    def leaves(self, feed: RoundFeed) -> None:
        """See `Listener`."""


async def test_a_log_that_was_restored_to_before_is_not_gone_on_with() -> None:
    """What is in memory would be shown for true, and what is new be taken for known."""
    round_ = played("classic@1", 1)
    log: Any = Replaced(memory())
    await opened(log, "classic@1")
    await record(log, round_)
    follower = TableFollower(TABLE, Sources(log, log, NothingKnown()), ENCODING.events, Deaf())
    await follower.open()
    follower.inbox.miss()
    await follower.take_in()
    log.now = memory()
    await opened(log, "classic@1")
    await record(log, round_, last=10)
    follower.inbox.miss()
    with pytest.raises(LogBroken, match=r"round-t1\.1 ends at 10"):
        await follower.take_in()


async def test_events_that_are_too_many_to_wait_are_read_again() -> None:
    store = memory()
    await opened(store, "classic@1")
    round_ = played("classic@1", 1)
    follower = TableFollower(TABLE, Sources(store, store, NothingKnown()), ENCODING.events, Deaf())
    await follower.open()
    await record(store, round_)
    for position in range(EVENTS_MAX + 1):
        follower.inbox.put(round_.stream, position, b"not even looked at")
    await follower.take_in()
    assert follower.latest is not None
    assert follower.latest.position == len(round_.events)
