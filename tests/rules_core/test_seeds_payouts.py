"""Every row of every pay-out table in the five seed texts, paid at a table of that house."""

from __future__ import annotations

import pytest

from tests.rules_core.seed_tables import (
    ACE_KING,
    DOUBLE,
    FIVE_CARD_DOUBLE,
    FLUSH,
    FOUR,
    FULL,
    PAIR,
    ROYAL,
    SINGLE,
    STEEL,
    STRAIGHT,
    TRIPS,
    TWO_PAIR,
    Combinations,
    bonus_paid,
    paid,
)
from tests.rules_core.settling import box, settled

LIVE, DARK, CLASSIC, THREE, FOUR_BOX = (
    "live-shared@1",
    "dark-boxes@1",
    "classic@1",
    "three-box@1",
    "four-box@1",
)

ODDS = {
    ROYAL: 100,
    STEEL: 50,
    FOUR: 20,
    FULL: 7,
    FLUSH: 5,
    STRAIGHT: 4,
    TRIPS: 3,
    TWO_PAIR: 2,
    PAIR: 1,
    ACE_KING: 1,
}
"""The table of single hands, the same in seeds 002, 003 and 004; 000 and 001 print no other."""

DOUBLES_002: dict[Combinations, int] = {
    (ROYAL, STEEL): 150,
    (ROYAL, FLUSH): 105,
    (ROYAL, STRAIGHT): 104,
    (STEEL, STEEL): 100,
    (STEEL, FLUSH): 55,
    (STEEL, STRAIGHT): 54,
    (STEEL, ACE_KING): 51,
    (FOUR, FULL): 27,
    (FOUR, ACE_KING): 21,
    (FULL, FULL): 14,
    (FULL, ACE_KING): 8,
    (FLUSH, FLUSH): 10,
    (FLUSH, STRAIGHT): 9,
    (FLUSH, PAIR): 6,
    (FLUSH, ACE_KING): 6,
    (STRAIGHT, STRAIGHT): 8,
    (STRAIGHT, ACE_KING): 5,
    (TRIPS, ACE_KING): 4,
    (TWO_PAIR, TWO_PAIR): 4,
    (TWO_PAIR, ACE_KING): 3,
    (PAIR, ACE_KING): 2,
}
"""Seed 002's table of two combinations."""

DOUBLES_003: list[tuple[str, str, Combinations, int]] = [
    ("pair and ace-king", "Ah Ac Kc 7h 9c", (PAIR, ACE_KING), 2),
    ("two pair and ace-king", "Kh Kc 8h 8c Ah 4c", (TWO_PAIR, ACE_KING), 3),
    ("three pairs", "Ah Ac 8h 8c 2h 2d", (TWO_PAIR, TWO_PAIR), 4),
    ("three of a kind and ace-king", "7c 7d 7h Ah Kc", (TRIPS, ACE_KING), 4),
    ("straight and one pair", "5c 6h 7c 8c 9h 9d", (STRAIGHT, STRAIGHT), 8),
    ("flush and one pair", "2h 5h 7h 9h Jh Jc", (FLUSH, PAIR), 6),
    ("flush and straight", "2h 5h 6h 7h 8h 9c", (FLUSH, STRAIGHT), 9),
    ("straight of six cards", "4c 5h 6c 7c 8h 9c", (STRAIGHT, STRAIGHT), 8),
    ("flush of six cards", "2h 5h 7h 9h Jh Kh", (FLUSH, FLUSH), 10),
    ("twice three of a kind", "Ac Ad Ah Kc Kd Kh", (FULL, FULL), 14),
    ("four of a kind and full house", "Kc Kd Kh Ks Ah Ac", (FOUR, FULL), 27),
    ("straight flush of six cards", "4h 5h 6h 7h 8h 9h", (STEEL, STEEL), 100),
    ("straight flush from nine to ace", "9h Th Jh Qh Kh Ah", (ROYAL, STEEL), 150),
    ("straight flush and one pair", "5h 6h 7h 8h 9h 9c", (STEEL, STRAIGHT), 54),
    ("royal flush and one pair", "Th Jh Qh Kh Ah Tc", (ROYAL, STRAIGHT), 104),
]
"""Seed 003's table, row by row, with a hand for each."""

BONUS_000 = {
    "Th Jh Qh Kh Ah": 1000,
    "9h Th Jh Qh Kh": 500,
    "9c 9d 9h 9s 2h": 100,
    "9c 9d 9h 2h 2c": 75,
    "2h 5h 9h Jh Kh": 50,
    "5c 6h 7h 8c 9c": 40,
    "7c 7d 7h 2h 4c": 20,
    "7c 7d 4h 4c 2h": 5,
    "Ah Ac 7h 7c 2h": 5,
    "Ah Kh Qc 9c 8h": 1,
}
"""Seed 000's bonus table, the same for player and dealer; hand to odds."""

