"""Hands: their order, the combinations in them, and what a hand is worth (RULES.md sections 2 and 3).

>>> from rules_core.cards import parse_cards
>>> evaluation = evaluate(parse_cards("Ah Ad Kc 7s 3d"))
>>> evaluation.best, evaluation.combinations, evaluation.odds
('one_pair', ('one_pair', 'ace_king'), 2)
"""

from __future__ import annotations

from rules_core.hands.evaluation import Evaluation, InvalidHand, RepeatedCard, WrongNumberOfCards
from rules_core.hands.lookup import evaluate, evaluate_many
from rules_core.hands.ranking import CATEGORY, HAND_NAMES, ODDS

__all__ = [
    "CATEGORY",
    "HAND_NAMES",
    "ODDS",
    "Evaluation",
    "InvalidHand",
    "RepeatedCard",
    "WrongNumberOfCards",
    "evaluate",
    "evaluate_many",
]
