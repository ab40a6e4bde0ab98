"""RULES.md section 6: bonus B and D, jackpot shares, and what pays for a wager."""

from __future__ import annotations

import pytest

from tests.rules_core.settling import (
    NO_GAME,
    QUEENS,
    blind,
    box,
    case,
    outcome_of,
    reasons,
    returned,
    settled,
)

TRIPS = "9s 9h 9d 4c 2d"


def test_b_is_decided_by_the_first_five_whatever_was_bought() -> None:
    made_later = box("7s 7h 6d 4c 2d", "exchange", "7d", (2,), bonus_player=10)
    lost_later = box("7s 7h 7d 4c 2d", "exchange", "Th", (2,), bonus_player=10)
    sixth = box("5s 6h 7d 8c Jd", "sixth", "9h", bonus_player=10)
    for entry, paid in [(made_later, 0), (lost_later, 210), (sixth, 0)]:
        (result,) = settled("live-shared@1", "Qs Qd 3c 5h 2c", entry)
        assert returned(result)["bonus_player"] == paid


def test_b_is_paid_although_the_box_folded_or_lost() -> None:
    folded = box("7s 7h 7d 4c 2d", "fold", bonus_player=10)
    beaten = box("7s 7h 7d 4c 2d", bonus_player=10)
    for entry in (folded, beaten):
        (result,) = settled("live-shared@1", "9s 9h 9d 4h 4d", entry)
        assert returned(result) == {
            "ante": 0,
            **({"bet": 0} if entry is beaten else {}),
            "bonus_player": 210,
        }


def test_b_of_a_blind_box() -> None:
    assert returned(settled("live-shared@1", QUEENS, blind("7s 7h 7d 4c 2d", bonus_player=10))[0]) == {
        "ante": 100,
        "bet": 800,
        "bonus_player": 210,
    }


@pytest.mark.parametrize(
    ("cards", "paid"),
    [
        ("7s 7h 7d Ac Kd", 210),  # both in the table: the higher
        ("7s 7h Ad Kc 3d", 20),  # only ace-king is
        ("7s 7h Ad Ac 3d", 60),  # sevens and another pair
        ("8s 8h Ad Ac 3d", 0),
        ("As Ah Ad Kc 3d", 20),  # three aces are not three sevens, ace-king it is
        ("As Ah Kd Kc 3d", 0),  # ace-king is not separate
    ],
)
def test_b_of_two_combinations_pays_the_higher_that_is_in_the_table(cards: str, paid: int) -> None:
    (result,) = settled("live-shared@1", "Qs Qd 9c 5h 2c", box(cards, bonus_player=10))
    assert returned(result)["bonus_player"] == paid


@pytest.mark.parametrize(
    ("dealer", "paid"),
    [
        ("7s 7h 7d Kc 2d", 210),
        ("7s 7h Kc 2d 2s", 60),
        ("7s 7h Ac Kc 2d", 0),  # the dealer's second combination never counts
        ("Ac Kd 9h 5c 3d", 20),
        ("Ac Qd 9h 5c 3d", 0),
    ],
)
def test_d_counts_the_best_hand_of_the_dealer_only(dealer: str, paid: int) -> None:
    (result,) = settled("live-shared@1", dealer, box("8s 8d Th 4c 4d", "fold", bonus_dealer=10))
    assert returned(result) == {"ante": 0, "bonus_dealer": paid}


def test_d_is_decided_by_the_first_hand_purchase_or_not() -> None:
    dealer = "Ac Qd 7h 8c 3d"
    entry = box(TRIPS, purchase=True, bonus_dealer=10)
    result = outcome_of(case("live-shared@1", dealer, entry, draws="8s"))
    assert result["dealer"]["final"] == "one_pair"
    assert returned(result["boxes"][0])["bonus_dealer"] == 0
    assert reasons(result["boxes"][0])["bonus_dealer"] == "bonus_dealer_lost"


@pytest.mark.parametrize(
    ("cards", "line"),
    [
        ("Tc Jc Qc Kc Ac", {"returned": 10, "jackpot_share_percent": 100}),
        ("Tc 9c 8c 7c 6c", {"returned": 10, "jackpot_share_percent": 10}),
    ],
)
def test_jackpot_gives_the_stake_back_and_carries_its_share(cards: str, line: dict[str, int]) -> None:
    entry = box(cards, "fold", bonus_player=10)
    (result,) = settled("dark-boxes@1", NO_GAME, entry)
    reason = {"wager": "bonus_player", "stake": 10, "reason": "bonus_player_jackpot"}
    assert result["lines"][-1] == reason | line


def test_funding_is_carried_and_changes_no_sum() -> None:
    free = {"stake": 10, "funding": "free-1"}
    entry = box(
        "7s 7h 7d 4c 2d",
        ante={"stake": 100, "funding": "free-2"},
        bonus_player=free,
        bonus_dealer={"stake": 5, "funding": "free-3"},
    )
    (result,) = settled("live-shared@1", "Ac Kd 9h 5c 3d", entry)
    assert result["lines"] == [
        {
            "wager": "ante",
            "stake": 100,
            "returned": 100,
            "reason": "ante_won_returned",
            "funding": "free-2",
        },
        {"wager": "bet", "stake": 200, "returned": 800, "reason": "bet_paid"},
        {
            "wager": "bonus_player",
            "stake": 10,
            "returned": 210,
            "reason": "bonus_player_paid",
            "funding": "free-1",
        },
        {
            "wager": "bonus_dealer",
            "stake": 5,
            "returned": 10,
            "reason": "bonus_dealer_paid",
            "funding": "free-3",
        },
    ]


def test_an_object_without_funding_is_cash() -> None:
    plain = settled("live-shared@1", QUEENS, box(TRIPS, bonus_player=10))
    wagers = {"ante": {"stake": 100}, "bonus_player": {"stake": 10, "funding": None}}
    assert settled("live-shared@1", QUEENS, box(TRIPS, wagers=wagers)) == plain
