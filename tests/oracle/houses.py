"""Houses that mix the rules in their own way: a ruleset for the oracle, and the same for rules_core."""

from __future__ import annotations

import random
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from rules_core.rulesets.parse import ruleset_object
from rules_core.rulesets.shipped import shipped
from tests.oracle.rules import RULESETS, Rules

JSON = dict[str, Any]
ANTE_FATES = {"returned": "returned", "1:1": "one_to_one"}


class House(NamedTuple):
    """One ruleset, written twice."""

    name: str
    rules: Rules
    as_json: JSON


@cache
def shipped_object(name: str) -> JSON:
    """The file of a shipped ruleset."""
    return ruleset_object(shipped(name))


def random_house(rng: random.Random) -> House:
    """The table of a shipped ruleset, with everything that a settlement asks for chosen anew."""
    base = rng.choice(sorted(RULESETS))
    rules: Rules = {
        **RULESETS[base],
        "exchange_max": rng.randint(1, 5),
        "insurance_fraction": rng.choice([(1, 1), (1, 2), (1, 3), (2, 3), (3, 4)]),
        "insurance_on_tie": rng.choice(["lost", "returned"]),
        "insurance_when_beaten": rng.choice(["lost", "returned"]),
        "insured_ante_on_no_game": rng.choice(["returned", "1:1"]),
        "insured_may_purchase": rng.random() < 0.6,
        "blind_may_purchase": bool(RULESETS[base]["blind_boxes"]) and rng.random() < 0.5,
        "purchase_needs_ace_king": rng.random() < 0.5,
        "same_rank_redraw": rng.choice(["never", "once", "until_different"]),
        "ante_after_failed_purchase": rng.choice(["returned", "1:1"]),
        "cap_includes_insurance": rng.random() < 0.5,
        "paired_straight": rng.choice(["two_straights", "straight_and_pair"]),
    }
    written = deepcopy(shipped_object(base))
    written["id"] = "own-house@1"
    write_choices(rules, written)
    choose_bonuses(rng, rules, written)
    return House("own-house@1", rules, written)


def write_choices(rules: Rules, written: JSON) -> None:
    """The rules in the words of a ruleset's file."""
    for name in ("exchange_max", "cap_includes_insurance", "paired_straight"):
        written[name] = rules[name]
    numerator, denominator = rules["insurance_fraction"]
    written["insurance"] = {
        "fraction": {"numerator": numerator, "denominator": denominator},
        "on_tie": rules["insurance_on_tie"],
        "when_beaten": rules["insurance_when_beaten"],
        "ante_on_no_game": ANTE_FATES[rules["insured_ante_on_no_game"]],
        "may_purchase": rules["insured_may_purchase"],
    }
    written["purchase"] = {
        "blind_boxes": rules["blind_may_purchase"],
        "needs_combination": rules["purchase_needs_ace_king"],
        "same_rank_redraw": rules["same_rank_redraw"],
        "ante_after_failed": ANTE_FATES[rules["ante_after_failed_purchase"]],
    }


def choose_bonuses(rng: random.Random, rules: Rules, written: JSON) -> None:
    """The bonuses of any of the shipped houses."""
    for_player, for_dealer = rng.choice(sorted(RULESETS)), rng.choice(sorted(RULESETS))
    rules["bonus_player"] = RULESETS[for_player]["bonus_player"]
    rules["jackpot_percent"] = RULESETS[for_player]["jackpot_percent"]
    rules["bonus_dealer"] = RULESETS[for_dealer]["bonus_dealer"]
    written["bonus_player"] = shipped_object(for_player)["bonus_player"]
    written["bonus_dealer"] = shipped_object(for_dealer)["bonus_dealer"]
