"""Players of the demonstration: what they say for what they are shown, each thing once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from upcard_operate.demo.arriving import visitors_of
from upcard_operate.demo.crowd import DemoPlayer
from upcard_operate.demo.operators import OPERATORS
from upcard_operate.demo.tables import TABLES
from upcard_operate.demo.visitors import LookerOn, Visitor
from upcard_platform.play import Actions, OptionAction, OwnBox, PlaceAction
from upcard_platform.player import Player

LIVE, DARK = TABLES[0], TABLES[1]
HAND = ["9s", "9h", "4d", "4c", "2s"]
PLACE = PlaceAction(boxes=[2], wager="ante", blind=[], min=100, max=900, step=50)
OPTION = OptionAction(box=2, bet=200, fee=100, sixth_card=True, exchange_max=5)


class Seat:
    """Stands for a connection: shows one thing after another, accepts everything."""

    def __init__(self, *shown: dict[str, Any]) -> None:
        self._shown = shown
        self.said: list[Any] = []
        self.round = 7
        self.snapshot: Any = None
        self.events: list[Any] = []
        self.boxes: list[OwnBox] = []
        self.actions: Actions | None = None

    async def messages(self) -> AsyncIterator[Any]:
        """Each picture, and that it is news."""
        for picture in self._shown:
            for name, value in picture.items():
                setattr(self, name, value)
            yield SimpleNamespace(type="own", events=self.events)

    async def say(self, wish: Any) -> Any:
        """Accepted."""
        self.said.append(wish)
        return SimpleNamespace(accepted=True, reason=None)


async def played(table: Any, *shown: dict[str, Any], **habits: Any) -> list[tuple[str, int]]:
    """What somebody with these habits says; each with its round."""
    seat = Seat(*shown)
    one = DemoPlayer("p1", "a1", 1_000, **habits)
    await Visitor(one, table, cast("Player", seat), Random(2), Counter()).play()
    return [(wish.type, wish.round) for wish in seat.said]


def box(cards: list[str]) -> OwnBox:
    return OwnBox(box=2, blind=False, cards=[*cards], asked=True, wagers={"ante": 100}, staked=100)


def scanned(place: str, card: str, round_number: int = 7) -> Any:
    return SimpleNamespace(round=round_number, type="CardScanned", payload={"place": place, "card": card})


UP = scanned("dealer.4", "8c")
BETTING = {"actions": Actions(place=[PLACE])}
OPTIONS = {"actions": Actions(options=[OPTION]), "boxes": [box(HAND)], "events": [UP]}


async def test_each_thing_is_done_once() -> None:
    assert await played(LIVE, BETTING, BETTING, OPTIONS, OPTIONS) == [("bet", 7), ("option", 7)]


async def test_habits() -> None:
    assert await played(LIVE, BETTING, OPTIONS, sleeps=True) == [("bet", 7)]
    assert await played(LIVE, BETTING, OPTIONS, late=True) == [("option", 7), ("bet", 7)]
    assert await played(LIVE, BETTING, BETTING, changes=True) == [("bet", 7), ("undo", 7), ("bet", 7)]


async def test_nothing_is_decided_before_all_cards_are_seen() -> None:
    """One's own news may overtake the cards that everybody sees."""
    early = OPTIONS | {"boxes": [box(HAND[:4])]}
    assert await played(LIVE, early) == []
    assert await played(LIVE, OPTIONS | {"events": []}) == []
    public = early | {"events": [UP, scanned("box.2.4", "2s")]}
    assert await played(LIVE, early, public) == [("option", 7)]
    former = early | {"events": [UP, scanned("box.2.4", "2s", 6)]}
    assert await played(LIVE, former) == []


async def test_alone_they_bet_bit_by_bit() -> None:
    said = await played(DARK, *[BETTING] * 9)
    assert set(said) == {("bet", 7)}
    assert 1 <= len(said) <= 4


async def test_who_looks_on_sees_ends() -> None:
    end = SimpleNamespace(round=7, type="RoundSettled")

    class Shown:
        async def messages(self) -> AsyncIterator[Any]:
            yield SimpleNamespace(type="table", events=[end])
            await asyncio.Event().wait()

    looker = LookerOn(cast("Player", Shown()))
    watching = asyncio.create_task(looker.watch())
    await looker.sees(7)
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching


def test_players_come_from_all_casinos() -> None:
    found = visitors_of(LIVE, 5, Random(1), first=1).players
    wanted = [OPERATORS[place % len(OPERATORS)] for place in range(1, 6)]
    assert [(one.operator, one.elsewhere) for one in found] == [
        (one.operator, one.seamless) for one in wanted
    ]
