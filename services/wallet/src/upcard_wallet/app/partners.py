"""How things stand with operators' wallets, for whoever watches them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from eventstore.postgres.connections import Connection


@dataclass(frozen=True, slots=True)
class PartnerStanding:
    """One operator's wallet; `circuit` to `answered_at` are what this process sees."""

    operator: str
    dialect: str
    circuit: Literal["closed", "open", "probing"]
    since: dt.datetime
    failures: int
    """In a row."""
    bets_under_way: int
    answered_at: dt.datetime | None
    waiting: int
    """Players in rounds with calls that wait to be told."""
    parked: int
    """Players in rounds with a call that waits for people."""
    failing_for_s: float


class Partners(Protocol):
    """The operators' wallets."""

    async def standings(self, connection: Connection) -> Sequence[PartnerStanding]:
        """Each of them, ordered by operator."""
        ...
