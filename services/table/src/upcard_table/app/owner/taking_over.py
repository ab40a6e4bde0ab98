"""What a new owner does first: it resolves the holds that were left open, and makes up for the time lost."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from rules_core.round import commands as c
from rules_core.round.events import RoundEvent
from rules_core.round.refusal import Refusal
from rules_core.round.times import to_epoch_us
from upcard_table.app.funding.resolving import to_decline
from upcard_table.app.owner.deciding import Deciding
from upcard_table.app.owner.settings import OwnerSettings
from upcard_table.app.ports import Funds, FundsUnavailable
from upcard_table.app.rounds.live import LiveRound
from upcard_table.domain.words import round_name

US_IN_MS: Final = 1_000


async def resolve_holds(
    funds: Funds, deciding: Deciding, settings: OwnerSettings
) -> tuple[c.DeclineBet, ...]:
    """A decline for each hold of the running round without a stake, so that its money comes back.

    A wallet that cannot be asked in time does not keep the table closed: it asks itself about old holds.
    """
    live = deciding.memory.last
    if live is None or live.ended:
        return ()  # the wallet settles or frees whatever a round leaves at its end
    name = round_name(live.table, live.number)
    deadline_s = asyncio.get_running_loop().time() + settings.resolve_timeout_ms / 1_000
    try:
        holds = await funds.open_holds(name, deadline_s)
    except FundsUnavailable:
        return ()
    in_flight = {bet_id for number, bet_id in deciding.pending if number == live.number}

    def recorded(bet_id: str) -> RoundEvent | None:
        found = live.outcomes.of_bet(bet_id)
        return None if found is None else cast("RoundEvent", found.event)

    return to_decline(live.state, name, recorded, [hold for hold in holds if hold.bet_id not in in_flight])


def make_up(deciding: Deciding, outage_since_us: int) -> None:
    """Extend the open window by the time in which commands could not be accepted.

    Where the round's setting does not allow so much, the window waits for the floor to extend it, or cancel.
    """
    live = deciding.memory.last
    if live is None or live.state.window is None or deciding.memory.floor_round == live.number:
        return
    lost_ms = lost_in_window_ms(live, outage_since_us, deciding.draft.now.us)
    if lost_ms <= 0:
        return
    command = c.ExtendWindow(deciding.draft.now.text, lost_ms, "fail_over")
    if isinstance(deciding.own(live, command), Refusal):
        deciding.memory.floor_round = live.number
        deciding.draft.floor_round = live.number


def lost_in_window_ms(live: LiveRound, outage_since_us: int, now_us: int) -> int:
    """How much of the open window's time was lost, in milliseconds; 0 where its time was over before."""
    window = live.state.window
    if window is None or outage_since_us >= to_epoch_us(window.closes_at):
        return 0
    since_us = max(outage_since_us, to_epoch_us(window.opened_at))
    return -(-(now_us - since_us) // US_IN_MS)
