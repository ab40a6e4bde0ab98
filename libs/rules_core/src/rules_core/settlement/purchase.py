"""Whether a box may buy the dealer's new card (RULES.md sections 4.8 and 6)."""

from __future__ import annotations

from typing import Literal

from rules_core.rulesets.model import Ruleset

PurchaseRefusal = Literal[
    "purchase_not_offered",
    "purchase_folded",
    "purchase_blind",
    "purchase_insured",
    "purchase_needs_combination",
]


def purchase_refusal(
    ruleset: Ruleset, *, blind: bool, insured: bool, folded: bool, qualifies: bool
) -> PurchaseRefusal | None:
    """Why a box may not buy when the dealer has no game, or None.

    `qualifies`: whether the box's own hand is A-K or better.
    """
    rules = ruleset.purchase
    if rules is None:
        return "purchase_not_offered"
    if folded:
        return "purchase_folded"
    if blind and not rules.blind_boxes:
        return "purchase_blind"
    if insured and not (ruleset.insurance is not None and ruleset.insurance.may_purchase):
        return "purchase_insured"
    if rules.needs_combination and not qualifies:
        return "purchase_needs_combination"
    return None
