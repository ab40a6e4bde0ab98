"""Hands for the pay-out tables of the seed texts, and how a row is tried.

A row is tried as a house would try it at the table: the hand beats a dealer with a game, and the bet is paid.
"""

from __future__ import annotations

from typing import Literal

from tests.rules_core.settling import box, returned, settled

Combinations = tuple[str, ...]

ROYAL, STEEL, FOUR, FULL, FLUSH, STRAIGHT = (
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
)
TRIPS, TWO_PAIR, PAIR, ACE_KING = "three_of_a_kind", "two_pair", "one_pair", "ace_king"

LOW_GAMES = ("Ad Kd 7s 4d 2s", "3d 3s 5d 8s Td", "6d 6s 4s Js 2s")
"""Dealers that barely have a game; the first one that shares no card with a box is used."""

SINGLE = {
    ROYAL: "Th Jh Qh Kh Ah",
    STEEL: "9h Th Jh Qh Kh",
    FOUR: "9c 9d 9h 9s 2h",
    FULL: "9c 9d 9h 2h 2c",
    FLUSH: "2h 5h 9h Jh Kh",
    STRAIGHT: "5c 6h 7h 8c 9c",
    TRIPS: "9c 9d 9h 2h 4c",
    TWO_PAIR: "9c 9d 4h 4c 2h",
    PAIR: "9c 9d 2h 4c 7h",
    ACE_KING: "Ah Kh Qc 9c 8h",
}
"""Five cards for each hand that is paid, without a second combination."""

DOUBLE: dict[Combinations, str] = {
    (ROYAL, STEEL): "9h Th Jh Qh Kh Ah",
    (ROYAL, FLUSH): "Th Jh Qh Kh Ah 2h",
    (ROYAL, STRAIGHT): "9c Th Jh Qh Kh Ah",
    (STEEL, STEEL): "4h 5h 6h 7h 8h 9h",
    (STEEL, FLUSH): "5h 6h 7h 8h 9h Kh",
    (STEEL, STRAIGHT): "Ac 9h Th Jh Qh Kh",
    (STEEL, ACE_KING): "Ah 2h 3h 4h 5h Kc",
    (FOUR, FULL): "Kc Kd Kh Ks Ah Ac",
    (FOUR, ACE_KING): "Kc Kd Kh Ks Ah 2c",
    (FULL, FULL): "Ac Ad Ah Kc Kd Kh",
    (FULL, ACE_KING): "7c 7d 7h Ah Ac Kh",
    (FLUSH, FLUSH): "2h 5h 7h 9h Jh Kh",
    (FLUSH, STRAIGHT): "2h 5h 6h 7h 8h 9c",
    (FLUSH, PAIR): "2h 5h 7h 9h Jh Jc",
    (FLUSH, ACE_KING): "2h 7h Jh Qh Kh Ac",
    (STRAIGHT, STRAIGHT): "4c 5h 6c 7c 8h 9c",
    (STRAIGHT, ACE_KING): "Ah 2c 3h 4c 5h Kc",
    (TRIPS, ACE_KING): "7c 7d 7h Ah Kc 2h",
    (TWO_PAIR, TWO_PAIR): "Ah Ac 8h 8c 2h 2d",
    (TWO_PAIR, ACE_KING): "Kh Kc 8h 8c Ah 4c",
    (PAIR, ACE_KING): "Ah Ac Kc 7h 9c 2d",
}
"""Six cards for each two combinations that are paid; the last one is bought."""

FIVE_CARD_DOUBLE: dict[Combinations, str] = {
    (FOUR, ACE_KING): "Kc Kd Kh Ks Ah",
    (TRIPS, ACE_KING): "7c 7d 7h Ah Kc",
    (PAIR, ACE_KING): "Ah Ac Kc 7h 9c",
}
"""The doubles of five cards: ace-king alone can be second."""


def dealer_for(cards: str) -> str:
    """A dealer with a low game and none of these cards."""
    return next(dealer for dealer in LOW_GAMES if not set(dealer.split()) & set(cards.split()))


def paid(ruleset: str, cards: str, number: int = 2) -> tuple[Combinations, int]:
    """The combinations that a bet of 200 on this hand is paid for, and what it wins to one.

    A sixth card is bought after five.
    """
    five, sixth = cards.split()[:5], cards.split()[5:]
    hand = box(" ".join(five), "sixth" if sixth else "bet", " ".join(sixth), box=number)
    (entry,) = settled(ruleset, dealer_for(cards), hand)
    assert entry["outcome"] == "win", (entry, dealer_for(cards))
    won, rest = divmod(returned(entry)["bet"] - 200, 200)
    assert (rest, won) == (0, entry["odds"])
    assert returned(entry)["ante"] == 100
    return tuple(entry["combinations"]), won


def bonus_paid(ruleset: str, cards: str, wager: Literal["bonus_player", "bonus_dealer"]) -> int:
    """What a bonus of 10 gives back for this hand of the box, or of the dealer; the box folds."""
    if wager == "bonus_player":
        dealer, hand = dealer_for(cards), box(cards, "fold", bonus_player=10)
    else:
        dealer, hand = cards, box(dealer_for(cards), "fold", bonus_dealer=10)
    (entry,) = settled(ruleset, dealer, hand)
    back: int = returned(entry)[wager]
    return back
