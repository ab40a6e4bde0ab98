"""Russian Poker as pure functions: hands, rulesets, the round, settlement, replay and explanation.

The names below are the front door; whole parts are packages of their own: `round` (commands, events, decide,
evolve), `log` (chain, bundles, verify), `views` and `explain`.

>>> import rules_core
>>> rules_core.evaluate(rules_core.parse_cards("Ah Ad Kc 7s 3d")).combinations
('one_pair', 'ace_king')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules_core.cards import Card, card_text, parse_card, parse_cards
    from rules_core.engine import ENGINE
    from rules_core.hands import Evaluation, evaluate, evaluate_many
    from rules_core.rulesets.model import Ruleset
    from rules_core.rulesets.parse import RulesetError, parse_ruleset, ruleset_object
    from rules_core.rulesets.shipped import shipped, shipped_ids
    from rules_core.settlement.case_json import case_object, parse_case
    from rules_core.settlement.model import Case, CaseError, Settlement
    from rules_core.settlement.result_json import error_object, settlement_object
    from rules_core.settlement.settle import settle

__all__ = [
    "ENGINE",
    "Card",
    "Case",
    "CaseError",
    "Evaluation",
    "Ruleset",
    "RulesetError",
    "Settlement",
    "card_text",
    "case_object",
    "error_object",
    "evaluate",
    "evaluate_many",
    "parse_card",
    "parse_cards",
    "parse_case",
    "parse_ruleset",
    "ruleset_object",
    "settle",
    "settlement_object",
    "shipped",
    "shipped_ids",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for, so that a part costs no more than itself."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rules_core import cards, engine, hands  # noqa: PLC0415 - only now, see above
    from rules_core.rulesets import model, parse, shipped  # noqa: PLC0415 - likewise
    from rules_core.settlement import case_json, result_json, settle  # noqa: PLC0415 - likewise
    from rules_core.settlement import model as words  # noqa: PLC0415 - likewise

    homes = (cards, engine, hands, model, parse, shipped, case_json, words, result_json, settle)
    value: object = next(vars(home)[name] for home in homes if name in vars(home))
    globals()[name] = value
    return value
