"""Significant events: what a casino's manager has to know of afterwards, whoever was there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args
from uuid import UUID

__all__ = ["KINDS", "Kind", "Significant", "Thresholds"]

Kind = Literal[
    "round_cancelled",
    "large_win",
    "jackpot_won",
    "round_corrected",
    "window_extended",
    "table_opened",
    "table_closed",
    "limits_changed",
    "manual_mode_on",
    "manual_mode_off",
    "deck_retired",
    "adjustment",
    "debt_recorded",
    "sign_in_failed",
    "staff_changed",
    "floor_action",
    "operations_action",
    "chat_action",
]
"""What it is."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which net win in one round on a player's win is significant, in minor units."""

    by_currency: Mapping[str, int]
    else_: int
    """In every other currency."""

    def large(self, currency: str, net: int) -> bool:
        """Whether a net result is a large win."""
        return net >= self.by_currency.get(currency, self.else_)


@dataclass(frozen=True, slots=True)
class Significant:
    """One entry of the log. Ids are opaque; nothing in it names a person."""

    event_id: UUID
    at: dt.datetime
    """When the event was recorded."""
    kind: Kind
    source: str
    """The service whose log has the event: `table`, `wallet`, `gateway`."""
    stream: str
    position: int
    actor: str
    """As the event says: `staff:<id>`, `dealer:<id>`, `system`."""
    table: str | None = None
    round: str | None = None
    """`<table>.<number>`."""
    player: str | None = None
    account: str | None = None
    staff: str | None = None
    currency: str | None = None
    amount: int | None = None
    """Minor units."""
    reason: str | None = None
    """A slug."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """More of it, as plain JSON."""
