"""The dealer's hand, as dealt and after a purchase (RULES.md section 4.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rules_core.cards import Card, rank_of
from rules_core.hands import Evaluation, evaluate
from rules_core.rulesets.model import BonusRow, Ruleset
from rules_core.settlement.bonus import dealer_bonus_row

DrawsRefusal = Literal["draws_without_purchase", "draws_missing", "draws_too_many"]


@dataclass(frozen=True, slots=True)
class DealerHands:
    """The dealer's first and final hand; the same one when nothing was bought."""

    first: Evaluation
    cards: tuple[Card, ...]
    """The final five, in the order dealt: a bought card lies in the place of the one it replaced."""
    final: Evaluation
    purchased: bool
    bonus_row: BonusRow | None
    """The row of the table for bonus D that the first hand wins, if any."""


def highest_card_index(cards: tuple[Card, ...]) -> int:
    """The place, 0-based, of the highest card, ace high: the one that a purchase replaces.

    Only asked of a hand without game: its ranks all differ, so that the order of the suits in a card's number
    never decides.
    """
    return cards.index(max(cards))


def final_dealer_cards(cards: tuple[Card, ...], draws: tuple[Card, ...]) -> tuple[Card, ...]:
    """The dealer's five after these draws: the last one lies in the place of the highest card dealt."""
    if not draws:
        return cards
    place = highest_card_index(cards)
    return (*cards[:place], draws[-1], *cards[place + 1 :])


def draws_needed(ruleset: Ruleset, cards: tuple[Card, ...], draws_so_far: tuple[Card, ...]) -> bool:
    """Whether, a purchase having been made, one more card is to be drawn (RULES.md section 6).

    `cards` are the five dealt, which must be no game. The first draw is always needed; another only while
    the one before has the replaced card's rank, the hand is still no game, and `same_rank_redraw` allows it.
    """
    if not draws_so_far:
        return True
    redraw = ruleset.purchase.same_rank_redraw if ruleset.purchase else "never"
    if redraw == "never" or (redraw == "once" and len(draws_so_far) > 1):
        return False
    replaced = cards[highest_card_index(cards)]
    if rank_of(draws_so_far[-1]) != rank_of(replaced):
        return False
    return not evaluate(final_dealer_cards(cards, draws_so_far)).qualifies


def draws_refusal(
    ruleset: Ruleset, cards: tuple[Card, ...], draws: tuple[Card, ...], *, purchased: bool
) -> DrawsRefusal | None:
    """Why these cards cannot have been drawn, or None; `purchased`: whether any box bought."""
    if not purchased:
        return "draws_without_purchase" if draws else None
    for drawn in range(len(draws)):
        if not draws_needed(ruleset, cards, draws[:drawn]):
            return "draws_too_many"
    return "draws_missing" if draws_needed(ruleset, cards, draws) else None


def dealer_hands(
    ruleset: Ruleset, cards: tuple[Card, ...], draws: tuple[Card, ...], first: Evaluation | None = None
) -> DealerHands:
    """Evaluate the dealer; `cards` are the five dealt, `draws` those after a purchase, none without one.

    `first`: the evaluation of the five, if it is known already.
    """
    if first is None:
        first = evaluate(cards)
    row = None if ruleset.bonus_dealer is None else dealer_bonus_row(ruleset.bonus_dealer, first)
    if not draws:
        return DealerHands(first=first, cards=cards, final=first, purchased=False, bonus_row=row)
    final = final_dealer_cards(cards, draws)
    return DealerHands(first=first, cards=final, final=evaluate(final), purchased=True, bonus_row=row)
