"""The log of significant events: what gets into it, once each, and how it is read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import pytest

from eventstore import Expect, NewEvent
from eventstore.following import OWN, Applier, Handler, Page
from eventstore.ids import new_event_id
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import RandomTable
from rules_core.log.content import Content, content_bytes, parse_content
from rules_core.rulesets.shipped import shipped
from tests.gateway.floor.behind import SaidTable
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.world import World
from tests.messaging.waiting import until
from upcard_gateway.adapters.floor_own_log import OwnLog
from upcard_gateway.adapters.parked_calls import ENDINGS
from upcard_gateway.adapters.postgres.significant import PostgresBook, Wanted, floor_tables, listed
from upcard_gateway.app.significant import ACTION_KINDS, NewerEvent, significant_handler
from upcard_gateway.domain.significant import KINDS, Significant, Thresholds
from upcard_gateway.entrypoints.pages.english import English

BIG = Thresholds({"EUR": 1_000}, 5_000)
ENDING_ACTIONS = [
    "parked_call_retry",
    "parked_call_approved",
    "parked_call_rejected",
    *(f"parked_call_propose_{ending}" for ending in ENDINGS),
]
WHEN = "2026-01-31T12:00:{:02}.000000Z"


async def tell(
    world: World, stream: str, kind: str, payload: Mapping[str, Any], *, second: int = 0, version: int = 1
) -> None:
    """Keep one event of any stream."""
    made = new_event_id()
    content = Content(
        str(made),
        kind,
        version,
        stream,
        WHEN.format(second),
        "c-1",
        None,
        "staff:s1",
        os.urandom(16).hex(),
        dict(payload),
    )
    event = NewEvent(made, kind, content_bytes(content))
    await world.edge.store.append(stream, [event], expected=Expect.ANY)


async def follow(world: World, source: str, *, name: str = "tested", thresholds: Thresholds = BIG) -> None:
    """Apply everything that is in the log, as if it were this service's."""
    handler: Handler = significant_handler(PostgresBook(), source, thresholds)
    applier = Applier(world.pool, f"{name}-{source}", OWN, handler)
    heads = await world.edge.store.shard_heads()
    positions = await applier.positions(range(len(heads)))
    for shard, head in enumerate(heads):
        after = positions[shard].position
        while after < head:
            page = await world.edge.store.read_shard(shard, after=after)
            await applier.apply([Page.of_shard(page, after=after)])
            after = page.through


async def entries(world: World, wanted: Wanted | None = None) -> list[Significant]:
    """The log, newest first."""
    async with world.pool.acquire() as connection:
        return await listed(connection, wanted or Wanted(), None, 100)


async def test_of_a_table_and_its_rounds(world: World) -> None:
    settled = {"currency": "EUR", "revision": 1, "boxes": [], "staked": 500}
    await tell(
        world, "round-t1.4", "PlayerSettled", {**settled, "player": "p1", "returned": 1_500, "net": 1_000}
    )
    await tell(
        world, "round-t1.4", "PlayerSettled", {**settled, "player": "p2", "returned": 1_499, "net": 999}
    )
    await tell(world, "round-t1.5", "RoundCancelled", {"reason": "card_dropped"}, second=2)
    await tell(
        world, "table-t1", "ManualModeEntered", {"reason": "reader_broken", "after_round": 5}, second=3
    )
    await tell(world, "table-t1", "DealerSignedIn", {"dealer": "d1"}, second=4)
    await tell(world, "table-t1", "ShiftStarted", {"shift": "late", "after_round": 5}, second=5)
    await follow(world, "table")
    await follow(world, "table", name="again")
    found = await entries(world)
    assert [(one.kind, one.table, one.round) for one in found] == [
        ("manual_mode_on", "t1", None),
        ("round_cancelled", "t1", "t1.5"),
        ("large_win", "t1", "t1.4"),
    ]
    win = found[-1]
    assert (win.player, win.currency, win.amount, win.data["staked"]) == ("p1", "EUR", 1_000, 500)
    async with world.pool.acquire() as connection:
        (known,) = (await floor_tables(connection)).values()
    assert (known.dealer, known.shift, known.manual_reason) == ("d1", "late", "reader_broken")
    await tell(world, "table-t1", "TableClosed", {"after_round": 5}, second=6)
    await follow(world, "table")
    async with world.pool.acquire() as connection:
        (known,) = (await floor_tables(connection, ["t1"])).values()
    assert (known.dealer, known.shift) == (None, None)


async def test_a_whole_real_round_is_read_without_a_word_too_many(world: World) -> None:
    made = RandomTable(shipped("live-shared@1"), Dice(3), ("p1", "p2"), 1)
    made.play()
    for content in map(parse_content, made.contents):
        await tell(world, content.stream, content.type, content.payload, version=content.version)
    await follow(world, "table", thresholds=Thresholds({}, 2**50))
    assert {one.kind for one in await entries(world)} <= {"window_extended", "round_cancelled"}


