"""Deciding a correction of a settled round: new revisions of the players concerned (RULES.md 4.9)."""

from __future__ import annotations

from dataclasses import replace

from rules_core.cards import CARD_OF
from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.correction_rules import check_corrected, check_correction
from rules_core.round.decide.settling import (
    Settling,
    check_limit,
    dealer_result,
    player_results,
    player_settled,
    refunded,
    settling_of,
    totals_after,
)
from rules_core.round.refusal import Refusal
from rules_core.round.sealed import Sealed
from rules_core.round.state import BoxPlay, PlayerSeat, RoundState
from rules_core.settlement.model import BoxResult

Decision = tuple[e.RoundEvent, ...] | Refusal


def resettle(command: c.Resettle, state: RoundState, sealed: Sealed) -> Decision:
    """CorrectionDecided, PlayerSettled for players whose lines change, RoundResettled with the last."""
    found = check_correction(command, state) or check_limit(command.limit)
    if found is not None:
        return found
    corrected = corrected_state(state, command)
    found = check_corrected(corrected, sealed)
    if found is not None:
        return found
    decided = e.CorrectionDecided(
        state.correction + 1,
        command.reason,
        command.proposer,
        command.approver,
        command.refund,
        command.cards,
        command.choices,
    )
    return (decided, *_revisions(corrected, sealed, command.limit, state.correction + 1))


def continue_resettling(command: c.Settle, state: RoundState, sealed: Sealed) -> Decision:
    """The next players of a correction that is decided already."""
    found = check_limit(command.limit)
    if found is not None:
        return found
    return _revisions(apply_choices(state), sealed, command.limit, state.correction)


def corrected_state(state: RoundState, command: c.Resettle) -> RoundState:
    """The state as if the correction were recorded; the original is untouched."""
    cards = dict(state.corrected_cards)
    cards.update({fix.place: CARD_OF[fix.card] for fix in command.cards})
    corrected = replace(
        state,
        step="resettling",
        refunded=command.refund,
        settle_index=0,
        corrected_cards=cards,
        corrected_choices=[*state.corrected_choices, *command.choices],
    )
    return apply_choices(corrected)


def apply_choices(state: RoundState) -> RoundState:
    """The state with corrected choices in place of the recorded ones; the original is untouched."""
    if not state.corrected_choices:
        return state
    seats = dict(state.seats)
    for choice in state.corrected_choices:
        seat = seats[choice.player]
        plays = dict(seat.plays)
        plays[choice.box] = _apply(plays[choice.box], choice)
        seats[choice.player] = replace(seat, plays=plays)
    return replace(state, seats=seats)


def _apply(play: BoxPlay, choice: e.ChoiceCorrection) -> BoxPlay:
    fixed = replace(play)
    if choice.option is not None:
        fixed.option = choice.option
        fixed.positions = choice.positions if choice.option == "exchange" else ()
        fixed.fee = play.ante if choice.option in {"sixth", "exchange"} else 0
        fixed.final = None if choice.option in {"fold", "bet"} else fixed.final
    if choice.final is not None:
        fixed.final = choice.final
    if choice.insurance is not None:
        fixed.insurance = choice.insurance
    if choice.purchase is not None:
        fixed.purchase = choice.purchase
    if not fixed.blind:
        fixed.bet = 0 if fixed.folded else 2 * fixed.ante
    return fixed


def _revisions(state: RoundState, sealed: Sealed, limit: int, number: int) -> tuple[e.RoundEvent, ...]:
    settling = settling_of(state, sealed)
    revised: list[e.PlayerSettled] = []
    for index in range(state.settle_index, len(state.order)):
        seat = state.seats[state.order[index]]
        results = _results(settling, seat)
        if [box.lines for box in results] == [box.lines for box in seat.results]:
            continue
        if len(revised) == limit:
            return tuple(revised)
        revised.append(player_settled(seat, results))
    return (*revised, e.RoundResettled(number, dealer_result(settling.dealer), totals_after(state, revised)))


def _results(settling: Settling, seat: PlayerSeat) -> tuple[BoxResult, ...]:
    results = player_results(settling, seat)
    return refunded(results) if settling.state.refunded else results
