"""Coming in, saying things, going: what each message of the connection itself does, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.gateway.play.behind import TABLE, Gateway, TableLog, Talk, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world
from upcard_gateway.entrypoints.play.texts import RESUMABLE, ended_reasons
from upcard_platform.play import TOLD


async def _ended(talk: Talk) -> tuple[str, bool]:
    told = await talk.hears("ended")
    return told["reason"], told["resumable"]


async def test_a_launch_token_opens_the_session_and_a_session_token_opens_it_again(
    gateway: Gateway, launch: Launch
) -> None:
    found = await launch(limits={"wager_max": 900})
    first = await gateway.opened(launch_token=found["launch_token"])
    welcome = await first.hears("welcome")
    assert (welcome["session"], welcome["currency"], welcome["viewing"]) == (found["session"], "EUR", False)
    assert welcome["limits"]["wager_max"] == 900
    again = await gateway.opened(session_token=welcome["session_token"])
    second = await again.hears("welcome")
    assert (second["session"], second["session_token"]) == (found["session"], None)
    assert await _ended(await gateway.opened(launch_token=found["launch_token"])) == (
        "launch_token_invalid",
        False,
    )


async def test_joining_tells_all_that_there_is_and_then_what_happens(
    gateway: Gateway, launch: Launch
) -> None:
    await gateway.log.happens(3)
    gateway.chat.says("hello")
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    snapshot = await talk.hears("snapshot")
    assert (snapshot["because"], snapshot["round"], snapshot["table"]["name"]) == ("joined", 1, "One")
    chat = await talk.hears("chat")
    assert [line["text"] for line in chat["lines"]] == ["hello"]
    assert {"welcome", "balance", "snapshot", "window", "own", "bets", "chat"} <= {
        told["type"] for told in talk.heard
    }
    await gateway.log.happens(3)
    assert await talk.events(3) == [(1, 4), (1, 5), (1, 6)]
    await gateway.log.happens(1, own=found["player_ref"])
    assert await talk.events(1, "own") == [(1, 1)]
    for told in talk.heard:
        assert TOLD.validate_python(told).type == told["type"]


async def test_own_events_are_told_to_their_player_alone(gateway: Gateway, launch: Launch) -> None:
    one, two = await launch(), await launch(player="somebody-else")
    first = await gateway.opened(launch_token=one["launch_token"], table=TABLE)
    second = await gateway.opened(launch_token=two["launch_token"], table=TABLE)
    await first.hears("chat")
    await second.hears("chat")
    await gateway.log.happens(1, own=one["player_ref"])
    assert await first.events(1, "own") == [(1, 1)]
    await second.asked("ping")
    assert not any("As" in str(told) for told in second.heard)


async def test_the_same_id_again_gets_the_answer_of_then(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    bet: dict[str, Any] = {"placements": [{"box": 1, "wager": "ante", "amount": 100}], "id": "b1"}
    first = await talk.asked("bet", **bet)
    again = await talk.asked("bet", **bet)
    assert first["accepted"]
    assert first["data"] == again["data"]
    assert len(gateway.commands.done) == 1


async def test_a_question_that_takes_long_keeps_no_decision_waiting(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await talk.hears("chat")
    gateway.commands.hold = asyncio.Event()
    for _ in range(3):
        await talk.say("history")
    assert (await talk.asked("statement"))["code"] == "too_many_questions"
    assert (await talk.asked("ping"))["type"] == "pong"
    gateway.commands.hold.set()
    assert (await talk.hears("answer"))["accepted"]


async def test_leaving_a_table_and_ending_the_session(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"])
    token = (await talk.hears("welcome"))["session_token"]
    assert (await talk.asked("join", table="t9"))["reason"] == "table_unknown"
    assert (await talk.asked("join", table=TABLE))["accepted"]
    assert (await talk.asked("leave"))["accepted"]
    before = len(talk.heard)
    await gateway.log.happens(2)
    await talk.asked("ping")
    assert not [told for told in talk.heard[before:] if told["type"] == "table"]
    assert (await talk.asked("end"))["accepted"]
    assert await _ended(talk) == ("session_player", False)
    assert await _ended(await gateway.opened(session_token=token)) == ("session_over", False)


async def test_every_message_at_a_table_has_its_round(gateway: Gateway, launch: Launch) -> None:
    await gateway.log.happens(2, round_number=7)
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await talk.hears("chat")
    gateway.chat.says("hello")
    await talk.hears("chat")
    said = len(talk.heard)
    await gateway.log.happens(1, round_number=8)
    await talk.hears("table")
    for type_ in ("ping", "join", "nothing"):
        await talk.asked(type_, **({"table": TABLE} if type_ == "join" else {}))
    await gateway.log.happens(1, round_number=8, own=found["player_ref"])
    await talk.events(1, "own")
    await gateway.play.parts.sessions.end(found["session"], gateway.world.clock())
    assert await _ended(talk) == ("session_player", False)
    first = [one for one in talk.heard[:said] if one["type"] in ("snapshot", "window", "chat")]
    assert {one["type"]: one["round"] for one in first} == {"snapshot": 7, "window": 7, "chat": 7}
    kinds = {"pong", "answer", "error", "chat", "ended"}
    later = [one for one in talk.heard[said:] if one["type"] in kinds]
    assert {(one["type"], one["round"]) for one in later} == {(kind, 8) for kind in kinds}
    assert talk.heard[0]["type"] == "welcome"
    assert talk.heard[0]["round"] == 0


async def test_a_session_that_the_platform_ends_is_over_within_a_moment(
    gateway: Gateway, launch: Launch, casino: Any
) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await talk.hears("chat")
    await casino.post(f"/v1/sessions/{found['session']}/end", json={"request_id": "e1"})
    assert await _ended(talk) == ("session_platform", False)


async def test_a_player_who_does_nothing_is_idle_and_one_who_does_is_not(
    gateway: Gateway, launch: Launch
) -> None:
    one, two = await launch(), await launch(player="somebody-else")
    first = await gateway.opened(launch_token=one["launch_token"])
    second = await gateway.opened(launch_token=two["launch_token"])
    await first.hears("balance")
    await second.hears("balance")
    registry = gateway.play.parts.registry
    registry._seen_due_s = 0.0
    await registry.check()
    gateway.world.clock.move(800)
    await second.asked("lobby")
    registry._seen_due_s = 0.0
    await registry.check()
    gateway.world.clock.move(200)
    await registry.check()
    assert await _ended(first) == ("session_idle", False)
    assert (await second.asked("ping"))["type"] == "pong"


async def test_nothing_else_comes_before_hello(gateway: Gateway) -> None:
    talk = Talk(await gateway.connected())
    await talk.say("join", table=TABLE)
    assert await _ended(talk) == ("hello_invalid", False)


async def test_who_says_nothing_is_told_so(service_database: str) -> None:
    async with (
        open_world(service_database, play_hello_s=0.1, play_silence_s=0.1) as world,
        served(world, TableLog()) as gateway,
    ):
        assert await _ended(Talk(await gateway.connected())) == ("hello_missing", False)
        talk = await gateway.opened(view=True)
        assert await _ended(talk) == ("silent", True)


async def test_without_our_subprotocol_nothing_is_said(gateway: Gateway) -> None:
    async with connect(f"{gateway.url.replace('http', 'ws')}/play/ws") as socket:
        assert await _ended(Talk(socket)) == ("protocol_missing", False)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
async def test_a_page_of_somebody_else_may_not_connect(gateway: Gateway, origin: str) -> None:
    talk = Talk(await gateway.connected(origin))
    await talk.say("hello", view=True, table=TABLE)
    assert await _ended(talk) == ("origin_refused", False)


async def test_our_own_page_may_connect(gateway: Gateway) -> None:
    talk = Talk(await gateway.connected("http://127.0.0.1"))
    await talk.say("hello", view=True, table=TABLE)
    assert (await talk.hears("welcome"))["viewing"]


async def test_a_defect_of_one_message_keeps_the_connection(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await talk.hears("chat")
    gateway.commands.fails = True
    assert (await talk.asked("undo"))["code"] == "internal"
    gateway.commands.fails = False
    assert (await talk.asked("undo"))["accepted"]


def test_every_reason_that_can_be_resumed_has_words() -> None:
    assert ended_reasons() >= RESUMABLE
