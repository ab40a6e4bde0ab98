"""What a box may decide once the hands are known: insurance and purchase (RULES.md sections 4.8 and 5)."""

from __future__ import annotations

from typing import Final

from rules_core.hands import Evaluation
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.box import is_folded
from rules_core.settlement.box_rules import error
from rules_core.settlement.dealer import draws_refusal
from rules_core.settlement.insurance import insurance_bounds, insurance_refusal
from rules_core.settlement.model import BoxCase, Case, CaseError
from rules_core.settlement.purchase import purchase_refusal

_INSURANCE_MESSAGES: Final = {
    "insurance_not_offered": "this ruleset has no insurance; set insurance to 0",
    "insurance_hand_too_low": "only three of a kind or better can be insured, not {best}; set insurance to 0",
    "insurance_maximum_below_minimum": "the most to insure is less than one ante; set insurance to 0",
    "insurance_below_minimum": "insurance of {amount} is too little; stake {low} to {high}, or 0 for none",
    "insurance_above_maximum": "insurance of {amount} is too much; stake {low} to {high}, or 0 for none",
}
_PURCHASE_MESSAGES: Final = {
    "purchase_not_offered": "this ruleset has no dealer purchase; set purchase to false",
    "purchase_folded": "a folded box cannot buy the dealer's card; set purchase to false",
    "purchase_blind": "a blind box cannot buy the dealer's card here; set purchase to false",
    "purchase_insured": "an insured box cannot buy the dealer's card here; set purchase to false",
    "purchase_needs_combination": "a box below ace-king cannot buy here; set purchase to false",
}
_DRAWS_MESSAGES: Final = {
    "draws_without_purchase": "no box bought the dealer's card; give no draws",
    "draws_missing": "a box bought the dealer's card; give every card that came out, {count} are too few",
    "draws_too_many": "the dealer stops drawing earlier under this ruleset; {count} draws are too many",
}


def draws_error(case: Case, *, purchased: bool) -> CaseError | None:
    """Why the dealer cannot have drawn these cards, or None; `purchased`: whether any box bought."""
    refusal = draws_refusal(case.ruleset, case.dealer, case.draws, purchased=purchased)
    if refusal is None:
        return None
    return CaseError(refusal, _DRAWS_MESSAGES[refusal].format(count=len(case.draws)))


def insurance_error(ruleset: Ruleset, box: BoxCase, hand: Evaluation) -> CaseError | None:
    """The reason why this box cannot have been insured for its amount, or None; `hand` is the final one."""
    ante, amount, cap = box.wagers.ante, box.insurance, box.max_payout
    refusal = insurance_refusal(ruleset, hand, ante=ante, amount=amount, max_payout=cap)
    if refusal is None:
        return None
    bounds = insurance_bounds(ruleset, hand, ante, cap)
    low, high = (bounds.min, bounds.max) if bounds else (0, 0)
    words = {"best": hand.best.replace("_", " "), "amount": amount, "low": low, "high": high}
    return error(refusal, _INSURANCE_MESSAGES[refusal].format(**words), box)


def purchase_error(ruleset: Ruleset, box: BoxCase, hand: Evaluation, first: Evaluation) -> CaseError | None:
    """The reason why this box cannot have bought, or None; `first` is the dealer's hand as dealt."""
    refusal = purchase_refusal(
        ruleset,
        blind=box.blind,
        insured=box.insurance > 0,
        folded=is_folded(box),
        qualifies=hand.qualifies,
    )
    if refusal is not None:
        return error(refusal, _PURCHASE_MESSAGES[refusal], box)
    if first.qualifies:
        message = "the dealer has a game, so nothing can be bought; set purchase to false"
        return error("purchase_dealer_qualifies", message, box)
    return None
