"""What a table can be asked, and what it answers: one call, its works in their order, a result for each.

Whoever brings a call (the edge) makes it of these values alone; whoever owns the table answers it. A business
refusal is a `Refused`, never an exception; what is raised says that nothing is known or nothing was done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from eventstore import DeadlineExceeded, EventStoreError, OutcomeUnknown, Overloaded
from eventstore.answers import AnswerKey, RequestIdReused
from rules_core.round.commands import Command
from rules_core.round.events import BetDeclined, RoundEvent
from rules_core.round.refusal import Refusal
from upcard_table.domain.commands import TableCommand
from upcard_table.domain.events import TableEvent

__all__ = [
    "MAX_WORKS",
    "AnswerKey",
    "AnswerSlot",
    "By",
    "DeadlineExceeded",
    "Declined",
    "Done",
    "NotOwner",
    "OpenRoundWork",
    "OutcomeUnknown",
    "Overloaded",
    "Recorded",
    "Refused",
    "RequestIdReused",
    "Result",
    "RoundWork",
    "TableCall",
    "TableWork",
    "Tables",
    "Work",
]

MAX_WORKS = 2_000
"""Most works of one call."""


@dataclass(frozen=True, slots=True)
class By:
    """Who asks, and what the events are to be traced to."""

    actor: str
    """`player:<id>`, `dealer:<id>`, `staff:<id>`, `platform` or `system`: from the signed context."""
    correlation_id: str
    causation_id: str | None = None


@dataclass(frozen=True, slots=True)
class RoundWork:
    """One command for the table's running round.

    The owner stamps `arrived_at` and `at`, asks for the money (`funds`) and fills `previous` of RepeatBets:
    leave the first two empty and the others as they are by default. Its repr never shows a card.
    """

    command: Command = field(repr=False)
    by: By
    number: int | None = None
    """The round meant. None: the one that runs. One that is over is refused (`round_over`), but for Resettle,
    DeclineBet and CancelRound, for which it is loaded. A number that was never opened: `round_unknown`."""
    by_hand: bool = False
    """Whether the dealer does by hand what the shoe reader does else: in manual mode, for who deals here."""


@dataclass(frozen=True, slots=True)
class TableWork:
    """One command for the table itself: its limits, dealer, decks, modes."""

    command: TableCommand
    by: By


@dataclass(frozen=True, slots=True)
class OpenRoundWork:
    """Open the table's next round; the owner fills number, limits, durations, deck, ruleset and engine."""

    by: By


Work = RoundWork | TableWork | OpenRoundWork


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that is durable, and where it stands."""

    stream: str
    position: int
    event: RoundEvent | TableEvent


@dataclass(frozen=True, slots=True)
class Done:
    """It was done; or had been done before, by the same bet id, scan id or choice."""

    events: tuple[Recorded, ...]
    round: int | None
    """Number of the round concerned; None for what concerns the table alone."""


@dataclass(frozen=True, slots=True)
class Declined:
    """It was refused after its money had been asked for, or since it came late: recorded in the round."""

    event: BetDeclined
    position: int
    round: int


@dataclass(frozen=True, slots=True)
class Refused:
    """It was refused, and nothing was recorded."""

    refusal: Refusal
    round: int | None = None


Result = Done | Declined | Refused


@dataclass(frozen=True, slots=True)
class AnswerSlot:
    """Where a call's answer is kept: in the transaction of its last effect, refusals too."""

    key: AnswerKey
    body_digest: bytes
    """SHA-256 of the request's bytes; keyed where these could be guessed (scans)."""
    encode: Callable[[Sequence[Result]], bytes] = field(repr=False)
    """The bytes to be kept. Never with a face-down card or its salt: results do not hold them."""


@dataclass(frozen=True, slots=True)
class TableCall:
    """What one gRPC call asks of one table."""

    table: str
    works: tuple[Work, ...]
    """Decided in their order, a player's one after the other.

    In a call that comes again after a crash each is known: by its bet id or scan id for ever, else by the
    call's key and its place in it."""
    answer: AnswerSlot | None
    deadline_s: float
    """On the event loop's clock. What was decided by then stays decided: the answer is there for a retry."""


class NotOwner(EventStoreError):
    """This instance does not own the table (any more). Nothing was done here; ask `owner_address`."""

    slug: ClassVar[str] = "not_owner"

    def __init__(self, table: str, owner_address: str | None) -> None:
        self.table = table
        self.owner_address = owner_address
        where = "its owner is being found" if owner_address is None else f"its owner is at {owner_address}"
        super().__init__(f"table {table} is not owned here; {where}")


class Tables(Protocol):
    """The tables that this instance owns."""

    async def handle(self, call: TableCall) -> Sequence[Result] | bytes:
        """Do what a call asks, and answer when it is durable: a result for each work, in their order.

        Bytes: the stored answer of the same call before. Raises NotOwner, Overloaded, RequestIdReused,
        DeadlineExceeded (before anything of it was decided), OutcomeUnknown (it may have been done: the same
        call again tells), ValueError (a call that no edge may make).
        """
        ...
