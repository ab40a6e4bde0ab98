"""What open holds are to a round: a stake, a reserve, or nothing that the round knows of.

A hold is never simply freed: either the round's stream has its stake, or it gets a `BetDeclined`, and only
then is it free (ARCHITECTURE.md, Money).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.limits import MAX_AMOUNT, MAX_PLACEMENTS
from rules_core.round.state import RoundState
from upcard_table.app.funding.defaults import default_bet_id
from upcard_table.app.funding.needs import stakes_of
from upcard_table.app.ports import OpenHold

Standing = Literal["staked", "declined", "open"]
"""`staked`: the stream has its stake, or it is the reserve of an ante that stands. `declined`: the stream
says that it is none, so it is free. `open`: the stream does not know it yet."""

Recorded = Callable[[str], e.RoundEvent | None]
"""The event that a bet id led to in the round's stream: a stake or BetDeclined; None: none."""


def standing_of(
    state: RoundState, round_name: str, recorded: Recorded, hold: OpenHold, wager: e.DeclinedStake
) -> Standing:
    """What one hold, of one wager of a command, is to its round. Holds in flight are the caller's to know."""
    event = recorded(hold.bet_id)
    if event is None:
        return "staked" if is_default_stake(state, round_name, hold.player, hold.bet_id) else "open"
    if isinstance(event, e.BetDeclined):
        return "declined"
    key = (wager.box, wager.wager)
    if not isinstance(event, e.BetPlaced):
        named = {(stake.box, stake.wager) for stake in stakes_of(event)}
        return "staked" if key in named else "declined"
    placed = {(stake.box, stake.wager) for stake in event.stakes}
    # A bet that was not placed with its ante is the reserve for it.
    standing = key if key in placed else (wager.box, "ante")
    return "staked" if _stands(state, event, standing) else "declined"


def to_decline(
    state: RoundState, round_name: str, recorded: Recorded, holds: Iterable[OpenHold]
) -> tuple[c.DeclineBet, ...]:
    """One command for each group of holds that the round does not know: what a new owner begins with.

    The owner stamps `arrived_at`. Wagers that no round can have are left out: no event could name them, and
    the end of the round frees them.
    """
    commands: list[c.DeclineBet] = []
    for hold in holds:
        unknown = tuple(
            wager
            for wager in hold.wagers
            if standing_of(state, round_name, recorded, hold, wager) == "open"
            and 1 <= wager.box <= state.ruleset.boxes
            and 0 < wager.amount <= MAX_AMOUNT
        )
        if unknown:
            seat = state.seats.get(hold.player)
            currency = hold.currency or (None if seat is None else seat.currency)
            commands.append(
                c.DeclineBet(
                    hold.player, currency, hold.bet_id, unknown[:MAX_PLACEMENTS], "hold_answered_late", ""
                )
            )
    return tuple(commands)


def is_default_stake(state: RoundState, round_name: str, player: str, bet_id: str) -> bool:
    """Whether a bet id is that of a bet by default which the round has: the platform's events name no bet id.

    To be asked before such an id is declined: its money is staked.
    """
    seat = state.seats.get(player)
    return seat is not None and any(
        play.defaulted
        and play.final == "bet"
        and bet_id == default_bet_id(state, round_name, player, play.box)
        for play in seat.plays.values()
    )


def _stands(state: RoundState, event: e.BetPlaced, key: tuple[int, str]) -> bool:
    seat = state.seats.get(event.player)
    return seat is not None and any(
        record.bet_id == event.bet_id and key in record.stakes for record in seat.placements
    )
