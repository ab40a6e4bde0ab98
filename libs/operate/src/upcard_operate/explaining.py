"""From a round's bundle to plain English: the settlement case that it amounts to, explained."""

from __future__ import annotations

from typing import Final

from rules_core.engine import ENGINE
from rules_core.explain import explain, explain_refund, in_english
from rules_core.log.bundle import Recorded
from rules_core.log.bundle_reading import UnreadableBundle, parse_bundle
from rules_core.round.codec import event_of
from rules_core.round.decide.correcting import apply_choices
from rules_core.round.decide.settling import (
    box_case,
    dealer_result,
    drawn_cards,
    player_results,
    settling_of,
)
from rules_core.round.evolve import evolve
from rules_core.round.hands import dealer_five
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState, new_round
from rules_core.rulesets.model import Ruleset
from rules_core.rulesets.parse import parse_ruleset
from rules_core.settlement.model import Case, Settlement
from upcard_operate.output import CommandFailed

_SCALE: Final = 2


def explained(bundle: bytes, player: str | None = None) -> str:
    """Why each wager of an ended round was settled as it was, in sentences; of one player, or of all.

    Raises CommandFailed: the bundle cannot be read, withholds events, or its round is not settled.
    """
    state = _state_of(bundle)
    if state.step == "cancelled":
        return "The round was cancelled: every wager and fee of it went back.\n"
    if state.step not in {"settled", "resettling"}:
        raise CommandFailed(f"The round is not settled yet: {state.step}.")
    players = [name for name in state.order if player in {None, name}]
    if not players:
        raise CommandFailed(f"{player} has no settled boxes in this round.")
    return "\n".join(_by_currency(state, players))


def _state_of(bundle: bytes) -> RoundState:
    try:
        parsed, problems = parse_bundle(bundle)
    except UnreadableBundle as error:
        raise CommandFailed(f"The bundle cannot be read: {error}") from None
    if parsed is None:
        raise CommandFailed(f"The bundle is wrong: {problems}")
    ruleset = parse_ruleset(parsed.ruleset)
    if not isinstance(ruleset, Ruleset):
        raise CommandFailed(f"The bundle's ruleset is wrong: {ruleset.message}")
    state = new_round(ruleset)
    for item in parsed.round.events:
        if not isinstance(item, Recorded):
            raise CommandFailed("Events of the bundle are withheld; take one that shows everything.")
        content = item.content
        state = evolve(state, event_of(content.type, content.version, content.payload))
    return apply_choices(state)


def _by_currency(state: RoundState, players: list[str]) -> list[str]:
    """Players of one currency in one text, since amounts are shown with it."""
    currencies = sorted({state.seats[name].currency for name in players})
    texts = []
    for currency in currencies:
        of_it = [name for name in players if state.seats[name].currency == currency]
        if state.refunded:
            boxes = [result for name in of_it for result in state.seats[name].results]
            texts.append(in_english(explain_refund(boxes), scale=_SCALE, currency=currency))
            continue
        case, result = _case_of(state, of_it, currency)
        texts.append(in_english(explain(case, result), scale=_SCALE, currency=currency))
    return texts


def _case_of(state: RoundState, players: list[str], currency: str) -> tuple[Case, Settlement]:
    """What these players did and what was recorded for it.

    The dealer's draws are the round's: any box may have bought them, also one that is not told of here, so
    that this is no case that `settle` would take.
    """
    sealed = Sealed()
    ruleset, settling = state.ruleset, settling_of(state, sealed)
    seats = [state.seats[name] for name in players]
    cases = tuple(box_case(state, sealed, play, currency) for seat in seats for play in seat.ordered())
    results = tuple(
        result
        for seat in seats
        for result in (seat.results if state.step == "settled" else player_results(settling, seat))
    )
    case = Case(ruleset, dealer_five(state, sealed), drawn_cards(state, sealed), cases)
    dealer = dealer_result(settling.dealer)
    return case, Settlement(ruleset.id, ruleset.sha256, ENGINE, dealer, results)
