"""The houses whose rounds are played: the five of RULES.md section 6, and some that mix their own rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rules_core.command_line.random_round import limits_for
from rules_core.round.limits import AmountRange, BoxLimits, CurrencyLimits, Durations
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import RulesetError, parse_ruleset, ruleset_object
from rules_core.rulesets.shipped import shipped, shipped_ids
from tests.oracle.rules import LIVE_SHARED_BONUS, RULESETS, Rules
from tests.rules_core.test_rulesets_of_a_house import house

DURATIONS = Durations(15_000, 20_000, 25_000, 10_000, 60_000)
Json = dict[str, Any]


@dataclass(frozen=True)
class House:
    """A ruleset, the same once more for the oracle, and the limits that its tables may have."""

    ruleset: Ruleset
    rules: Rules
    limits: tuple[tuple[CurrencyLimits, ...], ...]

    @property
    def name(self) -> str:
        """The ruleset's name."""
        return self.ruleset.id.partition("@")[0]


def plain_limits(ruleset: Ruleset) -> tuple[CurrencyLimits, ...]:
    """One currency, and room for everything."""
    return (limits_for(ruleset),)


def narrow_limits(ruleset: Ruleset) -> tuple[CurrencyLimits, ...]:
    """Two currencies; every cap, and boxes with limits of their own, so that most bets meet one of them."""
    fixed = AmountRange(100, 100)
    euros = CurrencyLimits(
        "EUR",
        chip=25,
        ante=AmountRange(100, 300),
        bonus_player=fixed if ruleset.bonus_player else None,
        bonus_dealer=AmountRange(25, 75) if ruleset.bonus_dealer else None,
        insurance_max=260,
        max_payout=900,
        player_total_max=1_450,
        boxes=(BoxLimits(1, AmountRange(200, 250), 350), BoxLimits(2, max_payout=0), BoxLimits(3, fixed)),
    )
    marks = CurrencyLimits("DEM", chip=1, ante=AmountRange(1, 3), player_total_max=20)
    return (euros, marks)


def capped_limits(ruleset: Ruleset) -> tuple[CurrencyLimits, ...]:
    """A cap that meets the insurance (RULES.md section 5, Cap), and a currency that nobody can bet in."""
    euros = replace(limits_for(ruleset), ante=AmountRange(100, 250), max_payout=500, insurance_max=None)
    closed = CurrencyLimits("USD", chip=50, ante=AmountRange(100, 100), player_total_max=50, max_payout=0)
    return (euros, closed)


def _house(ruleset: Ruleset, rules: Rules) -> House:
    return House(ruleset, rules, (plain_limits(ruleset), narrow_limits(ruleset), capped_limits(ruleset)))


def _own(name: str, start: str, changes: Json, rules: Rules) -> House:
    parsed = parse_ruleset(house(start, {"id": f"{name}@1", **changes}))
    assert not isinstance(parsed, RulesetError), parsed
    return _house(parsed, rules)


def _bonus_table(column: str) -> object:
    return ruleset_object(shipped("live-shared@1"))[column]


def open_hall() -> House:
    """Exclusive with public open cards: nothing is private but blind boxes and the dealer's hand."""
    changes: Json = {
        "open_cards": "public",
        "paired_straight": "straight_and_pair",
        "cap_includes_insurance": False,
        "insurance.fraction": {"numerator": 2, "denominator": 3},
        "bonus_player": _bonus_table("bonus_player"),
        "bonus_dealer": _bonus_table("bonus_dealer"),
    }
    rules: Rules = {
        **RULESETS["four-box@1"],
        "paired_straight": "straight_and_pair",
        "cap_includes_insurance": False,
        "insurance_fraction": (2, 3),
        "bonus_player": LIVE_SHARED_BONUS,
        "bonus_dealer": LIVE_SHARED_BONUS,
    }
    return _own("open-hall", "four-box@1", changes, rules)


def bare_house() -> House:
    """No insurance and no purchase; all antes of a player equal, all boxes side by side."""
    changes: Json = {
        "boxes": 4,
        "box_kinds": ["any", "open", "any", "blind"],
        "seating.equal_antes": "all_boxes",
        "seating.neighbours_only": True,
        "seating.blind_needs_open_boxes": 1,
        "windows": ["options", "final_options"],
        "exchange_max": 2,
        "insurance": None,
        "purchase": None,
    }
    rules: Rules = {
        **RULESETS["classic@1"],
        "boxes": 4,
        "open_boxes": {1, 2, 3},
        "blind_boxes": {1, 3, 4},
        "exchange_max": 2,
        "insurance_fraction": (0, 1),
        "blind_may_purchase": False,
        "same_rank_redraw": "never",
    }
    return _own("bare-house", "classic@1", changes, rules)


def wide_shared() -> House:
    """Shared with three open boxes, where one player buys in several of them; redrawn until different."""
    changes: Json = {
        "boxes": 5,
        "box_kinds": ["open", "blind", "open", "open", "blind"],
        "seating.open_boxes_max": 2,
        "exchange_max": 3,
        "paired_straight": "straight_and_pair",
        "cap_includes_insurance": True,
        "insurance.may_purchase": False,
        "purchase": {
            "blind_boxes": False,
            "needs_combination": False,
            "same_rank_redraw": "until_different",
            "ante_after_failed": "one_to_one",
        },
    }
    rules: Rules = {
        **RULESETS["live-shared@1"],
        "boxes": 5,
        "open_boxes": {1, 3, 4},
        "blind_boxes": {2, 5},
        "exchange_max": 3,
        "paired_straight": "straight_and_pair",
        "cap_includes_insurance": True,
        "insured_may_purchase": False,
        "blind_may_purchase": False,
        "purchase_needs_ace_king": False,
        "same_rank_redraw": "until_different",
        "ante_after_failed_purchase": "1:1",
    }
    return _own("wide-shared", "live-shared@1", changes, rules)


def full_table() -> House:
    """Exclusive and private with eight boxes: played by all, they leave seven cards and a reserve of four."""
    changes: Json = {
        "boxes": 8,
        "box_kinds": ["any"] * 8,
        "seating.open_boxes_max": 4,
        "seating.blind_boxes_max": 1,
        "seating.equal_antes": "open_boxes",
    }
    rules: Rules = {**RULESETS["four-box@1"], "boxes": 8, "open_boxes": {*range(1, 9)}}
    rules["blind_boxes"] = rules["open_boxes"]
    return _own("full-table", "four-box@1", changes, rules)


HOUSES: dict[str, House] = {
    found.name: found
    for found in (
        *(_house(shipped(name), RULESETS[name]) for name in shipped_ids()),
        open_hall(),
        bare_house(),
        wide_shared(),
        full_table(),
    )
}
