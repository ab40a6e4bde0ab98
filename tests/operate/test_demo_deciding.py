"""What players of the demonstration decide from what they are shown."""

from __future__ import annotations

from random import Random
from typing import Any

from upcard_operate.demo.deciding import (
    Final,
    Option,
    Purchase,
    Stake,
    finals,
    options,
    purchases,
    stakes_alone,
    stakes_together,
)

NOTHING: dict[str, Any] = {"place": [], "options": [], "finals": [], "purchases": []}


def view(hand: str = "", up_card: str = "8c", **actions: object) -> dict[str, Any]:
    """A view with one box, number 2."""
    cards = {f"box.2.{place}": card for place, card in enumerate(hand.split())}
    own = {"boxes": [{"box": 2, "hand": {"name": actions.pop("name", "nothing")}}]}
    return {"actions": NOTHING | actions, "cards": {**cards, "dealer.4": up_card}, "own": own}


def option(**more: object) -> list[dict[str, object]]:
    return [{"box": 2, "bet": 200, "sixth_card": True, "exchange_max": 5} | more]


def test_a_good_hand_bets_and_a_bad_one_folds() -> None:
    assert options(view("9s 9h 4d 4c 2s", options=option())) == [Option(2, "bet")]
    assert options(view("Qs 9h 6d 4c 2s", options=option())) == [Option(2, "fold")]


def test_what_is_not_offered_is_not_chosen() -> None:
    straight = "9s 8h 7d 6c 5s"
    assert options(view(straight, options=option())) == [Option(2, "sixth")]
    assert options(view(straight, options=option(sixth_card=False))) == [Option(2, "bet")]
    assert options(view(straight, options=option(sixth_card=False, bet=0))) == [Option(2, "fold")]
    pair = "5s 5h 9d 7c 2s"
    assert options(view(pair, options=option())) == [Option(2, "exchange", (2, 3, 4))]
    assert options(view(pair, options=option(exchange_max=2))) == [Option(2, "bet")]


def test_strong_hands_are_insured_and_bought_for() -> None:
    final = {"box": 2, "choices": ["bet", "fold"], "insurance": {"min": 50, "max": 200}}
    assert finals(view(name="flush", finals=[final])) == [Final(2, "bet", 50)]
    assert finals(view(name="one_pair", finals=[final])) == [Final(2, "bet")]
    assert finals(view(name="nothing", finals=[final])) == [Final(2, "fold")]
    stand = {"box": 2, "choices": ["stand"], "insurance": None}
    assert finals(view(name="flush", finals=[stand])) == [Final(2, "stand")]
    assert [one.stakes for one in (Final(2, "stand"), Final(2, "stand", 5), Final(2, "bet"))] == [
        False,
        True,
        True,
    ]
    assert purchases(view(name="straight", purchases=[{"box": 2, "fee": 100}])) == [Purchase(2, buy=True)]
    assert purchases(view(name="straight", purchases=[{"box": 2, "fee": 0}])) == [Purchase(2, buy=False)]
    assert purchases(view(name="one_pair", purchases=[{"box": 2, "fee": 100}])) == [Purchase(2, buy=False)]


def test_bets_are_within_what_is_allowed() -> None:
    dear = {"boxes": [1], "blind": [], "wager": "ante", "min": 2_000, "max": 9_000}
    pair = {"boxes": [1, 3], "blind": [3], "wager": "ante", "min": 100, "max": 900}
    assert stakes_alone(view(place=[dear]), Random(1)) == []
    assert stakes_alone(view(place=[dear, pair]), Random(1)) == [
        Stake(1, "ante", 100, blind=False),
        Stake(3, "ante", 100, blind=True),
    ]
    for seed in range(50):
        stakes = stakes_together(Random(seed))
        antes = [one for one in stakes if one.wager == "ante"]
        assert len({one.amount for one in antes}) == 1, "equal antes"
        assert {one.box for one in stakes} == {one.box for one in antes}
        assert all(one.blind == (one.box != 2) for one in stakes)
