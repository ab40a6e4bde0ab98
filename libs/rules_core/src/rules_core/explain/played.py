"""A round that was played, explained: the settlement case that its players' boxes amount to."""

from __future__ import annotations

from collections.abc import Sequence

from rules_core.engine import ENGINE
from rules_core.explain.explain import explain, explain_refund
from rules_core.explain.sentence import Explanation
from rules_core.round.decide.correcting import apply_choices
from rules_core.round.decide.settling import (
    box_case,
    dealer_result,
    drawn_cards,
    player_results,
    settling_of,
)
from rules_core.round.hands import dealer_five
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState
from rules_core.settlement.model import Case, Settlement

SETTLED = frozenset({"settled", "resettling"})
"""The steps of a round that can be explained."""


def explain_played(state: RoundState, players: Sequence[str]) -> dict[str, Explanation]:
    """What is to be said to these players, by currency: sums are shown in one. The round is settled.

    Players without settled boxes are left out. All cards that it speaks of are open once a round is settled.
    Raises ValueError for a round that is not.
    """
    if state.step not in SETTLED:
        raise ValueError(f"the round is not settled: {state.step}")
    state = apply_choices(state)
    those = [name for name in state.order if name in players]
    currencies = sorted({state.seats[name].currency for name in those})
    return {
        currency: _of_currency(state, [name for name in those if state.seats[name].currency == currency])
        for currency in currencies
    }


def _of_currency(state: RoundState, players: list[str]) -> Explanation:
    if state.refunded:
        return explain_refund([result for name in players for result in state.seats[name].results])
    return explain(*_case_of(state, players))


def _case_of(state: RoundState, players: list[str]) -> tuple[Case, Settlement]:
    """What these players did and what was recorded for it.

    The dealer's draws are the round's: any box may have bought them, also one that is not told of here, so
    that this is no case that `settle` would take.
    """
    sealed = Sealed()
    ruleset, settling = state.ruleset, settling_of(state, sealed)
    seats = [state.seats[name] for name in players]
    cases = tuple(box_case(state, sealed, play, seat.currency) for seat in seats for play in seat.ordered())
    results = tuple(
        result
        for seat in seats
        for result in (seat.results if state.step == "settled" else player_results(settling, seat))
    )
    case = Case(ruleset, dealer_five(state, sealed), drawn_cards(state, sealed), cases)
    dealer = dealer_result(settling.dealer)
    return case, Settlement(ruleset.id, ruleset.sha256, ENGINE, dealer, results)
