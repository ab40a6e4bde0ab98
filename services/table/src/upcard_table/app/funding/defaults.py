"""Bets by default need money too: what is asked for when the final window passes (RULES.md section 4.6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from rules_core.round import commands as c
from rules_core.round import events as e
from rules_core.round.decide.finals import default_choice
from rules_core.round.hands import HandMemo
from rules_core.round.sealed import Sealed
from rules_core.round.state import RoundState
from upcard_table.app.funding.needs import funds_of
from upcard_table.app.ports import HoldsAnswer, WantedHolds

_DEFAULTS: Final = UUID("0b9fb8f2-3c49-4d3c-8b7e-2f6f6a0d5f0e")

BoxOfPlayer = tuple[int, str]
"""A box and whose hand in it is meant."""


@dataclass(frozen=True, slots=True)
class DefaultBet:
    """A box that bets when nothing is chosen for it."""

    box: int
    player: str
    wanted: WantedHolds | None
    """What is to be held for it; None: its money is reserved, or its own choice's is being asked for."""


def default_bets(
    state: RoundState,
    sealed: Sealed,
    round_name: str,
    correlation_id: str,
    *,
    reserve: bool,
    in_flight: Collection[BoxOfPlayer] = (),
) -> tuple[DefaultBet, ...]:
    """The undecided boxes of the open final window that would bet by default, in the order of the window.

    `in_flight`: boxes whose own choice waits for its money. No second hold is asked for those. Raises
    SealMissingError.
    """
    if state.step != "final_options":
        return ()
    memo: HandMemo = {}
    bets: list[DefaultBet] = []
    for (box, player), play in state.undecided.items():
        bet = default_choice(state, sealed, play, memo).bet
        if not bet:
            continue
        wanted = None
        if not reserve and (box, player) not in in_flight:
            wanted = WantedHolds(
                round=round_name,
                player=player,
                currency=state.seats[player].currency,
                bet_id=default_bet_id(state, round_name, player, box),
                wagers=(e.DeclinedStake(box, "bet", bet),),
                correlation_id=correlation_id,
                by_platform=True,
            )
        bets.append(DefaultBet(box, player, wanted))
    return tuple(bets)


def unfunded(
    bets: Collection[DefaultBet],
    answers: Mapping[BoxOfPlayer, HoldsAnswer],
    in_flight: Collection[BoxOfPlayer] = (),
) -> tuple[tuple[int, str, c.Unfunded], ...]:
    """What `CloseFinalOptions` is told: the default bets without money.

    `answers` by box and player; one that is missing did not come in time. `in_flight`: boxes whose own
    choice's money is not answered either; they fold. Bets of boxes that have been decided since are left to
    the caller to leave out: the window knows who is undecided.
    """
    found: list[tuple[int, str, c.Unfunded]] = []
    for bet in bets:
        key = (bet.box, bet.player)
        if key in in_flight:
            found.append((*key, "unavailable"))
        elif bet.wanted is not None:
            answer = answers.get(key)
            funds = "unavailable" if answer is None else funds_of(answer)
            if funds in {"refused", "unavailable"}:
                found.append((*key, funds))
    return tuple(found)


def default_bet_id(state: RoundState, round_name: str, player: str, box: int) -> str:
    """The bet id of a box's default bet: the same in each try, and a new one once that was declined.

    After a fail-over the new owner declines the old owner's default holds, since the player may choose again;
    what was declined is never asked for again, so the next try has an id of its own.
    """
    tries = 1
    while True:
        name = f"{round_name}/{player}/{box}/default"
        made = str(uuid5(_DEFAULTS, name if tries == 1 else f"{name}/{tries}"))
        if made not in state.bet_ids:
            return made
        tries += 1
