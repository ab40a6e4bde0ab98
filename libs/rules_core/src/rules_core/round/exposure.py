"""The most that wagers can ever come to, so that every sum of a round stays an exact integer of JSON.

A bet that could take the round beyond that is refused when it is placed: a settlement must never fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rules_core.hands import ODDS
from rules_core.rulesets.model import BonusRow, Ruleset

_HIGHEST_ODDS = ODDS["royal_flush"] + ODDS["straight_flush"]
_BET = 2
_INSURANCE = _BET * _HIGHEST_ODDS
"""Most insurance of one ante: the whole expected win on the bet (RULES.md section 5)."""
_ANTE_RETURNED = 2 + _BET * (1 + _HIGHEST_ODDS) + 2 * _INSURANCE
"""Most that an ante, its bet and its insurance can bring back, in antes: more than all fees can cost."""


def worst_returns(ruleset: Ruleset) -> Mapping[str, int]:
    """By wager, the most that each minor unit of it can bring back; the bet counts with its ante."""
    return {
        "ante": _ANTE_RETURNED,
        "bet": 0,
        "bonus_player": _bonus(ruleset.bonus_player),
        "bonus_dealer": _bonus(ruleset.bonus_dealer),
    }


def _bonus(rows: Iterable[BonusRow] | None) -> int:
    return 1 + max((row.pays or 0 for row in rows or ()), default=0)
