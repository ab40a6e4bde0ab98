"""What a platform allows in a session beside the table's limits: most of one wager, most of one round.

An ante leads to a bet of twice as much, and whoever cannot pay that has to fold. So an ante is taken only
where its bet would fit as well, and the room for it is kept: no limit ever makes a player fold. Amounts are
minor units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from upcard_gateway.domain.sessions import Limits

__all__ = ["BET_OF_ANTE", "Excess", "Limited", "Placed", "Room"]

BET_OF_ANTE: Final = 2
"""The bet is twice the ante."""

Excess = Literal["session_wager_limit", "session_round_limit"]
"""Which limit would be passed."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An amount that is to be added to a wager."""

    box: int
    wager: str
    amount: int
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Limited:
    """A limit that something would pass."""

    reason: Excess
    maximum: int


@dataclass
class Room:
    """What a player has at stake in a round, and what may be added under the session's limits."""

    limits: Limits
    boxes: dict[int, dict[str, int]] = field(default_factory=dict)
    """Wagers by box."""
    settled: frozenset[int] = frozenset()
    """Boxes that can stake no bet any more: it stands, or they were folded."""

    @classmethod
    def of(cls, limits: Limits, own: Mapping[str, Any] | None) -> Room:
        """From `own` of a player's view (docs/views.md)."""
        boxes = [] if own is None else own["boxes"]
        done = frozenset(one["box"] for one in boxes if one["folded"] or one["wagers"].get("bet"))
        return cls(limits, {one["box"]: dict(one["wagers"]) for one in boxes}, done)

    @property
    def is_open(self) -> bool:
        """Whether the session has no limit at all."""
        return self.limits.wager_max is None and self.limits.round_max is None

    @property
    def committed(self) -> int:
        """All stakes and fees, and the bets that may still have to be staked."""
        staked = sum(sum(wagers.values()) for wagers in self.boxes.values())
        bets = (
            BET_OF_ANTE * one.get("ante", 0) for box, one in self.boxes.items() if box not in self.settled
        )
        return staked + sum(bets)

    @property
    def left(self) -> int | None:
        """What may still be added in the round; None: as much as one likes."""
        return None if self.limits.round_max is None else max(0, self.limits.round_max - self.committed)

    def placing(self, placements: Iterable[Placed]) -> Limited | None:
        """The limit that these placements would pass together, before the deal."""
        wanted = Room(self.limits, {box: dict(one) for box, one in self.boxes.items()}, frozenset())
        # A blind box's bet is staked with its ante: both are counted as an ante with the room for its bet.
        for one in wanted.boxes.values():
            one.pop("bet", None)
        for placed in placements:
            wagers = wanted.boxes.setdefault(placed.box, {})
            wagers[placed.wager] = wagers.get(placed.wager, 0) + placed.amount
        return wanted.passed()

    def doubling(self) -> Limited | None:
        """The limit that doubling all wagers would pass."""
        return self.placing(self.standing())

    def standing(self) -> tuple[Placed, ...]:
        """The wagers that were placed, as placements: what a repetition places again."""
        return tuple(
            Placed(box, wager, amount)
            for box, wagers in self.boxes.items()
            for wager, amount in wagers.items()
            if wager in ("ante", "bonus_player", "bonus_dealer")
        )

    def adding(self, amount: int) -> Limited | None:
        """The limit that one more wager would pass that is no bet: a fee, insurance."""
        wager_max, left = self.limits.wager_max, self.left
        if wager_max is not None and amount > wager_max:
            return Limited("session_wager_limit", wager_max)
        if left is not None and amount > left:
            return Limited("session_round_limit", self.limits.round_max or 0)
        return None

    def passed(self) -> Limited | None:
        """The limit that what stands here passes."""
        wager_max, round_max = self.limits.wager_max, self.limits.round_max
        if wager_max is not None and self._largest() > wager_max:
            return Limited("session_wager_limit", wager_max)
        if round_max is not None and self.committed > round_max:
            return Limited("session_round_limit", round_max)
        return None

    def most(self, boxes: Iterable[int], wager: str) -> int | None:
        """Most that may be added to this wager of each of these boxes; None: as much as one likes."""
        asked = list(boxes)
        times = 1 + BET_OF_ANTE if wager == "ante" else 1
        found: list[int] = []
        if self.left is not None:
            found.append(self.left // (times * max(1, len(asked))))
        if self.limits.wager_max is not None:
            allowed = self.limits.wager_max // (BET_OF_ANTE if wager == "ante" else 1)
            found += [allowed - self.boxes.get(box, {}).get(wager, 0) for box in asked]
        return max(0, min(found)) if found else None

    def _largest(self) -> int:
        amounts = (
            amount * (BET_OF_ANTE if wager == "ante" else 1)
            for wagers in self.boxes.values()
            for wager, amount in wagers.items()
        )
        return max(amounts, default=0)
