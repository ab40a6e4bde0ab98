"""What a lobby shows of a table: how it is played, how it stands, who sits there, what came last."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from rules_core.round.limits import CurrencyLimits, Durations
from rules_core.rulesets.model import Ruleset

TablePhase = Literal["closed", "waiting", "betting", "playing"]
RoundEnd = Literal["settled", "cancelled"]

ENDED: Final = frozenset({"settled", "cancelled", "resettling"})
"""Steps of a round that has ended: only a settled one is corrected."""


class SourceAway(Exception):
    """A service that knows it did not answer in time, or not at all: ask again later."""


class LeftAlone(SourceAway):
    """It was not asked, since it did not answer a moment ago: that was logged then."""


class NotShown(SourceAway):
    """The service answers, and cannot tell this of this table: others are not concerned."""


@dataclass(frozen=True, slots=True)
class TableNow:
    """A table as the table service knew it a moment ago."""

    table: str
    name: str
    """What people call it."""
    ruleset: Ruleset
    open: bool
    dealer: str | None
    """The opaque id of who is signed in."""
    round: int
    """Number of the latest round; 0: none yet."""
    step: str
    """That round's step; empty: no round yet."""
    manual_mode: bool
    jackpot: str | None
    """The jackpot that bonus B plays for."""
    limits: tuple[CurrencyLimits, ...]
    """One entry a currency; what the next round is opened with."""
    chips: tuple[tuple[str, tuple[int, ...]], ...]
    """Chip values that are offered, rising, a currency each."""
    durations: Durations
    confirm_cards_ms: int
    reserve_bet_with_ante: bool

    @property
    def phase(self) -> TablePhase:
        """What a visitor wants to know of it: whether bets are taken now, or soon."""
        if not self.open:
            return "closed"
        if self.step in ENDED or not self.round:
            return "waiting"
        return "betting" if self.step in ("new", "betting") else "playing"

    @property
    def ended_round(self) -> int:
        """Number of the latest round that has ended; 0: none."""
        return self.round if self.step in ENDED else max(0, self.round - 1)

    def chips_in(self, currency: str) -> tuple[int, ...]:
        """The chip values that players of a currency are offered; none where it is not taken."""
        return next((values for known, values in self.chips if known == currency), ())


@dataclass(frozen=True, slots=True)
class Seats:
    """Which boxes of a table are taken. At a shared table any number of players play the same boxes."""

    boxes: int
    shared: bool
    taken: tuple[int, ...]
    """Boxes that have a player in the round that runs, ascending; of a shared table none."""
    players: int | None
    """How many people sit there; None at a shared table, where nobody is told."""

    @property
    def free(self) -> tuple[int, ...]:
        """Boxes that a new player could take, as far as the rules of seating let them."""
        return tuple(box for box in range(1, self.boxes + 1) if box not in self.taken)


@dataclass(frozen=True, slots=True)
class DealerResult:
    """The dealer's hand of a settled round."""

    first: str
    """Name of the hand as dealt."""
    final: str
    cards: tuple[str, ...]
    """The five at the end, in the order dealt."""
    qualified: bool
    """Whether the final hand is a game."""
    purchased: bool


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How a round of a table ended, as everybody may know it."""

    round: str
    """`<table>.<number>`."""
    number: int
    end: RoundEnd
    reason: str | None
    """Why it was cancelled, a slug."""
    ended_at: dt.datetime
    dealer: DealerResult | None
    """None: it was cancelled."""
    corrections: int


@dataclass(frozen=True, slots=True)
class Jackpot:
    """A progressive jackpot, as players are shown it. Amounts in minor units of its currency."""

    jackpot: str
    currency: str
    pool: int
    must_hit_by: int | None
    """The pool is paid at a secret size of at most this."""
    cycle: int
    commitment: str | None
    """Of the secret size, hex: published before it is known."""
    tables: tuple[str, ...]
    """Tables whose bonus B plays for it."""


class LobbySources(Protocol):
    """Where the lobby's facts come from. Each call has its own deadline and raises SourceAway beyond it.

    Those about one table raise NotShown for whatever else is wrong with it.
    """

    async def tables(self) -> tuple[TableNow, ...]:
        """All tables, by id. Those of rules that this program does not have are left out, and logged."""
        ...

    async def taken(self, table: TableNow) -> Seats:
        """Who sits at an exclusive table in the latest round."""
        ...

    async def results(self, table: str) -> tuple[RoundResult, ...]:
        """The last results of a table, newest first; a bounded number."""
        ...

    async def jackpots(self) -> tuple[Jackpot, ...]:
        """All jackpots, by id."""
        ...
