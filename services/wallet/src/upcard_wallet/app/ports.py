"""What the use cases need of the ledger's tables, and who is told what happened.

Locks are always taken in this order: rounds, hold rows ascending by id, balances ascending by book, and at
the very end the shards of the log. Every method works on the caller's transaction and on whole batches.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.purse import AccountRef, BookKey
from upcard_wallet.domain.holds import HoldState


class PlayerBooks(NamedTuple):
    """The ids of an account's own books; free bets have books of their own."""

    cash: int
    held: int
    receivable: int


class Posting(NamedTuple):
    """One amount of one book, signed, in minor units."""

    book: int
    currency: str
    amount: int


@dataclass(frozen=True, slots=True)
class NewTransaction:
    """A ledger transaction to be stored, with all of its postings; they sum to zero in each currency."""

    transaction: UUID
    kind: str
    business_key: str
    postings: tuple[Posting, ...]
    event: UUID
    account: str | None = None
    round: str | None = None
    revision: int | None = None
    cause_event: UUID | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """A ledger transaction that is stored, with its postings by book."""

    transaction: UUID
    kind: str
    account: str | None
    amounts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold as it is recorded."""

    hold: UUID
    round: str
    player: str
    account: str
    bet_id: str
    box: int
    wager: str
    amount: int
    funding: str | None
    state: HoldState
    reason: str | None = None


class HoldChange(NamedTuple):
    """The state that a hold takes."""

    hold: UUID
    state: HoldState
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """One revision of one player's result of a round, as posted; `result` is the domain's, as JSON."""

    round: str
    player: str
    revision: int
    account: str
    staked: int
    returned: int
    cause_event: UUID
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EndedRound:
    """A round that is over."""

    round: str
    end_kind: Literal["settled", "cancelled"]
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class CurrencyTotal:
    """What the table says that a round comes to in one currency; amounts in minor units."""

    currency: str
    players: int
    staked: int
    returned: int


@dataclass(frozen=True, slots=True)
class RoundTotals:
    """What a round comes to in all: at its settlement (`number` 0), or after a correction (1, 2, …)."""

    round: str
    number: int
    totals: tuple[CurrencyTotal, ...]
    cause_event: UUID


@dataclass(frozen=True, slots=True)
class HoldsWanted:
    """Which holds to lock: these, all held ones of these (round, player), all open ones of these rounds."""

    holds: Collection[UUID] = ()
    players: Collection[tuple[str, str]] = ()
    rounds: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Placing:
    """What there is when holds are placed: locked balances, rounds that are over, holds placed before."""

    balances: dict[int, int]
    ended: set[str]
    known: dict[tuple[str, str, str], list[Hold]]
    """By command: (round, player, bet_id)."""


class BookSum(NamedTuple):
    """What a book has."""

    kind: str
    owner: str
    balance: int


class LineRow(NamedTuple):
    """One transaction of an account, with its change of each kind of its books."""

    position: int
    transaction: UUID
    recorded_at: dt.datetime
    kind: str
    round: str | None
    revision: int | None
    event: UUID
    cause_event: UUID | None
    amounts: Mapping[str, int]


class Ledger(Protocol):
    """The tables."""

    async def accounts(self, connection: Connection, ids: Collection[str]) -> dict[str, AccountRef]:
        """The existing ones among these accounts."""
        ...

    def remembered(self, player: str, currency: str) -> AccountRef | None:
        """An account that was looked up before, without the database."""
        ...

    async def accounts_of(
        self, connection: Connection, players: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], AccountRef]:
        """The accounts of these (player, currency), where there are such."""
        ...

    async def open_account(self, connection: Connection, account: AccountRef) -> bool:
        """Store an account with its books; False: the id, or the player's currency, is taken."""
        ...

    async def player_books(self, connection: Connection, accounts: Collection[str]) -> dict[str, PlayerBooks]:
        """The books of existing accounts."""
        ...

    async def books(
        self, connection: Connection, keys: Collection[BookKey], *, make: bool = True
    ) -> dict[BookKey, int]:
        """The ids of books that belong to no account, made where missing unless told not to."""
        ...

    async def free_bet_books(
        self, connection: Connection, free_bets: Collection[tuple[str, AccountRef]], *, make: bool
    ) -> dict[tuple[str, str], int]:
        """The books of free bets by (free bet, account), made where missing and wanted.

        Left out where there is none, or where the free bet is another account's.
        """
        ...

    async def free_bet_owners(
        self, connection: Connection, free_bets: Collection[str]
    ) -> dict[str, AccountRef]:
        """The accounts of free bets that have a book."""
        ...

    async def lock_balances(self, connection: Connection, books: Collection[int]) -> dict[int, int]:
        """Lock the balances of these books, ascending, and give them; books without a limit are left out."""
        ...

    async def lock_rounds(
        self, connection: Connection, *, shared: Collection[str] = (), exclusive: Collection[str] = ()
    ) -> None:
        """Take the rounds' advisory locks up to the end of the transaction, in one order for everybody."""
        ...

    async def begin_placing(
        self,
        connection: Connection,
        rounds: Collection[str],
        books: Collection[int],
        commands: Collection[tuple[str, str, str]],
    ) -> Placing:
        """`lock_rounds` (shared), `lock_balances`, `ended` and `holds_of`, in this order, as one call."""
        ...

    async def ended(self, connection: Connection, rounds: Collection[str]) -> set[str]:
        """Those of these rounds that are over. Ask after `lock_rounds`."""
        ...

    async def find_holds(self, connection: Connection, holds: Collection[UUID]) -> dict[UUID, Hold]:
        """The existing ones among these holds, without a lock."""
        ...

    async def holds_of(
        self, connection: Connection, commands: Collection[tuple[str, str, str]]
    ) -> dict[tuple[str, str, str], list[Hold]]:
        """The holds of these commands (round, player, bet_id), without a lock; missing: there are none."""
        ...

    async def lock_holds(self, connection: Connection, wanted: HoldsWanted, limit: int) -> dict[UUID, Hold]:
        """Lock holds, ascending; at most `limit` of those that are wanted by their round alone.

        With a `requested` one the others of its command that are: they are freed together.
        """
        ...

    async def add_holds(self, connection: Connection, holds: Sequence[Hold]) -> None:
        """Store new holds. Raises HoldExists when another transaction has stored one of them meanwhile."""
        ...

    async def change_holds(self, connection: Connection, changes: Sequence[HoldChange]) -> None:
        """Give holds their new states."""
        ...

    async def latest_settlements(
        self, connection: Connection, players: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Settlement]:
        """The latest revision of each of these (round, player)."""
        ...

    async def add_settlements(self, connection: Connection, settlements: Sequence[Settlement]) -> None:
        """Store revisions."""
        ...

    async def end_rounds(self, connection: Connection, rounds: Sequence[EndedRound]) -> None:
        """Note that rounds are over; those that are already, stay as they were."""
        ...

    async def note_totals(self, connection: Connection, totals: Sequence[RoundTotals]) -> None:
        """Note what rounds come to, to be compared later; the latest word of each counts."""
        ...

    async def note_unfreed(self, connection: Connection, rounds: Collection[str], *, left: bool) -> None:
        """Note that ended rounds may have holds left that are still to be freed, or that they have none."""
        ...

    async def unfreed_rounds(self, connection: Connection, limit: int) -> dict[str, EndedRound]:
        """At most so many of the rounds that were noted to have holds left."""
        ...

    async def posted(self, connection: Connection, business_keys: Collection[str]) -> dict[str, Posted]:
        """The stored ones among these transactions."""
        ...

    async def post(self, connection: Connection, transactions: Sequence[NewTransaction]) -> None:
        """Store transactions with their postings, in one statement each. Raises what the database raises."""
        ...

    async def sums(self, connection: Connection, account: str) -> list[BookSum]:
        """What each book of an account has, free bets included."""
        ...

    async def sums_until(self, connection: Connection, account: str, until: dt.datetime) -> dict[str, int]:
        """Sum by kind of book of an account's postings in transactions recorded before an instant."""
        ...

    async def lines(
        self,
        connection: Connection,
        account: str,
        since: dt.datetime,
        until: dt.datetime,
        after: int,
        limit: int,
    ) -> list[LineRow]:
        """Transactions of an account in a period, by their first posting, after a posting."""
        ...


class HoldExists(Exception):
    """A hold was stored by another transaction meanwhile. Roll back, and begin again: it is found then."""


class Watcher(Protocol):
    """Whoever counts what happens: metrics and alarms. Called before the commit; a rollback may follow."""

    def holds(self, outcome: str, number: int) -> None:
        """So many commands were `held`, or refused for this reason."""
        ...

    def settled(self, players: int, revision: int) -> None:
        """So many players were settled."""
        ...

    def suspense(self, currency: str, amount: int, about: str) -> None:
        """An alarm: so much was staked in this round by this player for which nothing was held."""
        ...

    def owed(self, currency: str, amount: int, about: str) -> None:
        """A correction found too little: the player owes so much more."""
        ...


class Unwatched:
    """A watcher who counts nothing."""

    def holds(self, outcome: str, number: int) -> None:
        """See `Watcher`."""

    def settled(self, players: int, revision: int) -> None:
        """See `Watcher`."""

    def suspense(self, currency: str, amount: int, about: str) -> None:
        """See `Watcher`."""

    def owed(self, currency: str, amount: int, about: str) -> None:
        """See `Watcher`."""
