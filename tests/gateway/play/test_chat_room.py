"""What is kept of a chat for who comes: each line as it stands, and never what was taken away of it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.gateway.play.behind import TABLE, Talking
from upcard_gateway.entrypoints.play.chat_room import KEPT, ChatRoom
from upcard_gateway.entrypoints.play.contract import ChatTold

NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


class Talker:
    """Remembers what it is told."""

    player = "p1"

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def write(self, frames: bytes) -> None:
        """One message in one frame."""
        self.told.append(json.loads(frames[frames.index(b"{") :]))

    @property
    def texts(self) -> list[str | None]:
        """Every text that was told, in order."""
        return [line["text"] for told in self.told for line in told["lines"]]


def taken_away(chat: Talking, number: int) -> ChatTold:
    """A line of the chat's as it is told again, without its text."""
    line = next(one.line for one in chat.lines if one.line["line"] == number)
    return ChatTold(len(chat.lines) + 1, {**line, "text": None}, "")


def takes_away(chat: Talking, number: int) -> None:
    """The house takes a line away, and the chat tells so."""
    told = taken_away(chat, number)
    chat.lines.append(told)
    for one in tuple(chat.told):
        one([told])


def room(chat: Talking) -> ChatRoom:
    return ChatRoom(TABLE, chat, lambda: NOW, lambda: 7)


async def test_who_comes_later_is_not_told_what_was_taken_away() -> None:
    chat = Talking()
    opened, early = room(chat), Talker()
    await opened.join(early, None)
    for text in ("one", "two", "three"):
        chat.says(text)
    takes_away(chat, 2)
    assert early.texts == ["one", "two", "three", None]
    late, again = Talker(), Talker()
    await opened.join(late, None)
    assert late.texts == ["one", "three", None]
    await opened.join(again, "1")
    assert again.texts == ["three", None]
    assert again.told[-1]["seq"] == "4"
    assert {told["round"] for one in (early, late, again) for told in one.told} == {7}


async def test_what_is_taken_away_while_the_first_player_comes() -> None:
    """The latest lines were read before the line was taken away, and are told after it."""

    class Slow(Talking):
        async def latest(self, table: str) -> tuple[int, Sequence[ChatTold]]:
            known = await super().latest(table)
            takes_away(self, 1)
            return known

    chat = Slow()
    chat.says("one")
    chat.says("two")
    first = Talker()
    await room(chat).join(first, None)
    assert first.texts == ["two", None]


async def test_what_is_taken_away_while_somebody_is_told_what_they_missed() -> None:
    class Asked(Talking):
        async def since(self, table: str, seq: int) -> Sequence[ChatTold] | None:
            missed = tuple(await super().since(table, seq) or ())
            takes_away(self, 2)
            return missed

    chat = Asked()
    for text in ("one", "two", "three"):
        chat.says(text)
    opened = room(chat)
    await opened.join(Talker(), None)
    back = Talker()
    await opened.join(back, "1")
    assert back.texts == ["three", None]


@pytest.mark.parametrize("seq", [0, 1, 5, KEPT, KEPT + 9])
async def test_who_comes_back_misses_nothing_however_much_is_kept(seq: int) -> None:
    chat = Talking()
    opened = room(chat)
    await opened.join(Talker(), None)
    for number in range(1, KEPT + 10):
        chat.says(str(number))
    back = Talker()
    await opened.join(back, str(seq))
    assert back.texts == [str(number) for number in range(seq + 1, KEPT + 10)]
