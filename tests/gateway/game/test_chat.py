"""Chats: who may say what, once a message, told in order at every gateway, erased with the person."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.gateway.game.chatting import person, say, table_chat
from tests.gateway.world import World
from upcard_gateway.adapters.postgres.chat import PostgresChat
from upcard_gateway.adapters.postgres.people import PeopleTables
from upcard_gateway.app.chat import MISSED_MAX, Said
from upcard_gateway.domain.chat import (
    LINE_MAX,
    RATE_LINES,
    RATE_WINDOW,
    Standing,
    cleaned,
    folded,
    has_blocked,
    may_say,
)
from upcard_gateway.entrypoints.play.commands_chat import TableChat
from upcard_gateway.entrypoints.play.contract import ChatTold
from upcard_platform.play import ChatSaid

NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
PATIENCE_S = 60


@pytest.fixture
async def chat(world: World) -> AsyncIterator[TableChat]:
    made = table_chat(world)
    for name in ("p1", "p2"):
        await person(world, name)
    ending = asyncio.Event()
    running = asyncio.ensure_future(made.run(ending))
    yield made
    ending.set()
    await asyncio.wait_for(running, PATIENCE_S)


def texts(told: Sequence[ChatTold]) -> list[object]:
    return [one.line["text"] for one in told]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  hello   there ", "hello there"),
        ("two\nlines\tand\x00more", "two lines and more"),
        ("turn\u202eed", "turn ed"),
        ("zero\u200bwidth", "zero width"),
        ("e\u0301", "é"),
        ("\u200b \n", ""),
    ],
)
def test_a_line_is_one_line_of_what_can_be_seen(given: str, shown: str) -> None:
    assert cleaned(given) == shown


@pytest.mark.parametrize(
    ("line", "blocked"),
    [
        ("you fool", True),
        ("you F00L!", True),
        ("f o o l", True),
        ("f.o.o.l", True),
        ("fóol", True),
        ("foolish", False),
        ("nothing wrong", False),
    ],
)
def test_blocked_words_are_found_however_they_are_spelt(line: str, blocked: bool) -> None:  # noqa: FBT001 - a row of the table
    assert has_blocked(line, {folded("fool")}) is blocked


def test_why_a_line_is_not_said() -> None:
    fine = Standing()
    assert may_say("hello", fine, 0, (), NOW) is None
    assert may_say("", fine, 0, (), NOW) == "chat_empty"
    assert may_say("x" * LINE_MAX, fine, 0, (), NOW) is None
    assert may_say("x" * (LINE_MAX + 1), fine, 0, (), NOW) == "chat_too_long"
    assert may_say("hello", fine, RATE_LINES, (), NOW) == "chat_too_fast"
    assert may_say("hello", Standing(NOW + dt.timedelta(seconds=1)), 0, (), NOW) == "chat_muted"
    assert may_say("hello", Standing(NOW), 0, (), NOW) is None
    assert may_say("hello", Standing(is_revoked=True), 0, (), NOW) == "chat_revoked"


async def test_a_line_is_told_once_however_often_it_is_sent(chat: TableChat) -> None:
    said = await asyncio.gather(*(say(chat, "p1", "hello", message="m1") for _ in range(8)))
    assert set(said) == {Said(1)}
    assert await say(chat, "p1", "something else", message="m1") == Said(1)
    assert await say(chat, "p2", "hi", message="m1") == Said(2)
    told, lines = await chat.latest("t1")
    assert (told, texts(lines)) == (2, ["hello", "hi"])
    for one in lines:
        ChatSaid.model_validate(one.line)
        assert "p1" not in str(one.line["nickname"]).split()[0]
    assert await chat.latest("t2") == (0, [])


async def test_lines_reach_followers_at_other_gateways_in_order(world: World, chat: TableChat) -> None:
    elsewhere = table_chat(world)
    ending = asyncio.Event()
    running = asyncio.ensure_future(elsewhere.run(ending))
    heard: list[ChatTold] = []
    whole = asyncio.Event()

    def told(lines: Sequence[ChatTold]) -> None:
        heard.extend(lines)
        if len(heard) >= 2 * RATE_LINES:
            whole.set()

    leave = elsewhere.follow("t1", told)
    begun, _ = await elsewhere.latest("t1")
    assert begun == 0
    await asyncio.gather(
        *(
            say(chat, player, f"{player} {number}", message=f"m{number}")
            for player in ("p1", "p2")
            for number in range(RATE_LINES)
        )
    )
    await asyncio.wait_for(whole.wait(), PATIENCE_S)
    assert [one.seq for one in heard] == list(range(1, 2 * RATE_LINES + 1))
    leave()
    ending.set()
    await asyncio.wait_for(running, PATIENCE_S)


async def test_a_line_that_is_taken_away_is_told_again_without_its_text(
    world: World, chat: TableChat
) -> None:
    await say(chat, "p1", "hello", message="m1")
    await say(chat, "p2", "hi", message="m2")
    store = PostgresChat(world.pool)
    assert await store.remove("t1", 1, NOW)
    assert not await store.remove("t1", 1, NOW)
    assert not await store.remove("t1", 9, NOW)
    missed = await chat.since("t1", 0)
    assert missed is not None
    assert [(one.seq, one.line["line"], one.line["text"]) for one in missed] == [(2, 2, "hi"), (3, 1, None)]
    told, lines = await chat.latest("t1")
    assert (told, texts(lines)) == (3, ["hi"])


async def test_going_on_where_one_was(world: World, chat: TableChat) -> None:
    await say(chat, "p1", "one", message="m1")
    await say(chat, "p2", "two", message="m2")
    missed = await chat.since("t1", 1)
    assert missed is not None
    assert texts(missed) == ["two"]
    assert await chat.since("t1", 2) == []
    assert await chat.since("t1", 3) is None, "a number that was never told"
    async with world.pool.acquire() as connection:
        await connection.execute("UPDATE gateway.chat_tables SET told = 1000")
        await connection.execute(
            "INSERT INTO gateway.chat_lines (table_id, line, told, said_at, player, message, nickname, body)"
            " SELECT 't1', n, n, now(), 'p1', 'x' || n, 'Nick', 'line' FROM generate_series(3, $1) AS n",
            MISSED_MAX + 3,
        )
    assert await chat.since("t1", 2) is None, "too far back"


async def test_who_talks_too_fast_waits(world: World, chat: TableChat) -> None:
    for number in range(RATE_LINES):
        assert isinstance(await say(chat, "p1", "hello", message=f"m{number}"), Said)
    assert await say(chat, "p1", "hello", message="more") == "chat_too_fast"
    assert isinstance(await say(chat, "p2", "hello", message="more"), Said)
    world.clock.move(RATE_WINDOW.total_seconds() + 1)
    assert isinstance(await say(chat, "p1", "hello", message="more"), Said)


async def test_muted_revoked_and_blocked(world: World, chat: TableChat) -> None:
    store, now = PostgresChat(world.pool), world.clock()
    assert await store.mute("p1", now + dt.timedelta(minutes=15), "s1", "rude", now)
    assert await say(chat, "p1", "hello", message="m1") == "chat_muted"
    world.clock.move(15 * 60)
    assert isinstance(await say(chat, "p1", "hello", message="m1"), Said)
    assert await store.revoke("p1", "s1", "rude", world.clock(), revoked=True)
    assert await say(chat, "p1", "hello", message="m2") == "chat_revoked"
    assert await store.revoke("p1", "s1", "sorry", world.clock(), revoked=False)
    assert isinstance(await say(chat, "p1", "hello", message="m2"), Said)
    assert not await store.mute("nobody", None, "s1", "rude", now)
    assert await store.block(folded("fool"), "s1")
    chat.forget_words()
    assert await say(chat, "p2", "you f00l", message="m3") == "chat_blocked_word"
    assert await store.unblock(folded("fool"))
    chat.forget_words()
    assert isinstance(await say(chat, "p2", "you f00l", message="m3"), Said)


async def test_lines_go_with_the_person_and_after_a_while(world: World, chat: TableChat) -> None:
    await say(chat, "p1", "hello", message="m1")
    await say(chat, "p2", "hi", message="m2")
    async with world.pool.acquire() as connection, connection.transaction():
        assert await PeopleTables.erase(connection, "op1", "p1")
    told, lines = await chat.latest("t1")
    assert (told, texts(lines)) == (2, ["hi"])
    assert await say(chat, "p1", "still here", message="m3") == "chat_revoked"
    store = PostgresChat(world.pool)
    assert await store.prune(world.clock()) == 0
    world.clock.move(1)
    assert await store.prune(world.clock()) == 1
    assert (await chat.latest("t1"))[1] == []


async def test_what_is_said_is_in_no_event(world: World, chat: TableChat) -> None:
    async with world.pool.acquire() as connection:
        before = await connection.fetchval("SELECT count(*) FROM eventstore.events")
        await say(chat, "p1", "hello", message="m1")
        assert await connection.fetchval("SELECT count(*) FROM eventstore.events") == before