BONUS_001 = {
    "9c 9d 4h 4c 2h": 2,
    "9c 9d 9h 2h 4c": 7,
    "5c 6h 7h 8c 9c": 40,
    "2h 5h 9h Jh Kh": 50,
    "9c 9d 9h 2h 2c": 70,
    "9c 9d 9h 9s 2h": 200,
}
"""Seed 001's bonus table, less the two rows that win a share of the jackpot."""


@pytest.mark.parametrize("house", [LIVE, DARK, CLASSIC, THREE, FOUR_BOX])
@pytest.mark.parametrize("hand", ODDS)
def test_single_hands_of_every_house(house: str, hand: str) -> None:
    assert paid(house, SINGLE[hand]) == ((hand,), ODDS[hand])


@pytest.mark.parametrize("pair", DOUBLES_002, ids="+".join)
def test_two_combinations_of_seed_002(pair: Combinations) -> None:
    assert paid(CLASSIC, DOUBLE[pair]) == (pair, DOUBLES_002[pair])


@pytest.mark.parametrize(
    ("cards", "pair", "odds"), [row[1:] for row in DOUBLES_003], ids=[row[0] for row in DOUBLES_003]
)
def test_two_combinations_of_seed_003(cards: str, pair: Combinations, odds: int) -> None:
    assert paid(THREE, cards) == (pair, odds)


@pytest.mark.parametrize("house", [LIVE, DARK, THREE, FOUR_BOX])
@pytest.mark.parametrize("pair", DOUBLES_002, ids="+".join)
def test_the_other_houses_pay_the_sum_of_odds_too(house: str, pair: Combinations) -> None:
    """Seeds 000, 001 and 004 say it without a table; 003's table lacks some rows that its hands can make."""
    assert paid(house, DOUBLE[pair]) == (pair, sum(ODDS[hand] for hand in pair))


@pytest.mark.parametrize("house", [LIVE, DARK, CLASSIC, THREE, FOUR_BOX])
@pytest.mark.parametrize("pair", FIVE_CARD_DOUBLE, ids="+".join)
def test_five_cards_can_hold_two_combinations(house: str, pair: Combinations) -> None:
    assert paid(house, FIVE_CARD_DOUBLE[pair]) == (pair, sum(ODDS[hand] for hand in pair))


@pytest.mark.parametrize("cards", BONUS_000)
def test_bonus_rows_of_seed_000(cards: str) -> None:
    both = bonus_paid(LIVE, cards, "bonus_player"), bonus_paid(LIVE, cards, "bonus_dealer")
    assert both == (10 + 10 * BONUS_000[cards],) * 2


@pytest.mark.parametrize(
    "cards", ["9c 9d 9h 2h 4c", "9c 9d 4h 4c 2h", "7c 7d 2h 4c 9h", "Ah Ac 9c 9h 2h", "Ah Qh Jc 9c 8h"]
)
def test_other_hands_win_no_bonus_of_seed_000(cards: str) -> None:
    assert (bonus_paid(LIVE, cards, "bonus_player"), bonus_paid(LIVE, cards, "bonus_dealer")) == (0, 0)


@pytest.mark.parametrize("cards", BONUS_001)
def test_bonus_rows_of_seed_001(cards: str) -> None:
    assert bonus_paid(DARK, cards, "bonus_player") == 10 + 10 * BONUS_001[cards]


@pytest.mark.parametrize("cards", ["9c 9d 2h 4c 7h", "Ah Kh Qc 9c 8h", "Ah Ac Kh 9c 8h", "9h 8h 5c 4c 2h"])
def test_other_hands_win_no_bonus_of_seed_001(cards: str) -> None:
    assert bonus_paid(DARK, cards, "bonus_player") == 0


@pytest.mark.parametrize(("cards", "share"), [("9h Th Jh Qh Kh", 10), ("Th Jh Qh Kh Ah", 100)])
def test_jackpot_rows_of_seed_001(cards: str, share: int) -> None:
    (entry,) = settled(DARK, "3d 3s 5d 8s Td", box(cards, "fold", bonus_player=10))
    assert entry["lines"][1] == {
        "wager": "bonus_player",
        "stake": 10,
        "returned": 10,
        "reason": "bonus_player_jackpot",
        "jackpot_share_percent": share,
    }
