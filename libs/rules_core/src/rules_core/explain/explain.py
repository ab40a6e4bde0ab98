"""A settlement in sentences that can be sent to a player; the words of a language are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rules_core.explain.box import explain_box, explain_refunded_box
from rules_core.explain.dealer import dealer_sentences
from rules_core.explain.sentence import Explanation, sentence
from rules_core.settlement.dealer import dealer_hands
from rules_core.settlement.model import BoxResult, Case, Settlement


def explain(case: Case, settlement: Settlement) -> Explanation:
    """Explain a settlement: the dealer's hand, and for each box its hand and each wager with its sum and why.

    `settlement` must be that of `case`, or a later revision of it (a box of a correction may be refunded).
    Sums and reasons are the settlement's, cards and choices the case's. Raises ValueError where they cannot
    belong together.
    """
    dealer = dealer_hands(case.ruleset, case.dealer, case.draws)
    boxes = tuple(
        explain_box(case.ruleset, dealer, box, result)
        for box, result in zip(case.boxes, settlement.boxes, strict=True)
    )
    under = sentence("settled_under", ruleset=case.ruleset.id, title=case.ruleset.title)
    return Explanation((under, *dealer_sentences(case, dealer)), boxes)


def explain_refund(boxes: Sequence[BoxResult]) -> Explanation:
    """Explain boxes whose wagers all went back in a correction; no cards are needed for that."""
    return Explanation((), tuple(explain_refunded_box(result) for result in boxes))
