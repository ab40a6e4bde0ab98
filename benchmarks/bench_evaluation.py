"""Hands judged a second, beside other libraries in the same run.

Ours gives the best five *and* the paid combinations, and refuses repeated cards; the others give the rank of
the best five alone and trust their caller. Each works on cards in its own form, made before the clock starts.
All take turns, so that a busy machine slows all alike, and each is judged by its quickest turn.

    python benchmarks/bench_evaluation.py [--quick]
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import eval7
import phevaluator
import pokerkit
import treys

from rules_core.cards import DECK, Card, card_text
from rules_core.hands import evaluate, evaluate_many

SEED = 20_358_520
SLOW_SHARE = 20
"""A slow contestant judges only one hand in so many."""


class Contestant(NamedTuple):
    """Somebody who judges hands."""

    name: str
    hands: Sequence[Any]
    """The hands in the contestant's own form."""
    judge_all: Callable[[Sequence[Any]], object]
    """Judges each hand that is given."""
    values: Callable[[Sequence[Any]], list[Any]]
    """What it says of each hand: comparable, a better hand is greater."""


def one_by_one(judge: Callable[[Any], object]) -> Callable[[Sequence[Any]], object]:
    """A call for each hand, nothing kept."""

    def judge_all(hands: Sequence[Any]) -> None:
        for hand in hands:
            judge(hand)

    return judge_all


def ours(hands: list[tuple[Card, ...]]) -> list[Contestant]:
    """The two entrances of rules_core."""
    return [
        Contestant(
            "evaluate", hands, one_by_one(evaluate), lambda some: [evaluate(h).strength for h in some]
        ),
        Contestant(
            "evaluate_many", hands, evaluate_many, lambda some: [e.strength for e in evaluate_many(some)]
        ),
    ]


def with_treys(hands: list[tuple[Card, ...]]) -> Contestant:
    """Pure Python; takes two hole cards and the rest, as integers made before."""
    card = [treys.Card.new(card_text(card)) for card in DECK]
    judge = treys.Evaluator().evaluate

    def judge_all(prepared: Sequence[Any]) -> None:
        for hole, board in prepared:
            judge(hole, board)

    prepared = [([card[c] for c in hand[:2]], [card[c] for c in hand[2:]]) for hand in hands]
    return Contestant("treys", prepared, judge_all, lambda some: [-judge(*hand) for hand in some])


def with_eval7(hands: list[tuple[Card, ...]]) -> Contestant:
    """Compiled C; takes a list of its card objects. Called in the quickest way there is, by `map`."""
    card = [eval7.Card(card_text(card)) for card in DECK]
    prepared = [[card[c] for c in hand] for hand in hands]
    return Contestant(
        "eval7",
        prepared,
        lambda some: list(map(eval7.evaluate, some)),
        lambda some: [eval7.evaluate(hand) for hand in some],
    )


def with_phevaluator(hands: list[tuple[Card, ...]]) -> Contestant:
    """Compiled C beneath a Python function; takes integers, by the function for this number of cards."""
    judge = {5: phevaluator.evaluate_5cards, 6: phevaluator.evaluate_6cards}[len(hands[0])]
    card = [phevaluator.Card(card_text(card)).id_ for card in DECK]

    def judge_all(prepared: Sequence[Any]) -> None:
        for hand in prepared:
            judge(*hand)

    prepared = [tuple(card[c] for c in hand) for hand in hands]
    return Contestant("phevaluator", prepared, judge_all, lambda some: [-judge(*hand) for hand in some])


def with_pokerkit(hands: list[tuple[Card, ...]]) -> Contestant:
    """Pure Python; takes its card objects, gives a hand object. The slowest by far, so it judges fewer."""
    judge = pokerkit.StandardHighHand.from_game
    card = [next(iter(pokerkit.Card.parse(card_text(card)))) for card in DECK]
    prepared = [tuple(card[c] for c in hand) for hand in hands[::SLOW_SHARE]]
    return Contestant("pokerkit", prepared, one_by_one(judge), lambda some: [judge(hand) for hand in some])


def check_that_all_agree(contestants: list[Contestant], hands: list[tuple[Card, ...]]) -> None:
    """Raise AssertionError unless everybody puts the hands in the same order, ties included."""
    for contestant in contestants:
        step = len(hands) // len(contestant.hands)
        strengths = [evaluation.strength for evaluation in evaluate_many(hands[::step])]
        theirs = contestant.values(contestant.hands)
        order = sorted(range(len(strengths)), key=strengths.__getitem__)
        for one, next_one in pairwise(order):
            tie = strengths[one] == strengths[next_one]
            same = theirs[one] == theirs[next_one] if tie else theirs[one] < theirs[next_one]
            assert same, f"{contestant.name} disagrees on {hands[one * step]} and {hands[next_one * step]}"


def rates(contestants: list[Contestant], turns: int) -> dict[str, float]:
    """Hands a second of each, by its quickest turn."""
    quickest = dict.fromkeys((contestant.name for contestant in contestants), float("inf"))
    for _ in range(turns):
        for contestant in contestants:
            start = perf_counter()
            contestant.judge_all(contestant.hands)
            quickest[contestant.name] = min(quickest[contestant.name], perf_counter() - start)
    return {contestant.name: len(contestant.hands) / quickest[contestant.name] for contestant in contestants}


def measure(cards: int, hands_count: int, turns: int) -> tuple[dict[str, float], float]:
    """The rates for hands of `cards` cards, and ours while nothing is known yet."""
    chance = random.Random(SEED)
    hands = [tuple(chance.sample(DECK, cards)) for _ in range(hands_count)]
    start = perf_counter()
    evaluate_many(hands)
    first_rate = hands_count / (perf_counter() - start)
    contestants = [
        *ours(hands),
        with_treys(hands),
        with_eval7(hands),
        with_phevaluator(hands),
        with_pokerkit(hands),
    ]
    check_that_all_agree(contestants, hands)
    return rates(contestants, turns), first_rate


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; timings are shown, never judged."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--quick", action="store_true", help="few hands: proves that it runs, measures little"
    )
    quick = parser.parse_args(arguments).quick
    hands_count, turns = (1_000, 2) if quick else (4_000, 100)
    print(f"Evaluation: {hands_count:,} random hands of each size, best of {turns} turns each")
    print(f"{'':24}{'5 cards':>14}{'6 cards':>14}")
    (five, first_five), (six, first_six) = (measure(cards, hands_count, turns) for cards in (5, 6))
    for name in five:
        print(f"{name:24}{five[name]:>12,.0f}/s{six[name]:>12,.0f}/s")
    print(f"{'evaluate_many, cold':24}{first_five:>12,.0f}/s{first_six:>12,.0f}/s")
    for one, other in (
        ("evaluate", "treys"),
        ("evaluate", "phevaluator"),
        ("evaluate", "pokerkit"),
        ("evaluate_many", "eval7"),
    ):
        ratios = (five[one] / five[other], six[one] / six[other])
        print(f"{one + ' / ' + other:24}{ratios[0]:>13.2f}x{ratios[1]:>13.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
