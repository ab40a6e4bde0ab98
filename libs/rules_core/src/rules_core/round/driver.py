"""What a table's owner has to do next: one answer for demo, tests and the table service."""

from __future__ import annotations

from typing import Literal

from rules_core.round.decide.purchase import purchase_asked
from rules_core.round.decide.steps import awaits_confirmation
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState

NextStep = Literal["open", "close_window", "lay_card", "confirm_cards", "proceed", "settle", "none"]


def next_step(state: RoundState, sealed: Sealed) -> NextStep:
    """What the owner has to do next.

    `close_window`: when its time is over or every asked box has decided; `lay_card`: the next card goes to
    `state.awaited[0]`; `settle`: also goes on with a correction that is decided; `none`: the round is ended.
    """
    if state.step == "new":
        return "open"
    if state.window is not None:
        return "close_window"
    if state.awaited:
        return "lay_card"
    if awaits_confirmation(state):
        return "confirm_cards"
    if state.step == "next" or (state.step == "revealed" and purchase_asked(state, sealed)):
        return "proceed"
    return "none" if state.step in {"settled", "cancelled"} else "settle"
