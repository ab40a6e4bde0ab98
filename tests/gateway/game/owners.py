"""Plays the owner of a table, for tests that ask the table service over gRPC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.refusal import refuse
from upcard_table.app.calls import Declined, Done, Recorded, Refused, Result, RoundWork, TableCall

WHEN: Final = "2026-01-31T12:00:00.000000Z"
ROUND: Final = 7


def answered(call: TableCall) -> Sequence[Result]:
    """Plays the owner: antes of 1 are refused, of 2 declined, of 3 not paid; all else is done."""
    (work,) = call.works
    assert isinstance(work, RoundWork)
    command = work.command
    if not isinstance(command, c.PlaceBet):
        return [Done((Recorded("round", 5, _event(command)),), ROUND)]
    amount = command.placements[0].amount
    if amount == 1:
        text = refuse("below_minimum", "too little", box=1, wager="ante", total=1, minimum=100)
        return [Refused(text)]
    stakes = tuple(e.DeclinedStake(one.box, one.wager, one.amount) for one in command.placements)
    if amount in (2, 3):
        reason = "funds_refused" if amount == 2 else "wallet_unavailable"
        event = e.BetDeclined(command.player, "EUR", command.bet_id, stakes, reason, WHEN, "PlaceBet")
        return [Declined(event, 6, ROUND)]
    placed = tuple(e.Stake(one.box, one.wager, one.amount) for one in command.placements)
    bet = e.BetPlaced(command.player, "EUR", command.bet_id, "place", placed, WHEN)
    return [Done((Recorded("round", 5, bet),), ROUND)]


def _event(command: c.Command) -> e.RoundEvent:
    if isinstance(command, c.UndoBet | c.ClearBets | c.WithdrawBet):
        kind = {"UndoBet": "undo", "ClearBets": "clear", "WithdrawBet": "withdraw"}[type(command).__name__]
        back = (e.WithdrawnStake("b1", 1, "ante", 100),)
        return e.BetWithdrawn(command.player, cast("Any", kind), back, WHEN)
    player = cast("Any", command).player
    return e.OptionChosen(player, 1, "fold", WHEN)
