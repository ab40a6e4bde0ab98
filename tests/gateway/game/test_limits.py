"""The limits of sessions: an ante leaves room for its bet, and nothing that was begun is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upcard_gateway.app.game_limits import Limited, Placed, Room
from upcard_gateway.domain.sessions import Limits


def box(number: int, *, blind: bool = False, folded: bool = False, **wagers: int) -> Mapping[str, Any]:
    return {"box": number, "blind": blind, "folded": folded, "wagers": wagers}


def room(limits: Limits, *boxes: Mapping[str, Any]) -> Room:
    return Room.of(limits, {"boxes": list(boxes)})


def test_an_ante_is_taken_with_the_room_for_its_bet() -> None:
    limited = Limits(round_max=300)
    assert room(limited).placing([Placed(1, "ante", 100)]) is None
    assert room(limited).placing([Placed(1, "ante", 101)]) == Limited("session_round_limit", 300)
    assert room(limited, box(1, ante=50)).placing([Placed(1, "ante", 50)]) is None
    assert room(limited, box(1, ante=50)).placing([Placed(2, "ante", 60)]) is not None


def test_a_wager_counts_with_what_stands_and_an_ante_as_its_bet() -> None:
    limited = Limits(wager_max=200)
    assert room(limited).placing([Placed(1, "ante", 100)]) is None
    assert room(limited).placing([Placed(1, "ante", 101)]) == Limited("session_wager_limit", 200)
    assert (
        room(limited, box(1, ante=50, bonus_player=150)).placing([Placed(1, "bonus_player", 51)]) is not None
    )
    assert room(limited, box(1, ante=50, bonus_player=150)).placing([Placed(1, "bonus_player", 50)]) is None


def test_placements_count_together() -> None:
    limited = Limits(round_max=600)
    assert room(limited).placing([Placed(1, "ante", 100), Placed(2, "ante", 100)]) is None
    assert room(limited).placing([Placed(1, "ante", 100), Placed(2, "ante", 101)]) is not None


def test_a_blind_boxs_bet_counts_once() -> None:
    limited = Limits(round_max=300)
    standing = room(limited, box(1, blind=True, ante=100, bet=200))
    assert standing.committed == 300
    assert standing.placing([]) is None
    assert standing.placing([Placed(1, "bonus_player", 1)]) is not None


def test_doubling_and_repeating() -> None:
    assert room(Limits(round_max=600), box(1, ante=100)).doubling() is None
    assert room(Limits(round_max=599), box(1, ante=100)).doubling() is not None
    before = room(Limits(), box(1, blind=True, ante=100, bet=200, bonus_dealer=10))
    assert before.standing() == (Placed(1, "ante", 100), Placed(1, "bonus_dealer", 10))


def test_fees_leave_the_room_for_the_bet() -> None:
    limited = Limits(round_max=400)
    assert room(limited, box(1, ante=100)).adding(100) is None
    assert room(limited, box(1, ante=100, option_fee=100)).adding(1) == Limited("session_round_limit", 400)
    assert room(Limits(wager_max=50), box(1, ante=20)).adding(51) == Limited("session_wager_limit", 50)


def test_folded_boxes_need_no_room() -> None:
    assert room(Limits(round_max=300), box(1, folded=True, ante=100)).left == 200
    assert room(Limits(round_max=300), box(1, ante=100)).left == 0


def test_what_is_offered_is_what_is_taken() -> None:
    for limits in (Limits(round_max=1_000), Limits(wager_max=170), Limits(wager_max=170, round_max=1_000)):
        for standing in (
            (),
            (box(1, ante=30),),
            (box(1, ante=30, bonus_player=20), box(2, blind=True, ante=40, bet=80)),
        ):
            for wager in ("ante", "bonus_player", "bonus_dealer"):
                for number in (1, 2):
                    found = room(limits, *standing)
                    most = found.most([number], wager)
                    assert most is not None
                    assert found.placing([Placed(number, wager, most)]) is None
                    assert found.placing([Placed(number, wager, most + 1)]) is not None


def test_no_limit_at_all() -> None:
    free = room(Limits(), box(1, ante=10**9))
    assert free.most([1], "ante") is None
    assert free.placing([Placed(1, "ante", 10**12)]) is None
    assert free.adding(10**12) is None
    assert Room.of(Limits(), None).committed == 0
