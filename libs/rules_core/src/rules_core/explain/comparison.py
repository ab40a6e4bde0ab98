"""Hands in words, and what decided between two of them (RULES.md sections 2 and 3)."""

from __future__ import annotations

from typing import Final

from rules_core.explain.sentence import Holding, Rank, Sentence, sentence
from rules_core.hands import Evaluation

OWN_CARDS: Final = {
    "royal_flush": 5,
    "straight_flush": 5,
    "four_of_a_kind": 4,
    "full_house": 5,
    "flush": 5,
    "straight": 5,
    "three_of_a_kind": 3,
    "two_pair": 4,
    "one_pair": 2,
    "ace_king": 2,
    "nothing": 0,
}
"""How many of the best five make the hand's name; the others are kickers."""
_STRAIGHTS: Final = frozenset({"royal_flush", "straight_flush", "straight"})


def best_holding(hand: Evaluation) -> Holding:
    """The best five under their name."""
    ranks = hand.best_ranks
    if hand.best == "flush":
        return Holding(hand.best, ranks)
    if hand.best == "full_house":
        return Holding(hand.best, (ranks[0], ranks[3]))
    if hand.best == "two_pair":
        return Holding(hand.best, (ranks[0], ranks[2]))
    if hand.best == "ace_king":
        return Holding(hand.best, ranks[:2])
    return Holding(hand.best, ranks[:1])


def paid_holdings(hand: Evaluation) -> list[Holding]:
    """The combinations that are paid, the higher first."""
    return [
        Holding(name, ranks) for name, ranks in zip(hand.combinations, hand.combination_ranks, strict=True)
    ]


def has_kickers(hand: Evaluation) -> bool:
    """Whether some of the best five do not belong to the hand's name."""
    return OWN_CARDS[hand.best] < 5


def same_straight_twice(hand: Evaluation) -> bool:
    """Whether both paid combinations are straights of the same ranks: one rank of it is paired."""
    holdings = paid_holdings(hand)
    return len(holdings) == 2 and (
        {holding.name for holding in holdings} <= _STRAIGHTS and holdings[0].ranks == holdings[1].ranks
    )


def compared(box: Evaluation, dealer: Evaluation) -> Sentence:
    """Who wins, and by what: the name of the hand, its ranks, a card of a flush, or a kicker."""
    ours, theirs = best_holding(box), best_holding(dealer)
    if box.strength == dealer.strength:
        return sentence("tie_with_kickers" if has_kickers(box) else "tie", hand=ours)
    winner = "box_wins" if box.strength > dealer.strength else "dealer_wins"
    if ours.name == theirs.name:
        ranks = zip(box.best_ranks, dealer.best_ranks, strict=True)
        at, (our_rank, their_rank) = next((at, pair) for at, pair in enumerate(ranks) if pair[0] != pair[1])
        differing = {"box": Rank(our_rank), "dealer": Rank(their_rank)}
        if ours.name == "flush":
            return sentence(f"{winner}_by_flush_card", **differing)
        if at >= OWN_CARDS[ours.name]:
            return sentence(f"{winner}_by_kicker", hand=ours, **differing)
    return sentence(winner, box=ours, dealer=theirs)
