"""What players want of a table, and what became of it, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

__all__ = [
    "Bets",
    "Done",
    "FinalChoice",
    "Money",
    "NotDone",
    "OptionChoice",
    "Order",
    "PurchaseChoice",
    "Simple",
    "Stake",
    "TablePlay",
    "Tipped",
    "What",
    "Withdrawal",
]

Money = Literal["none_moved", "moved", "unknown"]
Simple = Literal["undo", "clear", "double", "rebet"]


@dataclass(frozen=True, slots=True)
class Stake:
    """One wager of one box; minor units."""

    box: int
    wager: str
    amount: int
    blind: bool = False
    funding: str = ""
    """The free bet that pays; empty: cash."""


@dataclass(frozen=True, slots=True)
class Bets:
    """Add to wagers: all or none."""

    placements: tuple[Stake, ...]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Take a wager back."""

    box: int
    wager: str


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """Choose an option."""

    box: int
    kind: str
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FinalChoice:
    """Choose a final option."""

    box: int
    choice: str
    insurance: int = 0


@dataclass(frozen=True, slots=True)
class PurchaseChoice:
    """Buy the dealer's exchange, or do not."""

    box: int
    buy: bool


@dataclass(frozen=True, slots=True)
class Tipped:
    """Give the dealer something."""

    amount: int


What = Bets | Withdrawal | OptionChoice | FinalChoice | PurchaseChoice | Tipped | Simple


@dataclass(frozen=True, slots=True)
class Order:
    """One wish of one player."""

    table: str
    round: int
    player: str
    currency: str
    request_id: str
    """New for each wish, the same in each try: it is the bet's id too."""
    what: What


@dataclass(frozen=True, slots=True)
class Done:
    """It is done."""

    round: int
    wagers: tuple[Stake, ...] = ()
    """What it staked, or took back."""
    position: int = 0
    """The last event of the round that tells of it; 0: it is not told."""


@dataclass(frozen=True, slots=True)
class NotDone:
    """It is not done, or nobody can say."""

    reason: str
    round: int = 0
    data: Mapping[str, str] = field(default_factory=dict)
    """What the reason speaks of."""
    money: Money = "none_moved"
    again: bool = False
    """Whether the same may be accepted later."""


class TablePlay(Protocol):
    """The table service, as players need it."""

    async def ask(self, order: Order) -> Done | NotDone:
        """Have it done, once for each `request_id` of a player, within ten seconds."""
        ...

    async def own(
        self, table: str, number: int, player: str, currency: str, at_least: int = 0
    ) -> Mapping[str, Any] | None:
        """`own` of the player's view of a round; None: there is no such round.

        It knows of the round's events up to `at_least`: views follow the log by a moment. Raises TableAway,
        also when it does not know of them in time.
        """
        ...


class TableAway(Exception):
    """The table service does not answer now."""


class SessionChecks(Protocol):
    """What the limits of sessions said to wishes, kept so that a repeated wish gets the word of then."""

    async def known(self, session: str, request_id: str) -> Verdict | None:
        """What was said to it; None: it was not asked before."""
        ...

    async def keep(self, session: str, request_id: str, verdict: Verdict) -> Verdict:
        """Keep a word, unless there is one by now: the one that is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What limits said to a wish."""

    reason: str | None
    """None: nothing against it."""
    maximum: int | None = None


def of_wish(boxes: Sequence[Mapping[str, Any]], box: int) -> Mapping[str, Any] | None:
    """A box of `own` by its number."""
    return next((one for one in boxes if one["box"] == box), None)
