"""rules_core against the oracle: a second implementation of RULES.md that shares nothing with it.

The oracle has to pass the golden cases and the exact counts before it may judge.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any, Literal

import pytest

from rules_core.cards import parse_cards
from rules_core.hands import evaluate
from tests.oracle import hands
from tests.oracle.comparison import Tally, compare_own_houses, compare_random
from tests.oracle.dealing import Deck, shaped
from tests.oracle.features import EXPECTED, EXPECTED_REFUSALS
from tests.oracle.settlement import settle_slow

GOLDEN = Path(__file__).parents[1] / "golden"
BLOCKS, CASES, MUTATIONS = 10, 10_500, 3_000
PAIRED_STRAIGHT: tuple[Literal["two_straights", "straight_and_pair"], ...] = (
    "two_straights",
    "straight_and_pair",
)


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", golden("evaluations.json"), ids=lambda row: row["id"])
def test_oracle_passes_the_golden_evaluations(row: dict[str, Any]) -> None:
    cards = row["cards"].split()
    assert {
        "best": hands.best(cards),
        "combinations": [one.name for one in hands.paid(cards)],
        "odds": hands.odds(cards),
        "odds_straight_and_pair": hands.odds(cards, "straight_and_pair"),
    } == {key: row[key] for key in ("best", "combinations", "odds", "odds_straight_and_pair")}


@pytest.mark.parametrize("row", golden("settlements.json"), ids=lambda row: row["id"])
def test_oracle_passes_the_golden_settlements(row: dict[str, Any]) -> None:
    result = settle_slow(row["case"])
    expected = row["expected_boxes"] if "expected_boxes" in row else [row["expected"]]
    if expected == [{"rejected": True}]:
        assert result == {"error": True}
        return
    for box in result["boxes"]:
        box["lines"] = {
            line["wager"]: {"stake": line["stake"], "returned": line["returned"]} for line in box["lines"]
        }
    assert result["boxes"] == expected


def test_oracle_counts_all_five_card_hands() -> None:
    """One hand stands for all with its ranks: suits matter only to five different ranks in one suit."""
    counts: Counter[str] = Counter()
    for ranks in combinations_with_replacement(hands.RANKS, 5):
        alike = Counter(ranks)
        if max(alike.values()) > 4:
            continue
        hands_alike = math.prod(math.comb(4, count) for count in alike.values())
        several_suits = [rank + hands.SUITS[ranks[:i].count(rank)] for i, rank in enumerate(ranks)]
        if len(alike) == 5:
            counts[hands.best([rank + "c" for rank in ranks])] += 4
            hands_alike -= 4
            several_suits[0] = ranks[0] + "d"
        counts[hands.best(several_suits)] += hands_alike
    assert counts == golden("counts.json")["five_cards"]


def test_oracle_draws_six_card_hands_as_often_as_they_are() -> None:
    """A sample, each count within five standard deviations of what the exact counts promise."""
    size, rng, expected = 5_000, random.Random(6), golden("counts.json")["six_cards_combinations"]
    counts: Counter[str] = Counter()
    for _ in range(size):
        counts["+".join(one.name for one in hands.paid(rng.sample(hands.DECK, 6))) or "nothing"] += 1
    assert set(counts) <= set(expected)
    for name, count in expected.items():
        share = count / math.comb(52, 6)
        mean, deviation = size * share, math.sqrt(size * share * (1 - share))
        assert abs(counts[name] - mean) <= 5 * deviation + 1, name


def ranks_of(one: hands.Combination) -> tuple[int, ...]:
    """The ranks that define a combination, 0 to 12: the top of a straight, both of a full house."""
    ranks = [rank - 2 for rank in hands.ranks_by_weight(tuple(one.cards))]
    return tuple(ranks[:1] if one.name in hands.STRAIGHTS else dict.fromkeys(ranks))


def compare_hands(seed: int, count: int) -> None:
    """RULES.md sections 2 and 3: names, paid combinations, odds, and which of any two hands is the better."""
    rng, strengths = random.Random(seed), []
    for number in range(count):
        hand = rng.sample(hands.DECK, 5 + number % 2) if number % 4 < 2 else some_shape(rng, 5 + number % 2)
        cards = parse_cards(" ".join(hand))
        for choice in PAIRED_STRAIGHT:
            found, paid = evaluate(cards, choice), hands.paid(hand, choice)
            assert (found.best, found.combinations, found.odds, found.qualifies) == (
                hands.best(hand),
                tuple(one.name for one in paid),
                hands.odds(hand, choice),
                hands.qualifies(hand),
            ), (hand, choice)
            assert found.combination_ranks == tuple(ranks_of(one) for one in paid), (hand, choice)
        level_and_ranks = hands.strength(frozenset(hand))
        core = evaluate(cards)
        assert core.best_ranks == tuple((rank - 2) % 13 for rank in level_and_ranks[1]), hand
        strengths.append((level_and_ranks, core.strength))
    strengths.sort()
    for (slow, fast), (slow_next, fast_next) in pairwise(strengths):
        assert (slow < slow_next, slow == slow_next) == (fast < fast_next, fast == fast_next), slow


def some_shape(rng: random.Random, size: int) -> list[str]:
    """A hand that holds something, usually."""
    return Deck(rng).deal(shaped(rng, size))


def test_hands_agree() -> None:
    compare_hands(seed=1, count=6_000)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 6))
def test_hands_agree_many(seed: int) -> None:
    compare_hands(seed, count=25_000)


def agreed(tally: Tally) -> None:
    """No difference, and everything that matters was seen."""
    sys.stdout.write(tally.report() + "\n")
    assert not tally.differences, tally.shown()
    assert {name for name in EXPECTED if not tally.counts[name]} == set(), "never tested"


def test_settlements_agree() -> None:
    tally = compare_random(seed=0, cases=3_000, mutations=900)
    agreed(tally)
    assert (tally.counts["random case"], tally.counts["changed case"]) == (3_000, 900)


def agreed_on_own_houses(tally: Tally) -> None:
    """No difference, and most cases were good ones."""
    assert not tally.differences, tally.shown()
    assert tally.counts["own house's case, settled"] >= tally.counts["own house's case"] * 9 // 10


def test_settlements_of_own_houses_agree() -> None:
    """RULES.md section 6: every parameter is data, so any mixture of them is a ruleset."""
    agreed_on_own_houses(compare_own_houses(seed=0, cases=1_000))


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(1, BLOCKS + 1))
def test_settlements_of_own_houses_agree_many(block: int) -> None:
    agreed_on_own_houses(compare_own_houses(seed=block, cases=1_000))


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(1, BLOCKS + 1))
def test_settlements_agree_many(block: int) -> None:
    """In all over 100,000 good cases and 30,000 changed ones."""
    tally = compare_random(seed=block, cases=CASES, mutations=MUTATIONS)
    agreed(tally)
    assert tally.counts["random case, settled"] >= 100_000 // BLOCKS
    assert tally.counts["changed case"] == MUTATIONS
    assert {rule for rule in EXPECTED_REFUSALS if not tally.counts[f"refused: {rule}"]} == set(), (
        "never broken"
    )
