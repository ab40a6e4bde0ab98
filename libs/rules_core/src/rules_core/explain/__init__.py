"""Explanation: a settlement in sentences that a support agent can send to a player.

`explain` makes sentences without a language (a slug and values), a `Catalogue` gives them words; another
language is another catalogue. `in_english` does both steps' last one:

    in_english(explain(case, settlement), scale=2, currency="EUR")
"""

from __future__ import annotations

from rules_core.explain.catalogue import Catalogue, Unit, line_of, text_of
from rules_core.explain.english import ENGLISH, in_english
from rules_core.explain.explain import explain, explain_refund
from rules_core.explain.sentence import BoxExplanation, Explanation, Sentence

__all__ = [
    "ENGLISH",
    "BoxExplanation",
    "Catalogue",
    "Explanation",
    "Sentence",
    "Unit",
    "explain",
    "explain_refund",
    "in_english",
    "line_of",
    "text_of",
]
