"""The owner's parts alone: lanes, the clock, what tells a work again, an owner that cannot read its round."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eventstore import Keyring, PrivatePartUnreadable
from eventstore.answers import AnswerKey
from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from tests.table.owner.world import DEADLINE_S, SHOE, STAFF, TABLE, Owned, owned_table, player_by
from upcard_table.adapters.postgres.log import PostgresTableLog
from upcard_table.app.calls import AnswerSlot, Done, Overloaded, Refused, RoundWork, TableCall, TableWork
from upcard_table.app.owner.clock import SteadyClock
from upcard_table.app.owner.hand import items_of, open_call, stamped
from upcard_table.app.owner.lanes import Lanes, lane_keys
from upcard_table.app.owner.owner import Term
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.domain import commands as t


def place(player: str, *boxes: int) -> c.PlaceBet:
    """A bet on these boxes."""
    placements = tuple(c.Placement(box, "ante", 100) for box in boxes)
    return c.PlaceBet(player, "EUR", "b1", placements, "")


def test_a_player_waits_for_himself_and_on_exclusive_tables_for_boxes() -> None:
    lanes: Lanes[str] = Lanes()
    first = lanes.enter(lane_keys(place("p1", 1, 2), shared=False), "first")
    same_box = lanes.enter(lane_keys(place("p2", 2), shared=False), "same box")
    other = lanes.enter(lane_keys(place("p3", 3), shared=False), "other")
    behind = lanes.enter(lane_keys(c.UndoBet("p1", ""), shared=False), "behind")
    assert first is not None
    assert same_box is not None
    assert other is not None
    assert behind is not None
    assert (first.going, same_box.going, other.going, behind.going) == (True, False, True, False)
    assert lanes.leave(first) == ["same box", "behind"]
    assert lanes.leave(first) == []
    assert sorted(lanes.everyone()) == ["behind", "other", "same box"]


def test_on_a_shared_table_nobody_waits_for_a_box() -> None:
    lanes: Lanes[str] = Lanes()
    both = [lanes.enter(lane_keys(place(player, 2), shared=True), player) for player in ("p1", "p2")]
    assert all(ticket is not None and ticket.going for ticket in both)
    assert lane_keys(c.ConfirmCards("", ""), shared=True) == frozenset()


def test_a_lane_has_a_bound() -> None:
    lanes: Lanes[int] = Lanes(limit=2)
    keys = lane_keys(c.UndoBet("p1", ""), shared=True)
    assert [lanes.enter(keys, number) is not None for number in range(3)] == [True, True, False]


async def test_the_clock_follows_the_monotonic_one_alone() -> None:
    now = {"wall": 1_000_000_000, "mono": 50_000}
    clock = SteadyClock(lambda: now["wall"], lambda: now["mono"])
    before = clock.now_us()
    now["wall"] += 3_600_000_000_000
    assert clock.now_us() == before
    now["mono"] += 7_000
    assert clock.now_us() == before + 7
    wake = asyncio.Event()
    await clock.wait(wake, before)  # past already
    waiting = asyncio.ensure_future(clock.wait(wake, None))
    await asyncio.sleep(0)
    assert not waiting.done()
    wake.set()
    await asyncio.wait_for(waiting, DEADLINE_S)
    wake.clear()
    await asyncio.wait_for(SteadyClock().wait(wake, SteadyClock().now_us() + 2_000), DEADLINE_S)


async def test_a_work_is_known_by_its_request_and_its_place_in_it() -> None:
    never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def causes(request_id: str | None) -> list[str | None]:
        slot = None
        if request_id is not None:
            slot = AnswerSlot(AnswerKey("caller", "Undo", request_id), bytes(32), lambda _: b"")
        work = RoundWork(c.UndoBet("p1", ""), player_by("p1"))
        return [
            item.cause
            for item in items_of(open_call(TableCall(TABLE, (work, work), slot, 0.0), 0, "", never))
        ]

    first, second = causes("r1"), causes("r2")
    assert causes("r1") == first
    assert len({*first, *second}) == 4
    assert causes(None) == [None, None]


def test_who_acts_and_when_is_stamped_over_whatever_the_command_says() -> None:
    at = "2026-11-30T12:00:00.000000Z"
    confirmed = stamped(RoundWork(c.ConfirmCards("", "dealer:other"), STAFF), at, at)
    assert confirmed == c.ConfirmCards(at, STAFF.actor)
    bet = stamped(RoundWork(place("p1", 1), player_by("p1")), at, "later")
    assert isinstance(bet, c.PlaceBet)
    assert (bet.arrived_at, bet.funds) == (at, "not_asked")
    scanned = stamped(RoundWork(c.BurnCard("s1", CARD_OF["2c"]), player_by("p1")), at, at)
    assert isinstance(scanned, c.BurnCard)
    assert scanned.by == "system"  # a player burns nothing


async def test_more_than_an_owner_takes_is_refused_at_once(service_database: str) -> None:
    async with owned_table(service_database, settings=OwnerSettings(waiting_works=3)) as owned:
        await owned.begin()
        await owned.prepare()
        await owned.open_round()
        owned.funds.at_once = lambda _: None
        waiting = owned.send(*(owned.bet(f"p{number}") for number in range(3)))
        with pytest.raises(Overloaded):
            await owned.send(owned.bet("p9"))
        await owned.until(lambda: len(owned.funds.asked) == 3)
        for bet_id in owned.funds.bets():
            owned.funds.answer(bet_id)
        assert all(isinstance(result, Done) for result in await waiting)
        assert owned.owner.waiting == 0


async def test_commands_that_only_the_owner_gives_are_refused(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    refused = await owned.one(RoundWork(c.Settle(), STAFF))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "not_yours"


async def test_a_card_comes_one_way_at_a_time(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    by_hand = RoundWork(c.ScanCard("s1", None, source="manual"), STAFF)
    refused = await owned.one(by_hand)
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "manual_mode_off"
    await owned.done(TableWork(t.EnterManualMode("reader_failed"), STAFF))
    await owned.done(by_hand)
    late = await owned.one(RoundWork(c.ScanCard("s2", CARD_OF["2c"], "0" * 32), SHOE))
    assert isinstance(late, Refused)
    assert late.refusal.code == "manual_mode_on"


async def test_an_owner_that_cannot_read_its_cards_serves_nobody(owned: Owned) -> None:
    await owned.prepare()
    await owned.open_round()
    await owned.done(owned.bet("p1"))
    await owned.pass_window()
    await owned.lay_some(1)
    await owned.end()
    wrong = Keyring({"k1": bytes(32)}, writes_with="k1")
    owner = owned.start(token=2, log=PostgresTableLog(owned.pool, wrong, owned.store.announce))
    (_, task) = owned._running.pop()
    with pytest.raises(PrivatePartUnreadable):
        await asyncio.wait_for(task, DEADLINE_S)
    assert not owner.serving
    assert Term(1, None).token == 1
