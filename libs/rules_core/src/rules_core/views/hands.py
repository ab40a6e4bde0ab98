"""The cards and hands that a viewer sees, from the public state and the cards that the viewer may know."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core.cards import card_text
from rules_core.hands import Evaluation, evaluate
from rules_core.round.hands import bought_place, card_at, dealer_five, first_five, hand_of
from rules_core.round.places import HAND_SIZE, SWITCH_CARDS, box_place, dealer_place, draw_place, switch_place
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, RoundState
from rules_core.settlement.dealer import final_dealer_cards

HIDDEN = "hidden"
"""What stands for a card that lies face down for the viewer."""
_REQUALIFIED_STEPS = frozenset({"decided", "settling", "settled", "resettling"})
"""Steps at which the dealer's draws, where there are any, are confirmed (RULES.md section 4.8)."""


def card_texts(state: RoundState, known: Sealed) -> dict[str, str]:
    """Each place where a card lies, in the table's order: its text, or HIDDEN. Corrections included."""
    return {place: _text(state, known, place) for place in _places(state) if _lies(state, place)}


def _text(state: RoundState, known: Sealed, place: str) -> str:
    return card_text(card_at(state, known, place)) if _seen(state, known, place) else HIDDEN


def _places(state: RoundState) -> Iterator[str]:
    for box in state.boxes:
        yield from (box_place(box, index) for index in range(HAND_SIZE))
    yield from (dealer_place(index) for index in range(HAND_SIZE))
    if state.ruleset.shared:
        yield from (switch_place(index) for index in range(SWITCH_CARDS))
    else:
        for box in state.boxes:
            yield from (bought_place(state, box, index) for index in range(HAND_SIZE))
    yield from (draw_place(index) for index in range(state.draws))


def _lies(state: RoundState, place: str) -> bool:
    return place in state.cards or place in state.commitments or place in state.unread


def _seen(state: RoundState, known: Sealed, *places: str) -> bool:
    """Whether the viewer sees the cards of all these places."""
    return all(
        place in state.cards or (place in state.commitments and known.knows(state.commitments[place]))
        for place in places
    )


def dealt_hand(state: RoundState, known: Sealed, box: int) -> Evaluation | None:
    """The hand of a box's first five; None while the viewer does not see them all."""
    if not _seen(state, known, *(box_place(box, index) for index in range(HAND_SIZE))):
        return None
    return evaluate(first_five(state, known, box), state.ruleset.paired_straight)


def current_hand(state: RoundState, known: Sealed, play: BoxPlay) -> Evaluation | None:
    """The hand of a box now: its first five until all the cards that it bought lie there and are seen."""
    hand = dealt_hand(state, known, play.box)
    bought = (bought_place(state, play.box, index) for index in range(play.bought))
    if hand is None or not _seen(state, known, *bought):
        return hand
    return hand_of(state, known, play, {})


def hand_object(hand: Evaluation | None) -> dict[str, object] | None:
    """A box's hand and what it is paid for, or None."""
    if hand is None:
        return None
    return {"name": hand.best, "combinations": list(hand.combinations), "odds": hand.odds}


def dealer_object(state: RoundState, known: Sealed) -> dict[str, object]:
    """The dealer's hand as dealt, and the one after a purchase; None while they are not open or not made."""
    if not _seen(state, known, *(dealer_place(index) for index in range(HAND_SIZE))):
        return {"hand": None, "final": None}
    dealt = dealer_five(state, known)
    first = evaluate(dealt)
    shown: dict[str, object] = {"hand": {"name": first.best, "game": first.qualifies}, "final": None}
    if state.draws and state.step in _REQUALIFIED_STEPS:
        draws = tuple(card_at(state, known, draw_place(index)) for index in range(state.draws))
        cards = final_dealer_cards(dealt, draws)
        final = evaluate(cards)
        shown["final"] = {
            "name": final.best,
            "game": final.qualifies,
            "cards": [card_text(card) for card in cards],
        }
    return shown
