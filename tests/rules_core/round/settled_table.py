"""A round of three players of `live-shared@1`, as far as its settlement, and what each of them is due.

Box 2 holds three nines against the dealer's ace-king: p1 bet; p2 bought a sixth card and bet, and lost the
blind box 1; p3 folded.
"""

from __future__ import annotations

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.settlement.model import BoxResult, Line
from tests.rules_core.round.scripted import Scripted, ante

ACE_KING = "As Kd 8h 5c 3d"
CARDS = {
    "box.1": "Th 9c 7d 6s 2h",
    "box.2": "9s 9h 9d 4c 2d",
    "box.3": "Ts 8c 6d 4h 2c",
    "switch": "Kh 7s 5h 3h Jc",
    "dealer": ACE_KING,
}
TRIPS = ("three_of_a_kind", ("three_of_a_kind",), 3)

P1 = BoxResult(
    2,
    "p1",
    "win",
    *TRIPS,
    (Line("ante", 100, 100, "ante_won_returned"), Line("bet", 200, 800, "bet_paid")),
    300,
    900,
    600,
)
P2_BLIND = BoxResult(
    1,
    "p2",
    "lose",
    "nothing",
    (),
    0,
    (Line("ante", 100, 0, "ante_beaten"), Line("bet", 200, 0, "bet_beaten")),
    300,
    0,
    -300,
)
P2_SIXTH = BoxResult(
    2,
    "p2",
    "win",
    *TRIPS,
    (
        Line("ante", 200, 200, "ante_won_returned"),
        Line("bet", 400, 1_600, "bet_paid"),
        Line("option_fee", 200, 0, "option_fee_sixth_card"),
    ),
    800,
    1_800,
    1_000,
)
P3_FOLDED = BoxResult(2, "p3", "folded", *TRIPS, (Line("ante", 100, 0, "ante_folded"),), 100, 0, -100)


def settled(player: str, *boxes: BoxResult, revision: int = 1) -> e.PlayerSettled:
    """The settlement of a player with these boxes."""
    staked = sum(box.staked for box in boxes)
    returned = sum(box.returned for box in boxes)
    return e.PlayerSettled(player, "EUR", revision, boxes, staked, returned, returned - staked)


def decided() -> Scripted:
    """The round with nothing left to decide."""
    table = Scripted("live-shared@1", CARDS).open()
    table.place("p1", ante(2)).place("p2", ante(2, 200), ante(1, blind=True)).place("p3", ante(2)).deal()
    table.option("p1", 2, "bet").option("p2", 2, "sixth").option("p3", 2, "fold")
    table.close_options()
    table.lay()
    table.confirm()
    table.final("p1", 2, "stand").final("p2", 2, "bet")
    table.close_finals()
    table.proceed()
    return table


def table() -> Scripted:
    """The round settled."""
    done = decided()
    done.settle()
    return done


PROPOSER, APPROVER = "staff:ann", "staff:bob"
REFUND = c.Resettle("wrong_result", PROPOSER, APPROVER, refund=True)


def cards(*fixes: tuple[str, str], limit: int = 500) -> c.Resettle:
    """A correction of cards, as (place, card)."""
    corrections = tuple(e.CardCorrection(place, card) for place, card in fixes)
    return c.Resettle("wrong_card_read", PROPOSER, APPROVER, cards=corrections, limit=limit)


def choice(*fixes: e.ChoiceCorrection) -> c.Resettle:
    """A correction of choices."""
    return c.Resettle("dealer_mistake", PROPOSER, APPROVER, choices=fixes)
