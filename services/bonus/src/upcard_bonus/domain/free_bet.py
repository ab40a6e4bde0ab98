"""A free bet: granted, used, given back, lapsed.

Which wagers it may pay the table decides, and the wallet holds its money; this keeps account, and knows when
it is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from upcard_bonus.domain.free_bet_events import (
    FreeBetEvent,
    FreeBetExpired,
    FreeBetGranted,
    FreeBetReturned,
    FreeBetUsed,
    FreeBetWager,
    LapseReason,
    ReturnReason,
)
from upcard_bonus.domain.ids import LARGEST_AMOUNT, is_currency, is_opaque_id
from upcard_bonus.domain.refusal import Refused

State = Literal["granted", "spent", "expired"]
WAGERS: Final[tuple[FreeBetWager, ...]] = ("ante", "bonus_player", "bonus_dealer")


@dataclass(frozen=True, slots=True)
class FreeBet:
    """A free bet between two events; amounts in minor units."""

    free_bet: str
    player: str
    currency: str
    amount: int
    wagers: tuple[FreeBetWager, ...]
    expires_at: str
    used: int = 0
    """Staked now, or staked and not come back."""
    lapsed: int = 0
    expired: bool = False

    @property
    def left(self) -> int:
        """What can be staked: never below zero, though a bet may have been placed while its time ended."""
        return max(0, self.amount - self.used - self.lapsed)

    @property
    def state(self) -> State:
        """What has become of it."""
        if self.expired:
            return "expired"
        return "granted" if self.left else "spent"


@dataclass(frozen=True, slots=True)
class Use:
    """One wager that a free bet pays."""

    round: str
    player: str
    bet_id: str
    box: int
    wager: str
    free_bet: str
    amount: int
    back: bool = False
    """Whether it came back."""


def evolve(state: FreeBet | None, event: FreeBetEvent) -> FreeBet | None:
    """The free bet after an event; None before it was granted."""
    match event:
        case FreeBetGranted():
            return FreeBet(
                event.free_bet, event.player, event.currency, event.amount, event.wagers, event.expires_at
            )
        case _ if state is None:
            return None
        case FreeBetUsed():
            return replace(state, used=state.used + event.amount)
        case FreeBetReturned():
            return replace(state, used=state.used - event.amount)
        case FreeBetExpired():
            return replace(state, lapsed=state.lapsed + event.amount, expired=True)


def fold(events: Iterable[FreeBetEvent]) -> FreeBet | None:
    """The free bet after all of its events."""
    state: FreeBet | None = None
    for event in events:
        state = evolve(state, event)
    return state


def grant(wanted: FreeBetGranted) -> tuple[FreeBetEvent, ...] | Refused:
    """Grant a free bet; that its time is yet to come is the caller's to check, who knows the time."""
    if not is_opaque_id(wanted.free_bet) or not is_opaque_id(wanted.player):
        return Refused("id_invalid")
    if not is_currency(wanted.currency):
        return Refused("currency_invalid")
    if not 0 < wanted.amount <= LARGEST_AMOUNT:
        return Refused("amount_invalid")
    known = [wager for wager in WAGERS if wager in wanted.wagers]
    if not known or len(known) != len(wanted.wagers):
        return Refused("wagers_invalid")
    return (replace(wanted, wagers=tuple(known)),)


def use(state: FreeBet, wager: Use, *, correction: bool = False) -> tuple[FreeBetEvent, ...]:
    """A wager was staked with it."""
    after = replace(state, used=state.used + wager.amount)
    return (
        FreeBetUsed(
            state.free_bet,
            wager.round,
            wager.bet_id,
            wager.box,
            wager.wager,
            wager.amount,
            after.left,
            correction,
        ),
    )


def give_back(state: FreeBet, wager: Use, why: ReturnReason) -> tuple[FreeBetEvent, ...]:
    """A wager came back; where the free bet's time is over, that lapses too."""
    after = replace(state, used=state.used - wager.amount)
    returned = FreeBetReturned(
        state.free_bet, wager.round, wager.bet_id, wager.box, wager.wager, wager.amount, after.left, why
    )
    if not state.expired or not after.left:
        return (returned,)
    return returned, FreeBetExpired(state.free_bet, after.left, "returned_late")


def expire(state: FreeBet, why: LapseReason) -> tuple[FreeBetEvent, ...]:
    """Let it lapse; nothing where it has already."""
    return () if state.expired else (FreeBetExpired(state.free_bet, state.left, why),)
