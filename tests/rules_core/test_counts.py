"""Exact counts over all hands, against tests/golden/counts.json (RULES.md sections 2 and 3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from math import comb
from pathlib import Path

import pytest

from rules_core.cards import DECK
from rules_core.hands import Evaluation, evaluate_many

GOLDEN: dict[str, dict[str, int]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "counts.json").read_text(encoding="utf-8")
)
HANDS_AT_ONCE = 50_000


def counted(size: int) -> Iterator[tuple[Evaluation, int]]:
    """Each evaluation that some hand of the deck has, and how many hands have it."""
    hands = combinations(DECK, size)
    times: Counter[int] = Counter()
    evaluation_of: dict[int, Evaluation] = {}
    # Evaluations are shared by hands of a kind and stay; counting them by identity is quicker than by value.
    while evaluations := evaluate_many(list(islice(hands, HANDS_AT_ONCE))):
        identities = list(map(id, evaluations))
        times.update(identities)
        evaluation_of.update(zip(identities, evaluations, strict=True))
    return ((evaluation_of[identity], count) for identity, count in times.items())


def test_all_2_598_960_five_card_hands() -> None:
    best: Counter[str] = Counter()
    strengths = set()
    for evaluation, count in counted(5):
        best[evaluation.best] += count
        strengths.add(evaluation.strength)
    assert best.total() == comb(52, 5) == 2_598_960
    assert dict(best) == GOLDEN["five_cards"]
    assert len(strengths) == 7462


@pytest.mark.exhaustive
def test_all_20_358_520_six_card_hands() -> None:
    best: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    for evaluation, count in counted(6):
        best[evaluation.best] += count
        paid["+".join(evaluation.combinations) or "nothing"] += count
    assert best.total() == comb(52, 6) == 20_358_520
    assert dict(best) == GOLDEN["six_cards_best_five"]
    assert dict(paid) == GOLDEN["six_cards_combinations"]
