"""A statement's pages, newest first: every line once, however the moments of lines lie."""

from __future__ import annotations

import datetime as dt
import random
from itertools import chain
from typing import Any, Final, cast

import pytest

from tests.gateway.game.players import NOW, playing
from upcard_gateway.adapters.history_rounds import Money, Statement, StatementLine, Window
from upcard_gateway.entrypoints.play import commands_lists
from upcard_gateway.entrypoints.play.commands_lists import PAGE, Lists, ListWrong
from upcard_platform import play

ACCOUNT: Final = "account-p1"
_AT_ONCE: Final = 7
"""Most lines of one moment: one settlement of many boxes, say."""


def line(number: int, at: dt.datetime) -> StatementLine:
    money = Money(number, 0, 0)
    return StatementLine(at, "hold", money, 0, money, "t1.1", None, None, f"t{number}", f"e{number}")


class History:
    """Plays the history: lines of a period, oldest first, a page of them; counts how often it is asked."""

    def __init__(self, lines: list[StatementLine]) -> None:
        self.lines = lines
        self.asked = 0

    async def statement(self, _: object, player: str, currency: str, window: Window) -> Statement:
        """See `adapters.history_rounds.statement`."""
        assert (player, currency, window.after) == ("p1", "EUR", "")
        assert window.since < window.until
        self.asked += 1
        found = [one for one in self.lines if window.since <= one.at < window.until]
        more = "more" if len(found) > window.limit else ""
        nothing = Money(0, 0, 0)
        page = tuple(found[: window.limit])
        return Statement(ACCOUNT, "EUR", "transfer", nothing, nothing, page, more)


def lists(monkeypatch: pytest.MonkeyPatch, lines: list[StatementLine]) -> tuple[Lists, History]:
    history = History(lines)
    monkeypatch.setattr(commands_lists, "statement", history.statement)
    return Lists(cast("Any", None), lambda: NOW), history


async def pages(made: Lists, **asked: Any) -> list[list[str]]:
    """All pages: the transactions of each."""
    found: list[list[str]] = []
    after: str | None = None
    while True:
        answer = cast(
            "Any", await made.statement(playing(), play.StatementAsked(id="m1", after=after, **asked))
        )
        found.append([one["transaction"] for one in answer["lines"]])
        after = answer["next"]
        if after is None:
            return found


@pytest.mark.parametrize("seed", range(12))
async def test_pages_have_every_line_once_and_the_newest_first(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    lines: list[StatementLine] = []
    at = NOW - dt.timedelta(days=dice.choice((0, 1, 40, 900)))
    while len(lines) < dice.choice((1, PAGE, PAGE + 1, 3 * PAGE, 500)):
        for _ in range(dice.randint(1, _AT_ONCE)):
            lines.append(line(len(lines), at))
        at -= dt.timedelta(seconds=dice.choice((0.000_001, 1, 3_600, 86_400, 10_000_000)))
        if at < NOW - commands_lists.LOOKED_BACK:
            break
    oldest_first = sorted(
        (line(-number, one.at) for number, one in enumerate(lines)), key=lambda one: (one.at, one.change.cash)
    )
    made, _ = lists(monkeypatch, oldest_first)
    found = await pages(made)
    within = [one for one in oldest_first if one.at >= NOW - commands_lists.LOOKED_BACK]
    assert list(chain.from_iterable(found)) == [one.transaction for one in reversed(within)]
    assert all(len(page) == PAGE for page in found[:-1])


async def test_a_busy_second_is_found_in_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(number, NOW - dt.timedelta(milliseconds=400 - number)) for number in range(150)]
    made, history = lists(monkeypatch, lines)
    found = await pages(made)
    assert sum(map(len, found)) == 150
    assert history.asked <= 24 * len(found)


async def test_days_bound_what_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(day, NOW - dt.timedelta(days=10 - day)) for day in range(10)]
    made, _ = lists(monkeypatch, lines)
    first, last = (NOW - dt.timedelta(days=4)).date(), (NOW - dt.timedelta(days=2)).date()
    assert await pages(made, since=first, until=last) == [["t8", "t7", "t6"]]
    assert await pages(made, until=dt.date(9999, 12, 31)) == [[f"t{day}" for day in range(9, -1, -1)]]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"after": "nonsense"}, "after_unknown"),
        ({"after": "99999999999999999.999x"}, "after_unknown"),
        ({"since": "9999-01-01"}, "period_invalid"),
        ({"since": "2026-01-02", "until": "2026-01-01"}, "period_invalid"),
        ({"until": "0001-01-01"}, "period_invalid"),
    ],
)
async def test_what_cannot_be_listed(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], reason: str
) -> None:
    made, _ = lists(monkeypatch, [])
    with pytest.raises(ListWrong) as caught:
        await made.statement(playing(), play.StatementAsked.model_validate({"id": "m1", **asked}))
    assert caught.value.reason == reason


async def test_any_cursor_of_the_right_form_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = lists(monkeypatch, [line(1, NOW - dt.timedelta(days=1))])
    for after, transactions in (("99999999999999999.0", ["t1"]), ("0.0", [])):
        answer = cast("Any", await made.statement(playing(), play.StatementAsked(id="m1", after=after)))
        assert [one["transaction"] for one in answer["lines"]] == transactions
