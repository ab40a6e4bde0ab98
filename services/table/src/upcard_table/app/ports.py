"""What the owner of a table needs of the world: money, log, leases, the pools' fence, a watcher."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

from eventstore import StreamAppend
from eventstore.answers import Answer, AnswerKey, NewAnswer
from rules_core.round.events import DeclinedStake, RoundEvent
from rules_core.round.refusal import Refusal
from upcard_table.app.calls import By
from upcard_table.domain.state import TableState

# -------------------------------------------------------------------------------------- the money

HoldsOutcome = Literal["held", "refused", "unknown", "overloaded"]


@dataclass(frozen=True, slots=True)
class WantedHolds:
    """The money of one command: all its wagers are held, or none."""

    round: str
    """`<table>.<number>`."""
    player: str
    currency: str
    bet_id: str
    wagers: tuple[DeclinedStake, ...]
    """What is staked; of a bet that is reserved with its ante, that too."""
    correlation_id: str
    by_platform: bool = False
    """Whether the platform chose for the player: a bet by default."""


@dataclass(frozen=True, slots=True)
class HoldsAnswer:
    """What became of them. `overloaded`: the wallet was never asked, and never will be."""

    outcome: HoldsOutcome
    reason: str = ""
    """The wallet's slug of a refusal."""


@dataclass(frozen=True, slots=True)
class OpenHold:
    """Holds of one command that the wallet has and that may still change."""

    player: str
    bet_id: str
    wagers: tuple[DeclinedStake, ...]
    currency: str | None = None


class Funds(Protocol):
    """Holds before stakes: one command each, answered as its own answer comes."""

    def ask(self, wanted: WantedHolds, deadline_s: float) -> asyncio.Future[HoldsAnswer]:
        """Ask for the money of one command; the answer comes by `deadline_s` (the event loop's clock).

        Never raises and never blocks; the future has a result, never an exception. A full queue answers
        `overloaded` at once; no answer in time, or none that is known, is `unknown`. One command's slow
        partner delays nobody else's answer. The same command again (round, player, bet id) is the same holds.
        """
        ...

    def free_reserves(self, round_name: str, events: Sequence[RoundEvent]) -> None:
        """Tell of a round's events that are committed: reserves of antes that do not stand go back.

        Returns at once. What it cannot free goes back at the end of the round by itself.
        """
        ...

    async def open_holds(self, round_name: str, deadline_s: float) -> Sequence[OpenHold]:
        """The holds of a round that are requested, held or unknown: what a new owner has to resolve.

        Raises FundsUnavailable when the wallet cannot be asked.
        """
        ...


class FundsUnavailable(Exception):
    """The wallet cannot be asked just now."""


class Fence(Protocol):
    """Asked before a round is undone: bonus fences the pools that it contributed to."""

    async def before_correction(self, round_name: str, by: By, deadline_s: float) -> Refusal | None:
        """None: the correction may be decided. A refusal: not now, and why."""
        ...


# --------------------------------------------------------------------------------------- the log


