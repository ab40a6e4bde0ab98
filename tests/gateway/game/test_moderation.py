"""The page of shift managers about chats: what they see, and what each action does, once, with its reason."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from tests.gateway.game.chatting import person, say, table_chat
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.world import World
from upcard_gateway.adapters.postgres.chat import PostgresChat
from upcard_gateway.app.chat import Said

REASON = "rude to others"


async def actions(world: World, staff: str) -> list[tuple[str, str, str, str]]:
    """Type, action, and what stands beside it, of a member's stream."""
    told: list[tuple[str, str, str, str]] = []
    for one in await world.edge.store.read_stream(f"staff-{staff}"):
        if one.type.startswith("StaffAction"):
            payload = json.loads(one.content)["payload"]
            words = payload.get("reason") or payload.get("result", "")
            told.append((one.type, payload["action"], payload.get("subject", ""), words))
    return told


async def test_tables_where_people_talk_are_shown_with_their_last_line(world: World) -> None:
    chat = table_chat(world)
    await person(world, "p1")
    async with signed_in(world, "shift_manager") as staff:
        assert "Nobody has said anything yet." in (await staff.client.get("/staff/chat")).text
        await say(chat, "p1", "<b>hello</b>", message="m1")
        page = await staff.client.get("/staff/chat")
        assert page.status_code == 200
        assert "/staff/chat/tables/t1" in page.text
        assert "&lt;b&gt;hello&lt;/b&gt;" in page.text
        assert "<b>hello</b>" not in page.text


async def test_a_line_is_deleted_with_a_reason(world: World) -> None:
    chat = table_chat(world)
    await person(world, "p1")
    await say(chat, "p1", "something rude", message="m1")
    async with signed_in(world, "shift_manager") as staff:
        page = await staff.client.get("/staff/chat/tables/t1?line=1")
        assert "something rude" in page.text
        assert "Delete this line" in page.text
        answer = await staff.post("/staff/chat/tables/t1/lines/1", {"do": "remove", "reason": "no"})
        assert answer.status_code == 422, "that is no reason"
        assert (await chat.latest("t1"))[1] != []
        request_id = "request-1234"
        for _ in range(2):
            answer = await staff.post(
                "/staff/chat/tables/t1/lines/1",
                {"do": "remove", "reason": REASON},
                request_id=request_id,
            )
            assert answer.status_code == 303
            assert answer.headers["location"] == "/staff/chat/tables/t1?line=1"
        assert (await chat.latest("t1"))[1] == []
        page = await staff.client.get("/staff/chat/tables/t1?line=1")
        assert "<s>something rude</s>" in page.text
        asked = ("StaffActionAsked", "remove_chat_line", "t1/1", REASON)
        answered = ("StaffActionAnswered", "remove_chat_line", "", "done")
        assert await actions(world, staff.member.staff) == [asked, answered]


@pytest.mark.parametrize("minutes", [15, 60, 1_440, 10_080])
async def test_a_player_is_muted_for_a_time(world: World, minutes: int) -> None:
    chat = table_chat(world)
    await person(world, "p1")
    await say(chat, "p1", "something rude", message="m1")
    async with signed_in(world, "shift_manager") as staff:
        wanted = {"do": f"mute-{minutes}", "reason": REASON}
        assert (await staff.post("/staff/chat/tables/t1/lines/1", wanted)).status_code == 303
        assert await say(chat, "p1", "hello", message="m2") == "chat_muted"
        assert "muted until" in (await staff.client.get("/staff/chat")).text
    world.clock.move(dt.timedelta(minutes=minutes).total_seconds())
    assert isinstance(await say(chat, "p1", "hello", message="m2"), Said)


async def test_a_players_chat_is_revoked_and_given_back(world: World) -> None:
    chat = table_chat(world)
    await person(world, "p1")
    await say(chat, "p1", "something rude", message="m1")
    async with signed_in(world, "shift_manager") as staff:
        wanted = {"do": "revoke", "reason": REASON}
        assert (await staff.post("/staff/chat/tables/t1/lines/1", wanted)).status_code == 303
        assert await say(chat, "p1", "hello", message="m2") == "chat_revoked"
        page = await staff.client.get("/staff/chat")
        assert REASON in page.text
        assert "chat revoked" in page.text
        wanted = {"do": "restore", "reason": "they said sorry"}
        assert (await staff.post("/staff/chat/players/p1", wanted)).status_code == 303
        assert isinstance(await say(chat, "p1", "hello", message="m2"), Said)
        wanted = {"do": "mute-60", "reason": REASON}
        await staff.post("/staff/chat/players/p1", wanted)
        await staff.post("/staff/chat/players/p1", {"do": "unmute", "reason": "they said sorry"})
        assert isinstance(await say(chat, "p1", "hello", message="m3"), Said)
        done = [one[1] for one in await actions(world, staff.member.staff) if one[0] == "StaffActionAsked"]
        assert done == ["revoke_chat", "restore_chat", "mute_player", "unmute_player"]


async def test_words_are_blocked_and_allowed_again(world: World) -> None:
    chat = table_chat(world)
    await person(world, "p1")
    async with signed_in(world, "shift_manager") as staff:
        wanted = {"do": "block", "word": " F00l ", "reason": REASON}
        answer = await staff.post("/staff/chat/words", wanted)
        assert (answer.status_code, answer.headers["location"]) == (303, "/staff/chat#words")
        assert "<td>fool</td>" in (await staff.client.get("/staff/chat")).text
        assert await say(chat, "p1", "you fool", message="m1") == "chat_blocked_word"
        chat.forget_words()
        await staff.post("/staff/chat/words", {"do": "unblock", "word": "fool", "reason": "harmless"})
        assert isinstance(await say(chat, "p1", "you fool", message="m1"), Said)
        wrong = {"do": "block", "word": "x", "reason": REASON}
        assert (await staff.post("/staff/chat/words", wrong)).status_code == 422


async def test_what_is_not_there_or_not_meant(world: World) -> None:
    await person(world, "p1")
    async with signed_in(world, "shift_manager") as staff:
        reason = {"reason": REASON}
        for path, do, status in (
            ("/staff/chat/tables/t1/lines/1", "remove", 404),
            ("/staff/chat/tables/t1/lines/nothing", "remove", 404),
            ("/staff/chat/players/p1", "mute-16", 422),
            ("/staff/chat/players/p1", "", 422),
        ):
            assert (await staff.post(path, {"do": do, **reason})).status_code == status
        assert (await staff.client.get("/staff/chat/tables/t1?line=nonsense")).status_code == 200
        assert (await staff.client.get("/staff/chat/tables/a%20b")).status_code == 404


async def test_nobody_else_moderates(world: World) -> None:
    async with signed_in(world, "support") as staff:
        assert (await staff.client.get("/staff/chat")).status_code == 403
        wanted = {"do": "block", "word": "fool", "reason": REASON}
        assert (await staff.post("/staff/chat/words", wanted)).status_code == 403


async def test_a_form_that_comes_again_does_not_undo_what_was_done_since(world: World) -> None:
    await person(world, "p1")
    async with signed_in(world, "shift_manager") as staff:
        mute = {"do": "mute-60", "reason": REASON}
        await staff.post("/staff/chat/players/p1", mute, request_id="r-12345678")
        await staff.post("/staff/chat/players/p1", {"do": "unmute", "reason": "said sorry"})
        answer = await staff.post("/staff/chat/players/p1", mute, request_id="r-12345678")
        assert answer.status_code == 303
        standing, _ = await PostgresChat(world.pool).standing("p1", world.clock())
        assert standing.muted_until is None
