"""Free bets of an operator's players: granted, listed, taken back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

FreeBetState = Literal["granted", "spent", "expired"]
FreeBetWager = Literal["ante", "bonus_player", "bonus_dealer"]


@dataclass(frozen=True, slots=True)
class FreeBet:
    """A free bet. Amounts in minor units."""

    free_bet: str
    player: str
    """Our opaque id of the player."""
    currency: str
    amount: int
    wagers: tuple[FreeBetWager, ...]
    expires_at: dt.datetime
    left: int
    used: int
    state: FreeBetState


@dataclass(frozen=True, slots=True)
class WantedFreeBet:
    """A free bet that is to be granted. `request_id` and `free_bet` are the same in each try."""

    request_id: str
    free_bet: str
    player: str
    currency: str
    amount: int
    wagers: tuple[FreeBetWager, ...]
    expires_at: dt.datetime


@dataclass(frozen=True, slots=True)
class NotGranted:
    """The bonus service refuses it; `reason` is its slug."""

    reason: str
    why: str


class FreeBets(Protocol):
    """The bonus service. Calls that fail raise what gRPC raises."""

    async def grant(self, wanted: WantedFreeBet) -> FreeBet | NotGranted:
        """Grant a free bet; granted before with the same values, it is as it is now."""
        ...

    async def page(self, player: str, *, after: str, limit: int) -> Sequence[FreeBet]:
        """Free bets of a player by id, from behind `after` on."""
        ...

    async def find(self, player: str, free_bet: str) -> FreeBet | None:
        """A free bet of this player; None: there is none of this id, or it is another's."""
        ...

    async def revoke(self, request_id: str, free_bet: str) -> FreeBet | NotGranted:
        """Take back what is left of it."""
        ...
