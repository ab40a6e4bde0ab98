"""`evaluate`: each kind of hand is worked out once and then looked up.

What a hand is worth depends on its ranks and, where five of its cards share a suit, on which ranks those are.
Every card has a code, an integer, such that the sum over a hand says both, and the sum is the key under which
the answer is kept. Answers cannot change, so everybody may share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rules_core.cards import DECK, Card, rank_of, suit_of
from rules_core.hands.evaluation import Evaluation, RepeatedCard, WrongNumberOfCards, work_out

if TYPE_CHECKING:  # rulesets name hands, so only the type is taken from there
    from rules_core.rulesets.model import PairedStraight

# A code has three parts, and sums of up to six codes carry from none to the next:
# - ranks, 31 bits, counted to the base of 5, since no rank comes more than four times;
# - suits, six bits each: a card adds 7, so four of a suit make 28, while five or six make 35 or 42 and so set
#   the bit of value 32;
# - on top, one bit for each card: a sum of these has as many bits as the hand has cards only if no card comes
#   twice. This costs less than a set of the cards.
_RANK_BITS: Final = 31
_SUIT_BITS: Final = 6
_CARDS_SHIFT: Final = _RANK_BITS + 4 * _SUIT_BITS
_CODES: Final = [
    5 ** rank_of(card) + (7 << _RANK_BITS + _SUIT_BITS * suit_of(card)) + (1 << _CARDS_SHIFT + card)
    for card in DECK
]
_CODES_OF_TWO: Final = [[one + other for other in _CODES] for one in _CODES]
_RANKS: Final = (1 << _RANK_BITS) - 1
_FIVE_OF_A_SUIT: Final = sum(32 << _RANK_BITS + _SUIT_BITS * suit for suit in range(4))

# At most 6,175 + 18,395 answers without five of a suit (all multisets of five and of six ranks, none more
# than four times), and 1,287 + 18,447 with (five ranks; five and one of 13 in another suit, or six ranks),
# for each value of `paired_straight`.
_UNSUITED: Final[Mapping[PairedStraight, dict[int, Evaluation]]] = {
    "two_straights": {},
    "straight_and_pair": {},
}
_SUITED: Final[Mapping[PairedStraight, dict[tuple[int, int], Evaluation]]] = {
    "two_straights": {},
    "straight_and_pair": {},
}


def evaluate(cards: Sequence[Card], paired_straight: PairedStraight = "two_straights") -> Evaluation:
    """The best five and the paid combinations of five or six cards, in any order.

    Raises WrongNumberOfCards or RepeatedCard (both ValueError) for anything but five or six distinct cards.
    """
    known = _UNSUITED[paired_straight]
    count = len(cards)
    if count == 5:
        a, b, c, d, e = cards
        total = _CODES_OF_TWO[a][b] + _CODES_OF_TWO[c][d] + _CODES[e]
    elif count == 6:
        a, b, c, d, e, f = cards
        total = _CODES_OF_TWO[a][b] + _CODES_OF_TWO[c][d] + _CODES_OF_TWO[e][f]
    else:
        raise WrongNumberOfCards(count)
    if (total >> _CARDS_SHIFT).bit_count() != count:
        raise RepeatedCard(cards)
    if total & _FIVE_OF_A_SUIT:
        return _evaluate_suited(cards, total, paired_straight)
    try:
        return known[total & _RANKS]
    except KeyError:
        return known.setdefault(total & _RANKS, work_out(cards, paired_straight))


def evaluate_many(
    hands: Sequence[Sequence[Card]], paired_straight: PairedStraight = "two_straights"
) -> list[Evaluation]:
    """`evaluate` of each hand, in the order given; saves the call for each hand of a kind met before.

    Raises as `evaluate` does, for the first hand that is none.
    """
    known = _UNSUITED[paired_straight]
    codes, codes_of_two, ranks, five_of_a_suit = _CODES, _CODES_OF_TWO, _RANKS, _FIVE_OF_A_SUIT
    evaluations: list[Evaluation] = []
    append = evaluations.append
    for cards in hands:
        count = len(cards)
        if count == 5:
            a, b, c, d, e = cards
            total = codes_of_two[a][b] + codes_of_two[c][d] + codes[e]
        elif count == 6:
            a, b, c, d, e, f = cards
            total = codes_of_two[a][b] + codes_of_two[c][d] + codes_of_two[e][f]
        else:
            raise WrongNumberOfCards(count)
        if total & five_of_a_suit or (total >> _CARDS_SHIFT).bit_count() != count:
            append(evaluate(cards, paired_straight))
            continue
        try:
            append(known[total & ranks])
        except KeyError:
            append(evaluate(cards, paired_straight))
    return evaluations


def _evaluate_suited(cards: Sequence[Card], total: int, paired_straight: PairedStraight) -> Evaluation:
    """`evaluate` where five or six cards share a suit: which ranks those are decides as well."""
    suit = ((total & _FIVE_OF_A_SUIT) >> _RANK_BITS).bit_length() // _SUIT_BITS - 1
    suited = sum(_CODES[card] for card in cards if suit_of(card) == suit)
    key = total & _RANKS, suited & _RANKS
    known = _SUITED[paired_straight]
    if key not in known:
        known[key] = work_out(cards, paired_straight)
    return known[key]
