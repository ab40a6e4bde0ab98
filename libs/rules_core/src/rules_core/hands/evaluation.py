"""What a hand is worth: its best five and the combinations that are paid (RULES.md sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules_core.cards import CARD_TEXTS, Card
from rules_core.hands.combinations import best_ranks, combinations_of, paid_combinations
from rules_core.hands.ranking import CATEGORY, GAME_STRENGTH, NAME_OF_CATEGORY, strength

if TYPE_CHECKING:  # rulesets name hands, so only the type is taken from there
    from rules_core.rulesets.model import PairedStraight


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A hand's best five and its paid combinations; one object serves all hands of a kind."""

    best: str
    """Name of the best five (`HAND_NAMES`)."""
    strength: int
    """Greater is better; equal only if the best fives tie, kickers included. Five cards compare with six."""
    best_ranks: tuple[int, ...]
    """Ranks of the best five, 0..12, most significant first; the ace of A-2-3-4-5 comes last."""
    combinations: tuple[str, ...]
    """Names of the paid combinations, high to low: none, one or two (RULES.md section 3)."""
    combination_ranks: tuple[tuple[int, ...], ...]
    """What tells each paid combination from others of its name, most significant first: the rank of a pair,
    three or four of a kind; both ranks of two pair; of a full house, three of a kind first; the top of a
    straight, straight flush or royal flush; the five of a flush; ace and king."""
    odds: int
    """Sum of the odds of the paid combinations, to one on the bet."""

    @property
    def qualifies(self) -> bool:
        """Whether this is A-K or better: for the dealer a game, for a box a combination."""
        return self.strength >= GAME_STRENGTH


class InvalidHand(ValueError):
    """Cards that are no hand."""


class WrongNumberOfCards(InvalidHand):
    """Neither five nor six cards, but `count`."""

    def __init__(self, count: int) -> None:
        super().__init__(f"a hand has five or six cards, not {count}")
        self.count = count


class RepeatedCard(InvalidHand):
    """One card twice in a hand; `card` is the first one that comes again."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self.card = next(card for place, card in enumerate(cards) if card in cards[:place])
        super().__init__(f"{CARD_TEXTS[self.card]} comes twice in one hand")


def work_out(cards: Sequence[Card], paired_straight: PairedStraight) -> Evaluation:
    """What five or six distinct cards are worth, from the rules themselves."""
    found = combinations_of(cards)
    highest = found[0] if found else None
    category = highest.category if highest else CATEGORY["nothing"]
    ranks = best_ranks(cards, highest)
    paid = paid_combinations(found, paired_straight)
    return Evaluation(
        best=NAME_OF_CATEGORY[category],
        strength=strength(category, ranks),
        best_ranks=ranks,
        combinations=tuple(NAME_OF_CATEGORY[combination.category] for combination in paid),
        combination_ranks=tuple(combination.ranks for combination in paid),
        odds=sum(combination.odds for combination in paid),
    )
