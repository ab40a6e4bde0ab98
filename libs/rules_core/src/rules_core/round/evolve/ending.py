"""Recording how a round ends and is corrected."""

from __future__ import annotations

from rules_core.cards import CARD_OF
from rules_core.round import events as e
from rules_core.round.evolve.windows import close_window
from rules_core.round.state import RoundState


def player_settled(state: RoundState, event: e.PlayerSettled) -> None:
    if state.step != "resettling":
        state.step = "settling"
    order, index = state.order, state.settle_index
    while index < len(order) and order[index] != event.player:
        index += 1
    state.settle_index = index + 1
    totals = state.totals.setdefault(event.currency, [0, 0, 0])
    seat = state.seats.get(event.player)
    if seat is not None:
        if seat.revision:
            totals[0] -= 1
            totals[1] -= sum(box.staked for box in seat.results)
            totals[2] -= sum(box.returned for box in seat.results)
        seat.revision = event.revision
        seat.results = event.boxes
    totals[0] += 1
    totals[1] += event.staked
    totals[2] += event.returned


def round_settled(state: RoundState, _event: e.RoundSettled) -> None:
    state.step = "settled"


def round_cancelled(state: RoundState, _event: e.RoundCancelled) -> None:
    state.step = "cancelled"
    close_window(state)
    state.undecided = {}
    state.awaited = ()
    state.laid = ()


def correction_decided(state: RoundState, event: e.CorrectionDecided) -> None:
    state.step = "resettling"
    state.correction = event.number
    state.refunded = event.refund
    state.settle_index = 0
    for fix in event.cards:
        card = CARD_OF.get(fix.card)
        if card is not None:
            state.corrected_cards[fix.place] = card
    state.corrected_choices.extend(event.choices)


def round_resettled(state: RoundState, _event: e.RoundResettled) -> None:
    state.step = "settled"
