"""Whether a box may be insured and for how much (RULES.md section 5, Insurance)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from rules_core.hands import CATEGORY, Evaluation
from rules_core.rulesets.model import InsuranceRules, Ruleset
from rules_core.settlement.cap import bet_winnings

InsuranceRefusal = Literal[
    "insurance_not_offered",
    "insurance_hand_too_low",
    "insurance_maximum_below_minimum",
    "insurance_below_minimum",
    "insurance_above_maximum",
]

_LOWEST_INSURED: Final = CATEGORY["three_of_a_kind"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that may be staked, in minor units, both included; the step is 1."""

    min: int
    max: int


def insurance_bounds(
    ruleset: Ruleset, hand: Evaluation, ante: int, max_payout: int | None, table_max: int | None = None
) -> Bounds | None:
    """What the insurance of a box with this hand may cost; None where it is not offered.

    `max_payout` is the box's cap and `table_max` the table's own limit on insurance (None: no such limit),
    which can only lower the maximum. Whether the box is at a point where it may insure is not asked here.
    """
    if ruleset.insurance is None or CATEGORY[hand.best] < _LOWEST_INSURED:
        return None
    bounds = _bounds(ruleset.insurance, hand, ante, max_payout, table_max)
    return bounds if bounds.min <= bounds.max else None


def insurance_refusal(
    ruleset: Ruleset,
    hand: Evaluation,
    *,
    ante: int,
    amount: int,
    max_payout: int | None,
    table_max: int | None = None,
) -> InsuranceRefusal | None:
    """Why `amount` (above 0) cannot be staked on the insurance of a box with this hand, or None."""
    if ruleset.insurance is None:
        return "insurance_not_offered"
    if CATEGORY[hand.best] < _LOWEST_INSURED:
        return "insurance_hand_too_low"
    bounds = _bounds(ruleset.insurance, hand, ante, max_payout, table_max)
    if bounds.min > bounds.max:
        return "insurance_maximum_below_minimum"
    if amount < bounds.min:
        return "insurance_below_minimum"
    return "insurance_above_maximum" if amount > bounds.max else None


def _bounds(
    rules: InsuranceRules, hand: Evaluation, ante: int, max_payout: int | None, table_max: int | None
) -> Bounds:
    """The bounds, also where they leave nothing between them."""
    expected = bet_winnings(odds=hand.odds, bet=2 * ante, max_payout=max_payout, counted_insurance=0)
    most = rules.fraction.floor_of(expected)  # rounded down: the house never insures more than the fraction
    return Bounds(min=ante, max=most if table_max is None else min(most, table_max))