@dataclass(frozen=True, slots=True)
class StoredStream:
    """A stream as it is in the log: its contents in order, and the private parts by position."""

    stream: str
    contents: tuple[bytes, ...]
    private: Mapping[int, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is noted of a table beside the log, in the transactions of its appends: nobody has to search."""

    last_round: int = 0
    """Number of the table's last opened round; 0: none."""
    unfinished: tuple[int, ...] = ()
    """Rounds whose correction is decided and not ended."""
    floor_round: int | None = None
    """The round that waits for the floor."""
    outage_since_us: int | None = None
    """Since when no commands could be accepted, microseconds after 1970; None: the table was never served."""


@dataclass(frozen=True, slots=True)
class PreviousOwner:
    """Who held a table's lease before, as far as the lease tells."""

    token: int
    alive_until_us: int
    """When it gave its last sign of life, microseconds after 1970, by the database's clock."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What a batch notes beside the log. Everything left out stays as it is."""

    opened: bool | None = None
    """Whether the table is open from now on."""
    opened_round: int | None = None
    """Number of the round that this batch opens."""
    serving_token: int | None = None
    """The lease's token: the table is served from now on, the outage is over."""
    floor_round: int | None = None
    """The round that waits for the floor; 0: none does any more."""
    unfinished: tuple[int, ...] = ()
    """Rounds whose correction begins with this batch and does not end in it."""
    finished: tuple[int, ...] = ()
    """Rounds whose correction ends with this batch."""


NOTHING_NOTED = Notes()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction stores: events, answers, notes. All of it, or nothing."""

    table: str
    appends: tuple[StreamAppend, ...]
    answers: tuple[NewAnswer, ...] = ()
    notes: Notes = NOTHING_NOTED


class LogAway(Exception):
    """The database cannot be used just now. Nothing was changed; try again in a moment."""


class TableLog(Protocol):
    """The log and what is kept beside it, as a table's owner uses them. All but `store` raise LogAway."""

    async def load_table(self, table: str) -> tuple[TableState, int]:
        """A table after its stream's last event, and that event's position; 0: it has none.

        However long the stream is by now: a state that was kept is the beginning, and events after it.
        """
        ...

    async def load(self, stream: str) -> StoredStream:
        """All of a stream; empty where there is none."""
        ...

    async def take_over(self, table: str, previous: PreviousOwner | None) -> Hints:
        """Note that the table is being taken over, and read what is noted of it.

        The last round is looked for beyond its note, too. `previous`: None where the lease is new.
        """
        ...

    async def hints(self, table: str) -> Hints:
        """What is noted of a table, changing nothing; the last round is looked for beyond its note, too."""
        ...

    async def find_answers(self, keys: Sequence[AnswerKey]) -> Mapping[AnswerKey, Answer]:
        """The stored ones among these calls' answers, in one query."""
        ...

    async def store(self, batch: Batch) -> None:
        """Store a batch and return after its commit; an outcome that got lost is found out.

        Raises VersionConflict, AnswerExists, EventIdReused, InvalidAppend, ShardBusy, AppendFailed (nothing
        is stored), or OutcomeUnknown (it may be, and could not be found out in time).
        """
        ...


# ------------------------------------------------------------------------------------ the leases


@dataclass(frozen=True, slots=True)
class TableLease:
    """A table's lease as this instance got it."""

    table: str
    token: int
    claim: UUID = field(repr=False)
    previous: PreviousOwner | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How the tables are spread just now."""

    open: int
    """Tables that are open."""
    free: tuple[str, ...]
    """Those of them that nobody owns, at most so many as were asked for."""
    owned: Mapping[str, int]
    """By holder, how many tables each live instance owns."""


class Leases(Protocol):
    """The leases of all tables that this instance owns, kept together. All raise LogAway."""

    @property
    def holder(self) -> str:
        """This instance as others read it: `<instance> <host:port>`."""
        ...

    async def take(self, tables: Sequence[str]) -> Sequence[TableLease]:
        """Take those of these that nobody holds."""
        ...

    async def keep(self, held: Sequence[TableLease]) -> frozenset[str]:
        """Renew these, and this instance's own sign of life; the tables that are still held."""
        ...

    async def give_back(self, held: Sequence[TableLease]) -> None:
        """Let others have these at once."""
        ...

    async def leave(self) -> None:
        """This instance owns no tables any more."""
        ...

    async def standing(self, limit: int) -> Standing:
        """How the tables are spread."""
        ...

    async def owner_of(self, table: str) -> Owner:
        """Who owns a table."""
        ...


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a table, for who does not."""

    known: bool
    """Whether there is such a table at all."""
    address: str | None
    """host:port of the instance that owns it; None: nobody does."""


# ----------------------------------------------------------------------------------- the figures


class OwnerObserver(Protocol):
    """Hears how the owner does: metrics. Never raises."""

    def batch(self, works: int, events: int, took_s: float) -> None:
        """A batch was stored."""
        ...

    def refused(self, slug: str) -> None:
        """A work was refused."""
        ...

    def declined(self, reason: str) -> None:
        """A wager was declined."""
        ...

    def dropped(self, why: str) -> None:
        """The state in memory was dropped: a conflict, or an outcome that is not known."""
        ...

    def late(self, late_s: float) -> None:
        """A window was closed, so much after its time."""
        ...

    def taken_over(self, took_s: float) -> None:
        """A table was taken over, this long after it was asked for."""
        ...

    def waiting_for_floor(self, table: str, *, waits: bool) -> None:
        """A table's round waits for the floor, or does not any more."""
        ...
