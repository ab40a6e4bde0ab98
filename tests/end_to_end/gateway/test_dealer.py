"""A table is dealt by the console's calls alone: cards by the shoe reader's process, or by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from rules_core.cards import CARD_TEXTS
from servicekit.grpc import open_channel
from tests.end_to_end.gateway.dealing import ScriptedTable, ante
from tests.end_to_end.gateway.processes import CALL_S, CURRENCY, TRANSFER, WAIT_S, Edge, fresh, until
from upcard.feed.v1 import event_feed_pb2
from upcard.gateway.v1 import staff_pb2
from upcard.gateway.v1.staff_pb2_grpc import StaffServiceStub
from upcard_operate.demo.house import open_table
from upcard_operate.demo.pages import Staff
from upcard_operate.demo.reader import deck_of
from upcard_operate.demo.reader_process import ReaderProcess
from upcard_operate.demo.staffing import Hire, add_staff, enrol
from upcard_platform.models.wallets import Deposit

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED: Final = 20_260_131
READ: Final = "t-reader"
BY_HAND: Final = "t-by-hand"
STAFF_SERVICE: Final = staff_pb2.DESCRIPTOR.services_by_name["StaffService"]
ENDED: Final = {"settled", "cancelled"}


@dataclass
class Desk:
    """A dealer at one table, by calls."""

    staff: Staff
    table: ScriptedTable
    player: str

    @property
    def path(self) -> str:
        """Where the table's calls are."""
        return f"/staff/api/dealer/tables/{self.table.table.table}"

    async def now(self) -> dict[str, Any]:
        """The table as its dealer sees it."""
        return await self.staff.call(self.path)

    async def act(self, name: str, **fields: object) -> dict[str, Any]:
        """One act; what became of it."""
        return await self.staff.do(f"{self.path}/{name}", {"request_id": fresh(), **fields})

    async def done(self, name: str, **fields: object) -> dict[str, Any]:
        """One act that must not be refused."""
        answer = await self.act(name, **fields)
        assert answer["result"] == "done", (name, answer)
        return answer

    async def until(self, what: str, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Look until the table is so."""
        return await until(what, self.now, right)

    async def opened(self, *boxes: int) -> int:
        """Shuffle, open a round and have the player bet; its number, once betting is over."""
        deck = f"deck-{self.table.table.table}"
        await self.done("shuffle_deck", deck=deck)
        number: int = (await self.done("open_round"))["round"]
        assert await self.table.bet(number, self.player, *map(ante, boxes)) == "accepted"
        return number

    async def ended(self, number: int) -> dict[str, Any]:
        """The round's end, confirming what is there to confirm."""

        async def look() -> dict[str, Any]:
            now = await self.now()
            if now["next"]["kind"] == "confirm":
                await self.act("confirm_cards", round=number)
            return now

        return await until("the round's end", look, lambda now: now["round"]["step"] in ENDED)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def dealer(edge: Edge) -> AsyncIterator[Staff]:
    """Somebody with the role dealer, enrolled and signed in."""
    async with (
        open_channel(
            edge.fleet.address("gateway"),
            audience="gateway",
            services=[STAFF_SERVICE],
            signer=edge.fleet.gateway.signer(),
        ) as channel,
        Staff(edge.fleet.platform_url) as staff,
    ):
        await channel.wait_serving(WAIT_S)
        added = await add_staff(StaffServiceStub(channel), Hire("dana", ("dealer",), "deals"))
        await enrol(staff, added)
        yield staff


async def desk_at(edge: Edge, staff: Staff, name: str) -> Desk:
    """An open table where this dealer has signed in and brought a verified deck; a player with money."""
    launched = await edge.launched(TRANSFER, f"player-{name}")
    deposit = Deposit(request_id=fresh(), currency=CURRENCY, amount=100_000)
    await edge.platforms[TRANSFER].wallets.deposit(f"player-{name}", deposit)
    table = ScriptedTable(edge.casino, name)
    table._config.confirm_cards_ms = 2_000 if name == READ else 60_000
    await open_table(edge.casino, name, table._config)
    desk = Desk(staff, table, launched.player_ref)
    deck = {"deck": f"deck-{name}"}
    assert (await desk.now())["next"]["kind"] == "take_table"
    await desk.done("sign_in")
    assert (await desk.now())["next"]["kind"] == "bring_deck"
    await desk.done("introduce_deck", **deck)
    assert (await desk.now())["next"]["kind"] == "verify_deck"
    await desk.done("verify_deck", **deck)
    assert (await desk.now())["next"]["kind"] == "shuffle_deck"
    return desk


async def events_of(edge: Edge, number: int, table: str) -> list[dict[str, Any]]:
    """What the round's stream has."""
    request = event_feed_pb2.ReadStreamRequest(stream=f"round-{table}.{number}", limit=500)
    answer = await edge.casino.rounds.ReadStream(request, timeout=CALL_S)
    return [json.loads(event.content) for event in answer.events]


async def test_a_round_is_dealt_by_calls_and_a_reader_that_is_killed_in_the_middle(
    edge: Edge, dealer: Staff, tmp_path: Path
) -> None:
    desk = await desk_at(edge, dealer, READ)
    reader = ReaderProcess(
        tmp_path,
        edge.fleet.shoe,
        table_address=edge.fleet.address("table"),
        tables=[READ],
        seed=SEED,
        card_s=0.3,
    )
    with reader:
        number = await desk.opened(1, 2)
        await desk.until("some cards", lambda now: len(now["round"]["cards"]) >= 4)
        reader.kill()
        waiting = await desk.now()
        assert waiting["next"]["kind"] == "reader", "the console says that it waits for the reader"
        refused = await desk.act("lay_card", round=number, card="Ah")
        assert (refused["result"], refused["reason"]) == ("refused", "manual_mode_off")
        reader.start()
        last = await desk.ended(number)
    assert last["round"]["step"] == "settled"
    assert "hidden" not in last["round"]["cards"].values()
    scanned = [one for one in await events_of(edge, number, READ) if one["type"] == "CardScanned"]
    places = [one["payload"]["place"] for one in scanned]
    expected = dict(zip(places, deck_of(SEED, READ, number), strict=False))
    assert last["round"]["cards"] == {place: expected[place] for place in last["round"]["cards"]}
    assert not any(card in reader.said() for card in CARD_TEXTS), "a reader says nothing of cards"


async def test_a_round_is_dealt_by_hand(edge: Edge, dealer: Staff) -> None:
    desk = await desk_at(edge, dealer, BY_HAND)
    await desk.done("enter_manual_mode", reason="reader_failed")
    number = await desk.opened(1, 2)
    cards = iter(CARD_TEXTS)
    now = await laid(desk, number, cards)
    assert now["next"]["kind"] == "confirm"
    place = next(place for place, card in now["round"]["cards"].items() if card != "hidden")
    await desk.done("correct_card", round=number, place=place, card="As")
    await desk.done("burn_card", round=number, card="Kd")
    await desk.done("confirm_cards", round=number)
    await desk.until("the options' end", lambda now: now["round"]["step"] == "replace")
    assert (await laid(desk, number, cards))["next"]["kind"] == "confirm"
    await desk.done("confirm_cards", round=number)
    now = await desk.until("the last window's end", lambda now: now["next"]["kind"] == "name_cards")
    down = [place for place, card in now["round"]["cards"].items() if card == "hidden"]
    named = dict(zip(down, cards, strict=False))
    part = dict(list(named.items())[:1])
    missing = await desk.act("confirm_cards", round=number, cards=part)
    assert (missing["reason"], missing["data"]["place"]) == ("card_missing", down[1])
    await desk.done("confirm_cards", round=number, cards=named)
    last = await desk.ended(number)
    assert last["round"]["step"] == "settled"
    shown = last["round"]["cards"]
    assert (shown[place], last["round"]["burned"]) == ("As", ["Kd"])
    assert {at: shown[at] for at in named} == named
    await desk.done("leave_manual_mode")


async def laid(desk: Desk, number: int, cards: Iterator[str]) -> dict[str, Any]:
    """Lay what is awaited by hand; the table once nothing is."""
    async with asyncio.timeout(WAIT_S):
        while True:
            now = await desk.now()
            kind = now["next"]["kind"]
            if kind == "lay_down":
                await desk.done("lay_card", round=number)
            elif kind == "lay_up":
                await desk.done("lay_card", round=number, card=next(cards))
            elif kind not in {"betting", "close_betting"}:
                return now
            else:
                await asyncio.sleep(0.1)


async def test_a_round_is_cancelled_and_its_deck_verified_again(edge: Edge, dealer: Staff) -> None:
    desk = await desk_at(edge, dealer, "t-cancelled")
    number = await desk.opened(1)
    wrong = await desk.act("cancel_round", round=number, reason="bored")
    assert wrong["reason"] == "reason_unknown"
    await desk.done("cancel_round", round=number, reason="card_dropped")
    assert (await desk.now())["round"]["step"] == "cancelled"
    deck = "deck-t-cancelled"
    await desk.done("shuffle_deck", deck=deck)
    assert (await desk.act("open_round"))["reason"] == "deck_not_verified"
    await desk.done("verify_deck", deck=deck)
    assert (await desk.done("open_round"))["round"] == number + 1
    assert (await desk.act("sign_out"))["reason"] == "round_running"
    await desk.done("cancel_round", round=number + 1, reason="dealer_mistake")
    await desk.done("retire_deck", deck=deck, reason="worn")
    await desk.done("sign_out")
    assert (await desk.now())["next"]["kind"] == "take_table"


async def test_the_same_act_again_is_one_act(edge: Edge, dealer: Staff) -> None:
    desk = await desk_at(edge, dealer, "t-again")
    await desk.done("shuffle_deck", deck="deck-t-again")
    body = {"request_id": fresh()}
    answers = [await dealer.do(f"{desk.path}/open_round", body) for _ in range(3)]
    assert answers[0]["round"] == 1
    assert answers == [answers[0]] * 3
    request = event_feed_pb2.ReadStreamRequest(stream="table-t-again", limit=100)
    table = await edge.casino.rounds.ReadStream(request, timeout=CALL_S)
    actors = {json.loads(event.content)["actor"] for event in table.events}
    me = (await dealer.call("/staff/api/me"))["staff"]
    assert f"dealer:{me}" in actors
