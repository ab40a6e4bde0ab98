"""RULES.md 4.4: switch cards of a shared table, cards drawn from the deck on an exclusive one."""

from __future__ import annotations

import pytest

from rules_core.cards import parse_cards
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.events.fields import DecidedOption
from rules_core.round.hands import hand_cards
from tests.rules_core.round.scripted import (
    DEALER,
    Scripted,
    ante,
    at,
    commitment,
    ruleset_with,
)

SHARED = {"box.2": "9s 9h 9d 4c 2d", "switch": "Kd 7s 5h 3h Jc", "dealer": "Qs Jd 8h 5c 3d"}
FIVE = tuple(f"switch.{index}" for index in range(5))


def shared(*players: str) -> Scripted:
    table = Scripted("live-shared@1", SHARED).open()
    for player in players:
        table.place(player, ante(2))
    return table.deal()


def hand(table: Scripted, player: str, box: int) -> tuple[str, ...]:
    """The hand of a box after its option, in the order of the places."""
    play = table.state.seats[player].plays[box]
    cards = hand_cards(table.state, table.sealed, play)
    names = {card: name for name in _deck() for card in parse_cards(name)}
    return tuple(names[card] for card in cards)


def _deck() -> list[str]:
    return [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


OPTIONS: list[tuple[DecidedOption | None, tuple[int, ...]]] = [
    ("bet", ()),
    ("fold", ()),
    ("sixth", ()),
    ("exchange", (0,)),
    ("exchange", (4, 3, 2, 1, 0)),
    (None, ()),
]


@pytest.mark.parametrize(("kind", "positions"), OPTIONS, ids=str)
def test_shared_always_five_switch_cards_after_the_options_close(
    kind: DecidedOption | None, positions: tuple[int, ...]
) -> None:
    table = shared("p1")
    assert table.awaited() == ()
    if kind:
        table.option("p1", 2, kind, *positions)
    table.close_options()
    assert table.awaited() == FIVE
    table.lay(4)
    table.when(c.ConfirmCards(at(40), DEALER)).refused("cards_missing", place="switch.4")
    table.lay(1)
    table.when(table.scan_command(table.next_card("nowhere"))).refused("no_card_awaited")


def test_shared_no_switch_cards_when_nobody_plays_box_2() -> None:
    table = Scripted("live-shared@1", SHARED).open().place("p1", ante(1, blind=True), ante(3, blind=True))
    table.close_betting().lay()
    assert [type(event) for event in table.confirm()] == [e.CardsRevealed, e.DealerRevealed]
    assert table.awaited() == ()


def test_shared_switch_cards_lie_face_down() -> None:
    table = shared("p1")
    table.close_options()
    table.when(table.scan_command()).then(
        e.CardScanned("switch.0", "switch.0", "shoe", commitment=commitment("Kd", "switch.0"))
    )


def test_shared_a_player_gets_the_first_k_in_the_order_of_the_positions_chosen() -> None:
    table = shared("p1", "p2", "p3", "p4", "p5")
    table.option("p1", 2, "exchange", 3, 0).option("p2", 2, "exchange", 0, 3)
    table.option("p3", 2, "exchange", 4).option("p4", 2, "exchange", 4, 3, 2, 1, 0).option("p5", 2, "bet")
    table.close_options()
    table.lay()
    assert {player: hand(table, player, 2) for player in table.state.seats} == {
        "p1": ("7s", "9h", "9d", "Kd", "2d"),
        "p2": ("Kd", "9h", "9d", "7s", "2d"),
        "p3": ("9s", "9h", "9d", "4c", "Kd"),
        "p4": ("Jc", "3h", "5h", "7s", "Kd"),
        "p5": ("9s", "9h", "9d", "4c", "2d"),
    }


def test_shared_a_sixth_card_is_the_first_switch_card() -> None:
    table = shared("p1", "p2").option("p1", 2, "sixth").option("p2", 2, "exchange", 1)
    table.close_options()
    table.lay()
    assert hand(table, "p1", 2) == ("9s", "9h", "9d", "4c", "2d", "Kd")
    assert hand(table, "p2", 2) == ("9s", "Kd", "9d", "4c", "2d")


EXCLUSIVE = {
    "box.1": "9s 9h 9d 4c 2d",
    "box.3": "8s 8d 4d Kc 2h",
    "replacement.1": "Kd 7s",
    "replacement.3": "5h",
    "dealer": "Qs Jd 8h 5c 3d",
}


def exclusive(*, public: bool = False) -> Scripted:
    ruleset = ruleset_with("three-box@1", open_cards="public" if public else "private")
    return Scripted(ruleset, EXCLUSIVE).open().place("p1", ante(1)).place("p2", ante(3)).deal()


def test_exclusive_as_many_cards_as_the_box_bought_box_by_box() -> None:
    table = exclusive().option("p1", 1, "exchange", 4, 3)
    table.close_options()
    assert table.awaited() == ("replacement.1.0", "replacement.1.1")
    table.lay()
    table.confirm()
    table.final("p1", 1, "bet")
    table.close_finals()
    table.proceed()
    table.option("p2", 3, "sixth")
    table.close_options()
    assert table.awaited() == ("replacement.3.0",)
    table.lay()
    assert hand(table, "p1", 1) == ("9s", "9h", "9d", "7s", "Kd")
    assert hand(table, "p2", 3) == ("8s", "8d", "4d", "Kc", "2h", "5h")


@pytest.mark.parametrize("kind", ["bet", "fold", None])
def test_exclusive_no_card_for_a_box_that_bought_none(kind: DecidedOption | None) -> None:
    table = exclusive()
    if kind:
        table.option("p1", 1, kind)
    table.close_options()
    assert table.awaited() == ()
    table.when(table.scan_command(table.next_card("nowhere"))).refused("no_card_awaited")


def test_exclusive_private_replacement_cards_lie_face_down() -> None:
    table = exclusive().option("p1", 1, "sixth")
    table.close_options()
    table.when(table.scan_command()).then(
        e.CardScanned(
            "replacement.1.0", "replacement.1.0", "shoe", commitment=commitment("Kd", "replacement.1.0")
        )
    )


def test_exclusive_public_replacement_cards_lie_face_up() -> None:
    table = exclusive(public=True).option("p1", 1, "sixth")
    table.close_options()
    table.when(table.scan_command()).then(
        e.CardScanned("replacement.1.0", "replacement.1.0", "shoe", card="Kd")
    )
