"""A whole case: checked against every rule, then settled (RULES.md section 5, CONTRACTS.md section 1)."""

from __future__ import annotations

from rules_core.engine import ENGINE
from rules_core.hands import Evaluation, evaluate
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.box import settle_box
from rules_core.settlement.box_rules import AMOUNT_MAX, box_error, error
from rules_core.settlement.dealer import DealerHands, dealer_hands
from rules_core.settlement.decision_rules import draws_error, insurance_error, purchase_error
from rules_core.settlement.model import BoxCase, BoxResult, Case, CaseError, DealerResult, Settlement
from rules_core.settlement.option import final_cards
from rules_core.settlement.table_rules import table_error


def settle(case: Case) -> Settlement | CaseError:
    """The result of a case, or the first rule it breaks: never a partial result, never a guess.

    Values are checked here, types are not: `parse_case` makes well-typed cases.
    """
    ruleset = case.ruleset
    for box in case.boxes:
        wrong = box_error(ruleset, box)
        if wrong is not None:
            return wrong
    wrong = table_error(case)
    if wrong is not None:
        return wrong
    hands = [_hand(ruleset, box) for box in case.boxes]
    first = evaluate(case.dealer)
    wrong = _decisions_error(case, hands, first)
    if wrong is not None:
        return wrong
    dealer = dealer_hands(ruleset, case.dealer, case.draws, first)
    results: list[BoxResult] = []
    for box, hand in zip(case.boxes, hands, strict=True):
        result = settle_box(ruleset, dealer, box, hand, _first_five(box))
        if result.staked > AMOUNT_MAX or result.returned > AMOUNT_MAX:
            return error("amount_too_large", f"the result would exceed {AMOUNT_MAX}; stake less", box)
        results.append(result)
    return Settlement(ruleset.id, ruleset.sha256, ENGINE, _dealer_result(dealer), tuple(results))


def _hand(ruleset: Ruleset, box: BoxCase) -> Evaluation:
    return evaluate(final_cards(box.cards, box.option), ruleset.paired_straight)


def _first_five(box: BoxCase) -> Evaluation | None:
    """B is decided by the cards dealt; where none was bought the final hand is that one."""
    return evaluate(box.cards) if box.wagers.bonus_player and box.option.cards else None


def _decisions_error(case: Case, hands: list[Evaluation], first: Evaluation) -> CaseError | None:
    purchased = False
    for box, hand in zip(case.boxes, hands, strict=True):
        wrong = None
        if box.insurance:
            wrong = insurance_error(case.ruleset, box, hand)
        if wrong is None and box.purchase:
            purchased = True
            wrong = purchase_error(case.ruleset, box, hand, first)
        if wrong is not None:
            return wrong
    return draws_error(case, purchased=purchased)


def _dealer_result(dealer: DealerHands) -> DealerResult:
    final = dealer.final
    return DealerResult(dealer.first.best, dealer.cards, final.best, final.qualifies, dealer.purchased)