async def test_of_the_wallet_with_the_player_that_the_account_belongs_to(world: World) -> None:
    await world.pool.execute("INSERT INTO gateway.players (player, operator) VALUES ('p1', 'op1')")
    await world.pool.execute(
        "INSERT INTO gateway.accounts (account, player, operator, currency) VALUES ('a1', 'p1', 'op1', 'EUR')"
    )
    adjusted = {"transaction": str(new_event_id()), "book": "cash", "amount": 250, "against": "house"}
    people = {"reason": "goodwill", "proposer": "staff:s1", "approver": "staff:s2", "round": "t1.4"}
    await tell(world, "account-a1", "Adjusted", adjusted | people)
    bonus = {"transaction": str(new_event_id()), "kind": "jackpot", "round": "t1.4", "source": "j1"}
    await tell(world, "account-a1", "BonusCredited", bonus | {"amount": 5_000}, second=1)
    await tell(world, "account-a1", "BonusCredited", bonus | {"amount": 4_999}, second=2)
    await follow(world, "wallet")
    jackpot, adjustment = await entries(world)
    assert (jackpot.kind, jackpot.player, jackpot.currency) == ("jackpot_won", "p1", "EUR")
    assert (adjustment.kind, adjustment.amount, adjustment.reason) == ("adjustment", 250, "goodwill")
    assert adjustment.data["approver"] == "staff:s2"
    assert [one.kind for one in await entries(world, Wanted(kinds=("adjustment",)))] == ["adjustment"]
    assert await entries(world, Wanted(player="p2")) == []


async def test_of_staff_from_the_own_log_as_it_comes(world: World, tables: SaidTable) -> None:
    tables.show("t1")
    own = OwnLog(world.pool, world.edge.store, significant_handler(PostgresBook(), "gateway", BIG))
    ending = asyncio.Event()
    running = asyncio.create_task(own.run(ending))
    try:
        await tell(world, "staff-s9", "StaffSignInFailed", {"staff": "s9", "reason": "password"})
        async with signed_in(world, "shift_manager") as staff:
            done = await staff.post("/staff/floor/tables/t1/act/close", {"reason": "a quiet night"})
            assert done.status_code == 303, done.text

            async def there() -> bool:
                return {one.kind for one in await entries(world)} >= {"sign_in_failed", "floor_action"}

            await until(there, what="both are in the log", timeout_s=60)
            found = {one.kind: one for one in await entries(world)}
            action = found["floor_action"]
            assert (action.table, action.reason, action.staff) == ("t1", "a quiet night", staff.member.staff)
            page = await staff.client.get("/staff/significant")
            assert page.status_code == 200, page.text
            assert "close a table" in page.text
            assert "Failed sign-in" in page.text
            assert staff.member.name in page.text
            one_kind = await staff.client.get("/staff/significant?kind=sign_in_failed&since=2020-01-01")
            assert "close a table" not in one_kind.text
            wrong = await staff.client.get("/staff/significant?kind=nonsense&since=yesterday")
            assert wrong.status_code == 422
    finally:
        ending.set()
        async with asyncio.timeout(60):
            await running


async def acted(world: World, action: str, subject: str, *, second: int = 0) -> None:
    """Somebody asked for this."""
    payload = {"staff": "s9", "session": "x1", "action": action, "subject": subject}
    await tell(
        world,
        "staff-s9",
        "StaffActionAsked",
        payload | {"reason": "it has to be", "request_id": new_event_id().hex},
        second=second,
    )


async def test_of_what_operations_dealers_and_the_chat_s_keepers_do(world: World) -> None:
    subject = "wallet: wallet of table: round-t1.4 at 17"
    await acted(world, "parked_event_skip", subject, second=1)
    await acted(world, "follower_resume", "wallet: wallet of table", second=2)
    await acted(world, "parked_call_propose_done_by_hand", "op1: call-1", second=3)
    await acted(world, "table.start_shift", "t1", second=4)
    await acted(world, "table.cancel_round", "t1.4", second=5)
    await acted(world, "mute_player", "p1", second=6)
    await acted(world, "remove_chat_line", "t1/7", second=7)
    for nothing in ("table.lay_card", "table.open_round", "table.sign_in"):
        await acted(world, nothing, "t1", second=8)
    await follow(world, "gateway")
    found = await entries(world)
    assert [(one.kind, one.table, one.round, one.player) for one in reversed(found)] == [
        ("operations_action", None, None, None),
        ("operations_action", None, None, None),
        ("operations_action", None, None, None),
        ("floor_action", "t1", None, None),
        ("floor_action", "t1", "t1.4", None),
        ("chat_action", None, None, "p1"),
        ("chat_action", None, None, None),
    ]
    assert {(one.staff, one.reason) for one in found} == {("s9", "it has to be")}
    async with signed_in(world, "auditor") as staff:
        page = await staff.client.get("/staff/significant")
    for said in ("leave a parked event out", subject, "start a shift", "mute a player", "/staff/players/p1"):
        assert said in page.text, said


def test_every_action_that_is_kept_has_its_english() -> None:
    said = English.load()
    operations = (*ENDING_ACTIONS, "parked_event_skip", "parked_event_retry", "follower_resume")
    for action in (*ACTION_KINDS, *operations):
        assert said.has(f"floor.action.{action.removeprefix('table.')}"), action


async def test_a_newer_event_stops_and_a_broken_one_is_parked(world: World) -> None:
    await tell(world, "table-t1", "TableOpened", {"config": {}})
    await follow(world, "table")
    parked = await world.pool.fetch("SELECT stream FROM eventstore.parked_streams")
    assert [row["stream"] for row in parked] == ["table-t1"]
    await tell(world, "table-t2", "TableClosed", {"after_round": 1}, version=2)
    with pytest.raises(NewerEvent, match="upgrade it"):
        await follow(world, "table")
    assert await entries(world) == []


def test_every_kind_has_its_english() -> None:
    said = English.load()
    assert all(said.has(f"floor.significant.{kind}") for kind in KINDS)
