"""Tips: the wallet posts a tip first, then the table's stream tells of it (ARCHITECTURE.md, Money)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rules_core.round.refusal import Refusal


@dataclass(frozen=True, slots=True)
class WantedTip:
    """A tip that a player wants to give."""

    request_id: str
    """New for each tip, the same in each try: 1 to 64 letters, digits, - and _."""
    player: str
    currency: str
    amount: int
    """Minor units."""
    table: str
    dealer: str | None


@dataclass(frozen=True, slots=True)
class PostedTip:
    """A tip that the wallet has posted."""

    transaction: str
    """The ledger's transaction, a UUID; `RecordTip` names it."""


class Tips(Protocol):
    """Who posts tips."""

    async def post_tip(self, tip: WantedTip, deadline_s: float) -> PostedTip | Refusal:
        """Give a tip from the player's cash. The same request id again is the same tip.

        `deadline_s` is a time of the event loop. Raises FundsUnavailable: it may have been posted; the same
        again tells.
        """
        ...
