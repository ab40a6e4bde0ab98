"""Which cards a box holds, as far as the events and the sealed cards say."""

from __future__ import annotations

from rules_core.cards import Card
from rules_core.hands import Evaluation, evaluate
from rules_core.round.places import HAND_SIZE, box_place, dealer_place, replacement_place, switch_place
from rules_core.round.sealed import Sealed, SealMissingError
from rules_core.round.state import BoxPlay, RoundState

HandMemo = dict[tuple[int, str | None, tuple[int, ...]], Evaluation]
"""Players who made the same choices in a box share the evaluation."""


def card_at(state: RoundState, sealed: Sealed, place: str) -> Card:
    """The card in a place, corrections included; SealMissingError where only its commitment is known."""
    card = state.corrected_cards.get(place)
    if card is None:
        card = state.cards.get(place)
    if card is not None:
        return card
    commitment = state.commitments.get(place)
    if commitment is None:
        msg = f"no card is known in {place}; it was never read, or not laid yet"
        raise SealMissingError(msg)
    return sealed.open(commitment).card


def first_five(state: RoundState, sealed: Sealed, box: int) -> tuple[Card, ...]:
    """The box's five cards as dealt."""
    return tuple(card_at(state, sealed, box_place(box, i)) for i in range(HAND_SIZE))


def dealer_five(state: RoundState, sealed: Sealed) -> tuple[Card, ...]:
    """The dealer's five as dealt, the up-card last."""
    return tuple(card_at(state, sealed, dealer_place(i)) for i in range(HAND_SIZE))


def bought_place(state: RoundState, box: int, index: int) -> str:
    """Where the box's bought card number `index` lies (RULES.md section 4.4)."""
    return switch_place(index) if state.ruleset.shared else replacement_place(box, index)


def bought_cards(state: RoundState, sealed: Sealed, play: BoxPlay) -> tuple[Card, ...]:
    """The cards that the box's option bought, in their order."""
    return tuple(card_at(state, sealed, bought_place(state, play.box, i)) for i in range(play.bought))


def hand_cards(state: RoundState, sealed: Sealed, play: BoxPlay) -> tuple[Card, ...]:
    """The box's cards after its option: five, or six with a sixth card."""
    cards = first_five(state, sealed, play.box)
    if play.option == "sixth":
        return (*cards, *bought_cards(state, sealed, play))
    if play.option != "exchange":
        return cards
    changed = list(cards)
    for position, card in zip(play.positions, bought_cards(state, sealed, play), strict=True):
        changed[position] = card
    return tuple(changed)


def hand_of(state: RoundState, sealed: Sealed, play: BoxPlay, memo: HandMemo) -> Evaluation:
    """The box's best hand and paid combinations now."""
    key = (play.box, play.option, play.positions)
    found = memo.get(key)
    if found is None:
        found = memo[key] = evaluate(hand_cards(state, sealed, play), state.ruleset.paired_straight)
    return found


def undealt(state: RoundState) -> int:
    """Cards that are still in the deck: neither laid in a place nor burned (RULES.md section 6)."""
    return 52 - len(state.cards) - len(state.commitments) - len(state.unread) - len(state.burned)


def spare_cards(state: RoundState) -> int:
    """Undealt cards less the reserve for a dealer purchase; never below 0 (RULES.md section 6)."""
    purchase = state.ruleset.purchase
    reserve = purchase.reserve_cards if purchase is not None else 0
    return max(0, undealt(state) - reserve)
