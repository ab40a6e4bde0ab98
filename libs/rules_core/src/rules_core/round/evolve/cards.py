"""Recording the cards."""

from __future__ import annotations

from rules_core.cards import CARD_OF, Card
from rules_core.round import events as e
from rules_core.round.places import draw_place
from rules_core.round.state import RoundState
from rules_core.settlement.dealer import draws_needed


def card_scanned(state: RoundState, event: e.CardScanned) -> None:
    place = event.place
    state.scan_ids.add(event.scan_id)
    _lay(state, place, event.card, event.commitment)
    state.laid = (*state.laid, place)
    state.awaited = state.awaited[1:]
    if place.startswith("draw."):
        state.draws += 1
        _await_draws(state)


def _lay(state: RoundState, place: str, card_text: str | None, commitment: str | None) -> None:
    if card_text is not None:
        _set_card(state, place, card_text)
    elif commitment is not None:
        state.commitments[place] = commitment
    else:
        state.unread[place] = None


def _set_card(state: RoundState, place: str, card_text: str) -> None:
    card = CARD_OF.get(card_text)
    if card is not None:
        state.cards[place] = card


def _await_draws(state: RoundState) -> None:
    dealer = [state.cards.get(f"dealer.{i}") for i in range(5)]
    drawn = [state.cards.get(draw_place(i)) for i in range(state.draws)]
    known = tuple(card for card in dealer if card is not None)
    draws: tuple[Card, ...] = tuple(card for card in drawn if card is not None)
    if len(known) == len(dealer) and len(draws) == len(drawn):
        more = draws_needed(state.ruleset, known, draws)
        state.awaited = (draw_place(state.draws),) if more else ()


def card_rescanned(state: RoundState, event: e.CardRescanned) -> None:
    place = event.place
    state.scan_ids.add(event.scan_id)
    old = state.commitments.pop(place, None)
    if old is not None:
        state.superseded.setdefault(place, []).append(old)
    state.unread.pop(place, None)
    _lay(state, place, event.card, event.commitment)
    if place.startswith("draw."):
        _await_draws(state)


def card_burned(state: RoundState, event: e.CardBurned) -> None:
    state.scan_ids.add(event.scan_id)
    state.burned.append(CARD_OF.get(event.card) if event.card is not None else None)


def _open(state: RoundState, openings: tuple[e.CardOpening, ...]) -> None:
    for opening in openings:
        place = opening.place
        if opening.superseded:
            state.superseded.pop(place, None)
            continue
        _set_card(state, place, opening.card)
        state.commitments.pop(place, None)
        state.unread.pop(place, None)


def cards_revealed(state: RoundState, event: e.CardsRevealed) -> None:
    _open(state, event.openings)
    state.laid = ()
    if event.final:
        state.final_cards_revealed = True


def dealer_revealed(state: RoundState, event: e.DealerRevealed) -> None:
    _open(state, event.openings)
    state.laid = ()
    state.step = "revealed"


def dealer_requalified(state: RoundState, _event: e.DealerRequalified) -> None:
    state.step = "decided"
    state.laid = ()
