"""A round of each kind of table, stopped on its way: one for every step that a round can be in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rules_core.round import commands as c
from tests.rules_core.round.scripted import DEALER, Scripted, ante, bonus_b

HANDS = {"dealer": "Qs Jd 8h 5c 3d", "draw": "Ts", "switch": "6c 7s 5h 3h Jc", "replacement.1": "Tc"}
SHARED = {**HANDS, "box.1": "Th 9c 7d 6s 2h", "box.2": "9s 9h 9d 4c 2d"}
PRIVATE = {**HANDS, "box.1": "9s 9h 9d 4c 2d", "box.2": "As Kh 7d 6s 2h", "box.3": "8s 8c 6d 4h 2c"}


def shared_round() -> Iterator[Scripted]:
    """p1 in boxes 1 and 2, p2 in box 2, who passes both windows."""
    table = Scripted("live-shared@1", SHARED)
    yield table
    table.open().place("p1", ante(2), bonus_b(2, 50), ante(1, blind=True)).place("p2", ante(2))
    yield table
    table.close_betting().lay(7)
    yield table
    table.lay()
    yield table
    table.confirm()
    table.option("p1", 2, "sixth")
    yield table
    table.close_options()
    table.lay(1)
    yield table
    table.lay()
    table.confirm()
    table.final("p1", 2, "bet", 300)
    yield table
    table.close_finals()
    yield table
    table.proceed()
    yield table
    table.proceed()
    table.buy("p1", 2)
    yield table
    table.close_purchase()
    yield table
    table.lay()
    yield table
    table.confirm()
    yield table
    table.settle(1)
    yield table
    table.settle()
    yield table
    table.do(c.Resettle("wrong_result", "staff:a", "staff:b", refund=True, limit=1))
    yield table


def private_round() -> Iterator[Scripted]:
    """p1 in boxes 1 and 2 (open) and 3 (blind)."""
    table = Scripted("four-box@1", PRIVATE).open().place("p1", ante(1), ante(2), ante(3, blind=True))
    yield table
    table.deal()
    yield table
    table.option("p1", 1, "exchange", 0)
    table.close_options()
    yield table
    table.lay()
    table.confirm()
    yield table
    table.final("p1", 1, "fold")
    table.close_finals()
    yield table
    table.proceed()
    table.option("p1", 2, "bet")
    table.close_options()
    table.proceed()
    yield table
    table.proceed()
    table.do(c.CancelRound("dealer_mistake", DEALER))
    yield table


def on_the_way(play: Callable[[], Iterator[Scripted]], stop: int) -> Scripted:
    """The round when it has come to its stop number `stop`."""
    for index, table in enumerate(play()):
        if index == stop:
            return table
    msg = f"this round has no stop {stop}"
    raise ValueError(msg)


STOPS: list[tuple[Callable[[], Iterator[Scripted]], int]] = [
    *((shared_round, stop) for stop in range(16)),
    *((private_round, stop) for stop in range(7)),
]
"""Every stop of both rounds."""
