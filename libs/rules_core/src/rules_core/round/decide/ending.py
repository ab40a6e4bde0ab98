"""Deciding a cancellation, an extension, a declined hold (RULES.md sections 4.9 and 7)."""

from __future__ import annotations

from typing import get_args

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.cards import hidden_places, openings_of
from rules_core.round.decide.wording import is_free_bet_id, is_slug
from rules_core.round.limits import MAX_AMOUNT, MAX_PLACEMENTS
from rules_core.round.refusal import Refusal, refuse
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState
from rules_core.round.times import plus_ms

Decision = tuple[e.RoundEvent, ...] | Refusal

CANCEL_REASONS = (
    "hidden_card_exposed",
    "wrong_card_read",
    "extra_card_dealt",
    "table_cleared_early",
    "card_dropped",
    "dealer_mistake",
    "technical_failure",
)
"""RULES.md section 7."""


def cancel_round(command: c.CancelRound, state: RoundState, sealed: Sealed) -> Decision:
    """Everything not yet opened, then RoundCancelled; before settling only."""
    if command.reason not in CANCEL_REASONS:
        text = f"give one of: {', '.join(CANCEL_REASONS)}"
        return refuse("reason_unknown", text, reason=command.reason)
    if state.step == "new":
        return refuse("round_not_open", "no round is open")
    if state.ended or state.step == "settling":
        return refuse("round_ended", "the round is settled or cancelled; a settled one can be corrected")
    manual = dict(command.manual_cards)
    read = tuple(place for place in hidden_places(state) if place not in state.unread or place in manual)
    openings = openings_of(state, sealed, read, manual)
    if isinstance(openings, Refusal):
        return openings
    if manual:
        place = next(iter(manual))
        return refuse("card_not_expected", f"no unread card lies in {place}", place=place)
    opened = {opening.place for opening in openings}
    unread = tuple(place for place in hidden_places(state) if place not in opened)
    revealed = (e.CardsRevealed(openings, final=True),) if openings else ()
    return (*revealed, e.RoundCancelled(command.reason, unread))


def extend_window(command: c.ExtendWindow, state: RoundState) -> Decision:
    """WindowExtended, up to the round's setting for one window."""
    window, opened = state.window, state.opened
    if window is None or opened is None:
        return refuse("window_not_open", "no window is open")
    if command.reason not in get_args(c.ExtensionReason):
        text = "a window is extended after a fail_over, or by the floor"
        return refuse("reason_unknown", text, reason=command.reason)
    room = opened.durations.extension_max_ms - window.extended_ms
    if not 0 < command.extend_ms <= room:
        text = f"this window may be extended by 1 to {room} ms more; beyond that cancel the round"
        return refuse("extension_out_of_range", text, maximum_ms=room)
    closes_at = plus_ms(window.closes_at, command.extend_ms)
    event = e.WindowExtended(
        window.kind, window.box, closes_at, command.extend_ms, command.reason, command.at
    )
    return (event,)


def decline_bet(command: c.DeclineBet, state: RoundState) -> Decision:
    """BetDeclined for a hold that has no stake; after the end of the round too."""
    if state.opened is None:
        return refuse("round_not_open", "no round is open")
    if command.bet_id in state.bet_ids:
        return refuse("bet_id_used", "this bet id is recorded already: its hold has a stake or was declined")
    if not is_slug(command.reason):
        return refuse("word_invalid", "reason: a reason is a slug", key="reason")
    if not 0 < len(command.stakes) <= MAX_PLACEMENTS:
        return refuse("stakes_missing", f"name the wagers that were held, at most {MAX_PLACEMENTS}")
    for stake in command.stakes:
        if not 1 <= stake.box <= state.ruleset.boxes or not 0 < stake.amount <= MAX_AMOUNT:
            return refuse("stake_impossible", "no such wager can have been held", box=stake.box)
        if not is_free_bet_id(stake.funding):
            return refuse(
                "word_invalid", "funding: a free bet's id is 1 to 64 letters, digits, - and _", box=stake.box
            )
    event = e.BetDeclined(
        command.player,
        command.currency,
        command.bet_id,
        command.stakes,
        command.reason,
        command.arrived_at,
        "DeclineBet",
    )
    return (event,)
