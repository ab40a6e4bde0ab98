"""Sums for screens that refresh themselves: tables in play, a player's totals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

TOTALS_MAX: Final = dt.timedelta(days=400)
"""Longest period of a player's totals."""


@dataclass(frozen=True, slots=True)
class AtStake:
    """What is at stake in one currency, minor units."""

    currency: str
    players: int
    amount: int
    """Without what was decided in a window of a shared table that is open still."""


@dataclass(frozen=True, slots=True)
class TableInPlay:
    """A round that has not ended."""

    round: str
    table: str
    number: int
    ruleset: str
    opened_at: dt.datetime
    window: str | None
    """Kind of the window that is open; None between windows."""
    box: int | None
    """Whose window it is; None: everybody's."""
    window_opened_at: dt.datetime | None
    at_stake: tuple[AtStake, ...]
    """By currency."""


@dataclass(frozen=True, slots=True)
class PlayerTotal:
    """A player's sums in one currency, minor units."""

    currency: str
    rounds: int
    """Rounds that were settled; the three that follow are of them."""
    won: int
    staked: int
    returned: int
    cancelled: int
    open: int

    @property
    def net(self) -> int:
        """What went back less what was staked."""
        return self.returned - self.staked


class Sums(Protocol):
    """What can be added up. Any method may raise what the database raises when it is away."""

    async def tables_in_play(self, *, after: str, limit: int) -> Sequence[TableInPlay]:
        """Rounds that have not ended, by name, after this one."""
        ...

    async def player_totals(
        self, player: str, since: dt.datetime, until: dt.datetime
    ) -> Sequence[PlayerTotal]:
        """What the player's rounds of a period, by when they were opened, come to; by currency."""
        ...
