"""A dealer who does what the console says, against a console that says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from upcard_operate.demo.console import Console
from upcard_operate.demo.house import DemoFailed
from upcard_operate.demo.pages import Staff

PATH = "/staff/api/dealer/tables/t1"


class Desk:
    """Says what is next, one thing after another; keeps what was done."""

    def __init__(self, *steps: str, refused: str = "") -> None:
        self.done: list[tuple[str, dict[str, object]]] = []
        self._steps: Iterator[str] = iter(steps)
        self._refused = refused

    async def call(self, path: str) -> dict[str, Any]:
        """The next step."""
        assert path == PATH
        kind = next(self._steps)
        by_dealer = kind not in {"betting", "reader", "window", "settling"}
        return {
            "next": {"kind": kind, "deck": "deck-t1", "by_dealer": by_dealer},
            "round": {"number": 7} if kind in {"confirm", "window"} else None,
        }

    async def do(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Do it, or refuse the one that is to be refused."""
        act = path.removeprefix(f"{PATH}/")
        assert len(str(body["request_id"])) >= 8
        self.done.append((act, {key: value for key, value in body.items() if key != "request_id"}))
        if act == self._refused:
            return {"result": "refused", "reason": "table_closed", "text": "It is closed."}
        return {"result": "done", "round": 7}


def console(desk: Desk) -> Console:
    return Console(cast("Staff", desk), "t1")


async def test_a_dealer_takes_the_table_over() -> None:
    desk = Desk("take_table", "bring_deck", "verify_deck", "shuffle_deck")
    await console(desk).take_over()
    assert desk.done == [
        ("sign_in", {}),
        ("introduce_deck", {"deck": "deck-t1"}),
        ("verify_deck", {"deck": "deck-t1"}),
    ]


async def test_a_round_is_dealt_to_its_end() -> None:
    desk = Desk(
        "shuffle_deck", "open_round", "betting", "reader", "confirm", "window", "settling", "shuffle_deck"
    )
    assert await console(desk).deal() == 7
    assert desk.done == [
        ("shuffle_deck", {"deck": "deck-t1"}),
        ("open_round", {}),
        ("confirm_cards", {"round": 7}),
    ]


async def test_cards_that_the_table_has_confirmed_by_itself_are_no_trouble() -> None:
    desk = Desk("open_round", "confirm", "shuffle_deck", refused="confirm_cards")
    assert await console(desk).deal() == 7


async def test_what_is_refused_is_said() -> None:
    desk = Desk("open_round", refused="open_round")
    with pytest.raises(DemoFailed, match="t1: open_round is refused: table_closed: It is closed"):
        await console(desk).deal()


async def test_what_this_dealer_does_not_know_is_said() -> None:
    with pytest.raises(DemoFailed, match="does not know what leave_manual means"):
        await console(Desk("leave_manual")).deal()
