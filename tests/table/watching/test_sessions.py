"""Sessions: a snapshot and what follows it, once each, at any instance, for whoever keeps up."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from rules_core.rulesets.shipped import shipped_ids
from rules_core.views.table import table_view
from rules_core.views.viewers import Dealer, Operations, Player, Public, Viewer
from tests.table.watching.rounds import append_to_table, played
from tests.table.watching.watchers import (
    QUICK,
    everything,
    hubs,
    memory,
    opened,
    record,
    shared,
    watching,
)
from upcard.table.v1 import watching_pb2 as pb
from upcard_table.app.watching.hubs import Hubs, Watching
from upcard_table.app.watching.resuming import Cursor, Mark, ResumeTokens
from upcard_table.app.watching.session import Bounds, WatchEnded
from upcard_table.domain import events as t

VIEWERS: list[Viewer] = [Player("p1"), Player("nobody"), Public(), Dealer(), Operations()]


@pytest.mark.parametrize("ruleset", shipped_ids())
async def test_a_session_begins_with_a_snapshot_and_goes_on_from_there(ruleset: str) -> None:
    round_ = played(ruleset, 2)
    for viewer in VIEWERS:
        store = memory()
        await opened(store, ruleset)
        await record(store, round_, last=30)
        async with hubs(store) as made, watching(made, viewer) as watcher:
            first = await watcher.take()
            assert first.WhichOneof("update") == "snapshot"
            assert (first.seq, first.snapshot.round, first.snapshot.position) == (1, 1, 30)
            assert (first.snapshot.table.table, first.snapshot.table.dealer) == ("t1", "d1")
            await record(store, round_, first=30)
            await watcher.until_shown(1, round_.last_public())
            public, own = everything(watcher.messages)
            assert all(position > 30 for _, position, _, _ in own)
            assert [got.seq for got in watcher.messages] == list(range(1, len(watcher.messages) + 1))
            # A second one who comes at the end is told by the snapshot alone.
            async with watching(made, viewer) as late:
                snapshot = (await late.take()).snapshot
                expected = table_view(viewer, round_.state, round_.sealed, currency="EUR")
                assert json.loads(snapshot.view) == json.loads(json.dumps(expected))
            assert len(public) > 10


async def test_own_events_do_not_wait_for_the_next_public_update() -> None:
    round_ = played("dark-boxes@1", 2)
    store = memory()
    await opened(store, "dark-boxes@1")
    async with (
        hubs(store, Watching(updates_per_s=0.02)) as made,
        watching(made, Player("p1")) as watcher,
        watching(made, Player("p1"), own_only=True) as quiet,
    ):
        await watcher.take()
        await quiet.take()
        await record(store, round_)
        last = len(round_.events)
        mine = [n for n, one in enumerate(round_.events, 1) if getattr(one.event, "player", "") == "p1"]
        for one in (watcher, quiet):
            await one.until(lambda got: any(event.position == mine[-1] for event in got.own.events))
        assert last > mine[-1]
        _, own = everything(watcher.messages)
        assert {position for _, position, _, _ in own} >= set(mine)
        assert everything(quiet.messages) == ([], own)


async def test_public_updates_are_so_many_a_second_at_the_most() -> None:
    round_ = played("live-shared@1", 2)
    store = memory()
    await opened(store, "live-shared@1")
    async with hubs(store, Watching(updates_per_s=10)) as made, watching(made, Public()) as watcher:
        await watcher.take()
        began = asyncio.get_running_loop().time()
        for index in range(len(round_.events)):
            await record(store, round_, first=index, last=index + 1)
            await asyncio.sleep(0)
        await watcher.until_shown(1, round_.last_public())
        took_s = asyncio.get_running_loop().time() - began
        assert len(watcher.messages) - 1 <= took_s * 10 + 2


@pytest.mark.parametrize("ruleset", ["live-shared@1", "dark-boxes@1"])
@pytest.mark.parametrize("viewer", VIEWERS, ids=str)
async def test_a_session_goes_on_at_another_instance_as_if_nothing_had_been(
    ruleset: str, viewer: Viewer
) -> None:
    """Whatever message was the last: one session is told what several are that follow each other."""
    rounds = [played(ruleset, seed, number=seed) for seed in (1, 2)]
    store = memory()
    await opened(store, ruleset)
    async with hubs(store) as one, hubs(store) as other:
        async with watching(one, viewer) as watcher:
            await watcher.take()
            for round_ in rounds:
                for first in range(0, len(round_.events), 7):
                    await record(store, round_, first=first, last=first + 7)
                    await watcher.until_shown(round_.number, round_.last_public(first + 7))
            await watcher.until_shown(2, rounds[1].last_public())
        whole = everything(watcher.messages)
        begun = watcher.messages[0]
        for number, at in enumerate(watcher.messages[:-1]):
            async with watching(other if number % 2 else one, viewer, at.resume_token) as again:
                assert (await again.take()).seq == at.seq + 1
                while everything(watcher.messages[: number + 1] + again.messages) != whole:
                    await again.take()
                assert not any(got.WhichOneof("update") == "snapshot" for got in again.messages)
        assert begun.snapshot.round == 0


async def test_a_session_that_is_cut_off_in_the_middle_of_a_piece_goes_on_in_it() -> None:
    round_ = played("classic@1", 1)
    store = memory()
    await opened(store, "classic@1")
    await record(store, round_)
    tokens = ResumeTokens(b"k" * 32)
    async with hubs(store) as made:
        for sent in (1, 5, 20):
            token = tokens.issue("t1 public all", Cursor(sent, 2, {1: Mark(sent, 0)}))
            async with watching(made, Public(), token) as watcher:
                await watcher.until_shown(1, round_.last_public())
            positions = [position for _, position, _, _ in everything(watcher.messages)[0]]
            async with watching(
                made, Public(), tokens.issue("t1 public all", Cursor(0, 2, {1: Mark()}))
            ) as whole:
                await whole.until_shown(1, round_.last_public())
            assert positions == [position for _, position, _, _ in everything(whole.messages)[0]][sent:]


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "ééé",
        "A" * 2_000,
        ResumeTokens(b"other key" * 4).issue("t1 player:p1 all", Cursor(3, 1)),
        ResumeTokens(b"k" * 32).issue("t1 player:p2 all", Cursor(3, 1)),
        ResumeTokens(b"k" * 32).issue("t2 player:p1 all", Cursor(3, 1)),
        ResumeTokens(b"k" * 32).issue("t1 player:p1 all", Cursor(3, 99)),
        ResumeTokens(b"k" * 32).issue("t1 player:p1 all", Cursor(3, 2, {1: Mark(900, 0)})),
        ResumeTokens(b"k" * 32).issue("t1 player:p1 all", Cursor(3, 2, {1: Mark(0, 900)})),
        ResumeTokens(b"k" * 32).issue("t1 player:p1 all", Cursor(3, 2, {7: Mark()})),
    ],
    ids=range(10),
)
async def test_a_token_that_leads_nowhere_begins_anew(token: str) -> None:
    store = memory()
    await opened(store, "classic@1")
    await record(store, played("classic@1", 1))
    async with hubs(store) as made, watching(made, Player("p1"), token) as watcher:
        first = await watcher.take()
        assert (first.seq, first.WhichOneof("update"), first.resume_expired) == (1, "snapshot", True)
        assert not (await first_of_another(made)).resume_expired


async def first_of_another(made: Hubs) -> pb.WatchTableResponse:
    """The first message of a session without a token."""
    async with watching(made, Public()) as watcher:
        return await watcher.take()


async def test_a_token_of_rounds_that_are_over_for_long_has_expired() -> None:
    store = memory()
    await opened(store, "four-box@1")
    async with hubs(store) as made:
        async with watching(made, Public()) as watcher:
            await watcher.take()
            await record(store, played("four-box@1", 1))
            await watcher.until_shown(1, 1)
        token = watcher.messages[-1].resume_token
        for number in (2, 3):
            await record(store, played("four-box@1", number, number=number))
        async with watching(made, Public(), token) as going_on:
            assert not (await going_on.take()).resume_expired
            await going_on.until_shown(3, 1)
        await record(store, played("four-box@1", 4, number=4))
        async with watching(made, Public()) as other:
            while (await other.take()).snapshot.round < 4:
                break
        async with hubs(store) as elsewhere, watching(elsewhere, Public(), token) as late:
            assert (await late.take()).resume_expired


async def test_rounds_are_shown_one_after_the_other_whatever_their_shards() -> None:
    rounds = [played("three-box@1", seed, number=seed) for seed in range(1, 8)]
    store = memory()
    await opened(store, "three-box@1")
    async with hubs(store, replace(QUICK, updates_per_s=1_000)) as made, watching(made, Public()) as watcher:
        await watcher.take()
        for round_ in rounds:
            await record(store, round_)
            await watcher.until_shown(round_.number, round_.last_public())
    numbers = [number for number, _, _, _ in everything(watcher.messages)[0]]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 8))


async def test_what_happens_to_the_table_is_shown_and_the_floors_own_to_the_floor_alone() -> None:
    store = memory()
    position = await opened(store, "classic@1")
    transaction = "0190a1b2-0000-7000-8000-000000000001"
    tip = t.TipGiven("p1", "EUR", 50, transaction, "d1")
    async with hubs(store) as made:
        watchers = {}
        stack = [watching(made, viewer) for viewer in VIEWERS]
        for viewer, context in zip(VIEWERS, stack, strict=True):
            watchers[viewer] = await context.__aenter__()
            await watchers[viewer].take()
        await append_to_table(store, t.ShiftStarted("s1", 0), tip, t.DealerSignedOut("d1"), after=position)
        for watcher in watchers.values():
            await watcher.until(lambda got: any(one.type == "DealerSignedOut" for one in shared(got)))
        told = {
            viewer: [name for _, _, name, _ in everything(watcher.messages)[0]]
            for viewer, watcher in watchers.items()
        }
        for context in stack:
            await context.__aexit__(None, None, None)
    everybodys = ["DealerSignedOut"]
    floors = ["ShiftStarted", "TipGiven", "DealerSignedOut"]
    assert told == {
        Player("p1"): ["TipGiven", "DealerSignedOut"],
        Player("nobody"): everybodys,
        Public(): everybodys,
        Dealer(): floors,
        Operations(): floors,
    }


async def test_dealer_and_operations_are_told_what_the_table_waits_for() -> None:
    round_ = played("live-shared@1", 2)
    store = memory()
    await opened(store, "live-shared@1")
    async with hubs(store) as made, watching(made, Dealer()) as dealer, watching(made, Operations()) as staff:
        await dealer.take()
        await staff.take()
        await record(store, round_)
        for watcher in (dealer, staff):
            await watcher.until(lambda got: bool(pb.SharedUpdate.FromString(got.shared).state))
        desk = json.loads(pb.SharedUpdate.FromString(dealer.messages[-1].shared).state)
        assert set(desk) == {"desk"}
        house = json.loads(pb.SharedUpdate.FromString(staff.messages[-1].shared).state)
        assert set(house) == {"desk", "house"}


async def test_a_player_is_told_what_may_be_done_when_asked_for() -> None:
    round_ = played("dark-boxes@1", 2)
    store = memory()
    await opened(store, "dark-boxes@1")
    viewer = Player("p1")
    async with hubs(store) as made, watching(made, viewer, with_view=True) as watcher:
        await watcher.take()
        for index in range(len(round_.events)):
            await record(store, round_, first=index, last=index + 1)
        expected = table_view(viewer, round_.state, round_.sealed, currency="EUR")
        wanted = json.loads(json.dumps({"own": expected["own"], "actions": expected["actions"]}))
        await watcher.until(lambda got: bool(got.own.view) and json.loads(got.own.view) == wanted)


async def test_who_does_not_keep_up_is_dropped_and_keeps_nothing_waiting() -> None:
    round_ = played("dark-boxes@1", 2)
    store = memory()
    await opened(store, "dark-boxes@1")
    how = Watching(updates_per_s=1_000, bounds=Bounds(pieces=3))
    async with hubs(store, how) as made, watching(made, Public()) as slow, watching(made, Public()) as quick:
        await slow.take()
        await quick.take()
        for index in range(0, len(round_.events), 5):
            await record(store, round_, first=index, last=index + 5)
            await quick.until_shown(1, round_.last_public(index + 5))
        with pytest.raises(WatchEnded, match="too_slow"):
            await slow.until(lambda _: False)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_who_was_away_for_long_may_catch_up(*, elsewhere: bool) -> None:
    """What was missed does not count as slow: only what comes and is not taken from then on."""
    round_ = played("dark-boxes@1", 2)
    store = memory()
    await opened(store, "dark-boxes@1")
    how = Watching(updates_per_s=1_000, bounds=Bounds(pieces=3, piece_bytes=20_000, own=1))
    viewer = Player("p1")
    async with hubs(store, how) as made, hubs(store, how) as other, watching(made, Public()) as quick:
        await quick.take()
        async with watching(made, viewer) as watcher:
            token = (await watcher.take()).resume_token
        for index in range(0, len(round_.events), 5):
            await record(store, round_, first=index, last=index + 5)
            await quick.until_shown(1, round_.last_public(index + 5))
        async with watching(other if elsewhere else made, viewer, token) as back:
            await back.until_shown(1, round_.last_public())
            assert back.messages[0].seq == 2


async def test_who_has_not_been_sent_a_round_that_is_forgotten_is_dropped() -> None:
    store = memory()
    await opened(store, "classic@1")
    async with hubs(store) as made, watching(made, Public()) as slow, watching(made, Public()) as quick:
        for watcher in (slow, quick):
            await watcher.take()
        for number in range(1, 6):
            round_ = played("classic@1", number, number=number)
            await record(store, round_)
            await quick.until_shown(number, round_.last_public())
        with pytest.raises(WatchEnded, match="too_slow"):
            await slow.until(lambda _: False)
