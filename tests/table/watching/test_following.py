"""Keeping up with a table: what the log tells is only a hint, and what was before is read when needed."""

from __future__ import annotations

import pytest

from eventstore.memory import MemoryEventStore
from rules_core.views.viewers import Player, Public
from tests.table.watching.rounds import TABLE, Played, append_to_table, opening, played
from tests.table.watching.test_hubs import Deaf
from tests.table.watching.watchers import (
    KEY,
    NothingKnown,
    everything,
    hubs,
    memory,
    opened,
    record,
    shared,
    watching,
)
from upcard_table.app.watching.feed import PrivatePartMissing, RoundFeed
from upcard_table.app.watching.following import TableFollower
from upcard_table.app.watching.resuming import Cursor, Mark, ResumeTokens
from upcard_table.app.watching.sources import KnownTable, Sources, TableIndex, last_round
from upcard_table.app.watching.table_feed import EVENTS_KEPT
from upcard_table.domain import events as t
from upcard_table.domain.evolve import fold
from upcard_table.domain.state import NEW_TABLE
from upcard_table.domain.words import table_stream
from upcard_table.entrypoints.grpc.shown import ENCODING

RULESET = "three-box@1"


class AllKnown(NothingKnown):
    """An index that knows the table as it is after these events."""

    def __init__(self, *events: t.TableEvent, rounds: int = 0) -> None:
        self._known = KnownTable(TABLE, fold(NEW_TABLE, events), len(events), rounds, "settled")

    async def find(self, table: str) -> KnownTable:
        """See `TableIndex`."""
        assert table == TABLE
        return self._known


def rounds_of(count: int) -> list[Played]:
    """The first rounds of a table."""
    return [played(RULESET, number, number=number) for number in range(1, count + 1)]


def by_hand(times: int) -> list[t.TableEvent]:
    """Manual mode, entered and left again and again."""
    both: tuple[t.TableEvent, ...] = (t.ManualModeEntered("test", 0), t.ManualModeLeft(0))
    return [event for _ in range(times) for event in both]


async def following(store: MemoryEventStore, index: TableIndex | None = None) -> TableFollower:
    """A follower that has begun."""
    made = TableFollower(TABLE, Sources(store, store, index or NothingKnown()), ENCODING.events, Deaf())
    await made.open()
    return made


async def test_events_that_were_not_told_are_read() -> None:
    store = memory()
    position = await opened(store, RULESET)
    first, second = rounds_of(2)
    await record(store, first, last=10)
    made = await following(store)
    await record(store, first, first=10)
    await append_to_table(store, t.DealerSignedOut("d1"), t.DealerSignedIn("d2"), after=position)
    made.inbox.put(first.stream, len(first.events), b"")
    made.inbox.put(table_stream(TABLE), position + 2, b"")
    await made.take_in()
    assert made.latest is not None
    assert (made.latest.position, made.feed.position, made.feed.state.dealer) == (
        len(first.events),
        position + 2,
        "d2",
    )
    await record(store, second)
    for known in (0, 5):  # what is known already changes nothing
        made.inbox.put(first.stream, known, b"")
    made.inbox.put(second.stream, 3, b"")
    await made.take_in()
    assert (made.latest.number, made.latest.position) == (2, len(second.events))


async def test_rounds_before_the_last_two_are_read_for_who_goes_on_from_there() -> None:
    store = memory()
    await opened(store, RULESET)
    rounds = rounds_of(4)
    for round_ in rounds:
        await record(store, round_)
    token = ResumeTokens(KEY).issue(f"{TABLE} player:p1 all", Cursor(7, 2, {1: Mark(9, 1), 2: Mark(3, 0)}))
    async with hubs(store) as made, watching(made, Player("p1"), token) as watcher:
        await watcher.until_shown(4, rounds[-1].last_public())
    public, own = everything(watcher.messages)
    assert [number for number, *_ in public] == sorted(number for number, *_ in public)
    assert {number for number, *_ in (*public, *own)} <= {2, 3, 4}
    assert watcher.messages[0].seq == 8


async def test_the_tables_events_before_the_index_are_read_for_who_goes_on_from_there() -> None:
    store = memory()
    events = [*opening(RULESET), *by_hand(20)]
    await append_to_table(store, *events)
    made = await following(store, AllKnown(*events))
    assert (made.feed.position, made.feed.reaches_back_to) == (len(events), len(events))
    assert await made.reach_back(Cursor(1, 2), "public", None)
    assert made.feed.reaches_back_to == 2
    assert await made.reach_back(Cursor(1, 1), "public", None)
    told = [made.feed.after(position) for position in range(1, len(events))]
    assert [one.item.event for one in told if one is not None] == events[1:]
    assert made.feed.after(len(events)) is None


async def test_too_many_events_of_the_table_ago_is_too_long_ago() -> None:
    store = memory()
    events = [*opening(RULESET), *by_hand(EVENTS_KEPT // 2)]
    await append_to_table(store, *events)
    made = await following(store)
    assert made.feed.reaches_back_to == 2
    assert not await made.reach_back(Cursor(1, 1), "public", None)
    assert await made.reach_back(Cursor(1, 2), "public", None)


@pytest.mark.parametrize("known", [0, 1, 3, 9])
async def test_the_last_round_is_found_from_whatever_is_known(known: int) -> None:
    store = memory()
    await opened(store, RULESET)
    for number in range(1, 10):
        await record(store, played(RULESET, 1, number=number), last=1)
    assert await last_round(store, TABLE, known) == 9


async def test_a_snapshot_of_a_table_that_has_no_round_yet() -> None:
    store = memory()
    await opened(store, RULESET)
    (round_,) = rounds_of(1)
    async with hubs(store) as made, watching(made, Public()) as watcher:
        first = (await watcher.take()).snapshot
        assert (first.round, first.position, first.view, first.table.round) == (0, 0, b"", 0)
        await record(store, round_)
        await watcher.until(lambda got: any(one.type == "RoundOpened" for one in shared(got)))


def test_a_private_part_that_cannot_be_read_counts_as_missing() -> None:
    feed = RoundFeed(TABLE, 1)
    for broken in (b"", b"[]", b'{"card":"Zz","salt":"00"}', b'{"card":"As"}'):
        with pytest.raises(PrivatePartMissing) as caught:
            feed.let_in(("00" * 32,), (broken,))
        assert caught.value.__cause__ is None
        assert "Zz" not in str(caught.value)
