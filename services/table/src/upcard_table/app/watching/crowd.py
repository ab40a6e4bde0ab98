"""What all players of a shared table did in a window, in figures: with the event that closes it.

Any number of players may sit at a shared table. Each of their choices, shown to each of them, would be as
many messages as the square of their number; and nobody looks at ten thousand of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from rules_core.round import events as e
from rules_core.round.events.fields import StakeName
from rules_core.round.state import BoxPlay, RoundState

_WAGERS: Final[tuple[StakeName, ...]] = ("ante", "bet", "bonus_player", "bonus_dealer")


@dataclass(frozen=True, slots=True)
class CrowdStake:
    """All stakes of one wager in one box and currency."""

    currency: str
    wager: StakeName
    box: int
    players: int
    amount: int
    """Minor units."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """What all players together did in a window."""

    players: int
    """Players with a box in the round."""
    stakes: tuple[CrowdStake, ...] = ()
    """After betting; by currency, box and wager."""
    choices: tuple[tuple[str, int], ...] = ()
    """After the other windows: choice, and how many boxes made it; by name."""


def crowd_of(event: e.RoundEvent, state: RoundState) -> Crowd | None:
    """The figures that belong to an event, from the state after it; None where it closes no window."""
    chosen: Counter[str]
    match event:
        case e.BettingClosed():
            return Crowd(len(state.seats), stakes=_stakes(state))
        case e.OptionsClosed():
            chosen = Counter(play.option or "none" for play in _plays(state) if not play.blind)
        case e.FinalOptionsClosed():
            chosen = Counter(play.final for play in _plays(state) if play.final is not None)
        case e.PurchaseClosed():
            decided = (play.purchase for play in _plays(state) if play.purchase is not None)
            chosen = Counter("buy" if bought else "decline" for bought in decided)
        case _:
            return None
    return Crowd(len(state.seats), choices=tuple(sorted(chosen.items())))


def _plays(state: RoundState) -> list[BoxPlay]:
    return [play for seat in state.seats.values() for play in seat.plays.values()]


def _stakes(state: RoundState) -> tuple[CrowdStake, ...]:
    players: Counter[tuple[str, int, StakeName]] = Counter()
    amounts: Counter[tuple[str, int, StakeName]] = Counter()
    for seat in state.seats.values():
        for box, play in seat.plays.items():
            for wager, amount in zip(_WAGERS, _amounts(play), strict=True):
                if amount:
                    key = (seat.currency, box, wager)
                    players[key] += 1
                    amounts[key] += amount
    return tuple(
        CrowdStake(currency, wager, box, players[currency, box, wager], amount)
        for (currency, box, wager), amount in sorted(amounts.items())
    )


def _amounts(play: BoxPlay) -> tuple[int, int, int, int]:
    return play.ante, play.bet, play.bonus_player, play.bonus_dealer
