"""The dealer's hand, as dealt and after a purchase (RULES.md section 4.8)."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.cards import Card
from rules_core.explain.comparison import best_holding
from rules_core.explain.sentence import Cards, Sentence, sentence
from rules_core.hands import Evaluation
from rules_core.settlement.dealer import DealerHands, highest_card_index
from rules_core.settlement.model import Case


def dealer_sentences(case: Case, dealer: DealerHands) -> Iterator[Sentence]:
    """What the dealer was dealt, and which card a purchase replaced by which."""
    yield _shown("dealer_dealt", case.dealer, dealer.first)
    if not case.draws:
        return
    replaced = case.dealer[highest_card_index(case.dealer)]
    yield sentence("dealer_card_replaced", old=Cards((replaced,)), new=Cards(case.draws[:1]))
    for before, after in zip(case.draws, case.draws[1:], strict=False):
        yield sentence("dealer_card_replaced_again", old=Cards((before,)), new=Cards((after,)))
    yield _shown("dealer_bought", dealer.cards, dealer.final)


def _shown(slug: str, cards: tuple[Card, ...], hand: Evaluation) -> Sentence:
    game = "game" if hand.qualifies else "no_game"
    return sentence(f"{slug}_{game}", cards=Cards(cards), hand=best_holding(hand))
