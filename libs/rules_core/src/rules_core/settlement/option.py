"""The first window's choice: its cards and what is wrong with it (RULES.md section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rules_core.cards import Card
from rules_core.rulesets.model import Ruleset
from rules_core.settlement.model import Option

OptionRefusal = Literal[
    "exchange_empty",
    "exchange_too_many",
    "exchange_position_out_of_range",
    "exchange_position_repeated",
    "exchange_cards_mismatch",
    "sixth_card_number",
    "option_without_cards",
]


def final_cards(cards: tuple[Card, ...], option: Option) -> tuple[Card, ...]:
    """The hand after the option: six cards after a sixth, exchanged ones in their places, else as dealt."""
    if option.kind == "sixth":
        return cards + option.cards
    if option.kind == "exchange":
        hand = list(cards)
        for position, card in zip(option.positions, option.cards, strict=True):
            hand[position] = card
        return tuple(hand)
    return cards


def exchange_refusal(positions: Sequence[int], *, most: int) -> OptionRefusal | None:
    """Why these positions (0-based) cannot be exchanged, or None; at most `most` of the five cards."""
    if not positions:
        return "exchange_empty"
    if min(positions) < 0 or max(positions) > 4:
        return "exchange_position_out_of_range"
    if len(set(positions)) < len(positions):
        return "exchange_position_repeated"
    return "exchange_too_many" if len(positions) > most else None


def option_refusal(ruleset: Ruleset, option: Option) -> OptionRefusal | None:
    """Why this choice, with the cards it got, cannot have been made under this ruleset, or None."""
    if option.kind == "exchange":
        refusal = exchange_refusal(option.positions, most=ruleset.exchange_max)
        if refusal is None and len(option.cards) != len(option.positions):
            return "exchange_cards_mismatch"
        return refusal
    if option.kind == "sixth":
        return None if len(option.cards) == 1 and not option.positions else "sixth_card_number"
    return "option_without_cards" if option.cards or option.positions else None
