"""What a use case is going to store: collected first, then stored at once by a handful of statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from eventstore import Expect, NewEvent, StreamAppend
from eventstore.postgres import Connection
from upcard_wallet.app.ports import (
    EndedRound,
    Hold,
    HoldChange,
    NewTransaction,
    PlayerBooks,
    Posting,
    RoundTotals,
    Settlement,
)
from upcard_wallet.app.purse import AccountRef, BookKey, Credit, FreedHold, PurseKind, SettledPlayer
from upcard_wallet.app.wallet import Origin, Wallet
from upcard_wallet.domain.events import WalletEvent
from upcard_wallet.domain.ids import account_stream, transaction_id


class Unbalanced(Exception):
    """A transaction was drafted whose postings do not sum to zero, or that no balance bears: a defect."""


class Draft:
    """Rows, events and notes to purses of one transaction, and the balances as they will be."""

    def __init__(self, wallet: Wallet) -> None:
        self.wallet = wallet
        self.balances: dict[int, int] = {}
        """Of the books that were locked; moved along with what is posted."""
        self._transactions: list[NewTransaction] = []
        self._events: dict[str, list[NewEvent]] = {}
        self._new_holds: list[Hold] = []
        self._changes: dict[UUID, HoldChange] = {}
        self._settlements: list[Settlement] = []
        self._rounds: list[EndedRound] = []
        self._totals: list[RoundTotals] = []
        self._freed: dict[PurseKind, list[FreedHold]] = {}
        self._settled: dict[PurseKind, list[SettledPlayer]] = {}
        self._credits: dict[PurseKind, list[Credit]] = {}

    async def lock(self, connection: Connection, books: Iterable[int]) -> None:
        """Lock these balances, all that this transaction will need, once."""
        if self.balances:
            raise RuntimeError("balances are locked once in a transaction, in one order")
        self.balances = await self.wallet.ledger.lock_balances(connection, set(books))

    def post(  # noqa: PLR0913 - the columns of a transaction
        self,
        kind: str,
        business_key: str,
        postings: Sequence[Posting],
        *,
        event: UUID,
        account: str | None = None,
        round_name: str | None = None,
        revision: int | None = None,
        cause_event: UUID | None = None,
    ) -> UUID:
        """Draft a transaction; the balances move. Postings of nothing are left out."""
        left = tuple(one for one in postings if one.amount)
        sums: dict[str, int] = {}
        for one in left:
            sums[one.currency] = sums.get(one.currency, 0) + one.amount
        if any(sums.values()):
            raise Unbalanced(f"{business_key}: {sums}")
        for one in left:
            if one.book in self.balances:
                self.balances[one.book] += one.amount
        transaction = transaction_id(business_key)
        self._transactions.append(
            NewTransaction(
                transaction, kind, business_key, left, event, account, round_name, revision, cause_event
            )
        )
        return transaction

    def tell(self, account: str, event: WalletEvent, origin: Origin, event_id: UUID | None = None) -> None:
        """Draft an event of an account's stream."""
        self.tell_stream(account_stream(account), event, origin, event_id)

    def tell_stream(
        self, stream: str, event: WalletEvent, origin: Origin, event_id: UUID | None = None
    ) -> None:
        """Draft an event of a stream."""
        made = self.wallet.recorder.event(
            stream,
            event,
            actor=origin.actor,
            correlation_id=origin.correlation_id,
            causation_id=origin.causation_id,
            event_id=event_id,
        )
        self._events.setdefault(stream, []).append(made)

    def add_hold(self, hold: Hold) -> None:
        """Draft a new hold."""
        self._new_holds.append(hold)

    def change_hold(self, change: HoldChange) -> None:
        """Draft a hold's new state."""
        self._changes[change.hold] = change

    def settle(self, settlement: Settlement, note: SettledPlayer) -> None:
        """Draft a revision, and what its purse is told."""
        self._settlements.append(settlement)
        self._settled.setdefault(note.account.purse, []).append(note)

    def close(self, note: SettledPlayer) -> None:
        """Draft what a purse is told of money that was held and is spent, beside a round."""
        self._settled.setdefault(note.account.purse, []).append(note)

    def end(self, ended: EndedRound) -> None:
        """Draft the end of a round."""
        self._rounds.append(ended)

    def total(self, totals: RoundTotals) -> None:
        """Draft what a round comes to."""
        self._totals.append(totals)

    def free(self, freed: FreedHold) -> None:
        """Draft what a purse is told of a freed hold."""
        self._freed.setdefault(freed.account.purse, []).append(freed)

    def credit(self, credit: Credit) -> None:
        """Draft what a purse is told of money beside a settlement."""
        self._credits.setdefault(credit.account.purse, []).append(credit)

    async def store(self, connection: Connection) -> tuple[StreamAppend, ...]:
        """Store it all but the events, which are given back for the transaction's last act."""
        ledger, purses = self.wallet.ledger, self.wallet.purses
        await ledger.end_rounds(connection, self._rounds)
        await ledger.add_holds(connection, self._new_holds)
        await ledger.change_holds(connection, list(self._changes.values()))
        await ledger.post(connection, self._transactions)
        await ledger.add_settlements(connection, self._settlements)
        await ledger.note_totals(connection, self._totals)
        for kind, freed in self._freed.items():
            await purses[kind].release(connection, freed)
        for kind, settled in self._settled.items():
            await purses[kind].settle(connection, settled)
        for kind, credits_ in self._credits.items():
            await purses[kind].credit(connection, credits_)
        return tuple(
            StreamAppend(stream, Expect.ANY, tuple(events)) for stream, events in self._events.items()
        )


class Books:
    """The ids of the books that a transaction may need: found before any balance is locked."""

    def __init__(self, wallet: Wallet) -> None:
        self._wallet = wallet
        self._players: dict[str, PlayerBooks] = {}
        self._free_bets: dict[tuple[str, str], int] = {}
        self._others: dict[BookKey, int] = {}

    async def find(
        self,
        connection: Connection,
        accounts: Iterable[AccountRef],
        *,
        kinds: Sequence[str] = ("house", "operator"),
        free_bets: Collection[tuple[str, AccountRef]] = (),
        more: Iterable[BookKey] = (),
    ) -> None:
        """Look up the books of accounts, and those `kinds` of their operators."""
        refs = {ref.account: ref for ref in accounts}
        ledger = self._wallet.ledger
        self._players |= await ledger.player_books(connection, refs)
        keys = {BookKey(kind, ref.operator, ref.currency) for ref in refs.values() for kind in kinds}
        self._others |= await ledger.books(connection, keys | set(more))
        if free_bets:
            self._free_bets |= await ledger.free_bet_books(connection, free_bets, make=False)

    def of(self, account: AccountRef) -> PlayerBooks:
        """An account's own books."""
        return self._players[account.account]

    def cash(self, account: AccountRef) -> int:
        """The book that stands for the player's cash."""
        if self.limited(account):
            return self._players[account.account].cash
        return self._others[self._wallet.purses[account.purse].cash_book(account)]

    def limited(self, account: AccountRef) -> bool:
        """Whether that book must not go below zero."""
        return self._wallet.purses[account.purse].limited

    def free_bet(self, name: str, account: AccountRef) -> int | None:
        """A free bet's book; None: there is no such free bet, or it is another account's."""
        return self._free_bets.get((name, account.account))

    def operators(self, kind: str, account: AccountRef) -> int:
        """A book of the account's operator."""
        return self._others[BookKey(kind, account.operator, account.currency)]

    def other(self, key: BookKey) -> int:
        """Any other book that was looked up."""
        return self._others[key]

    def to_lock(self, account: AccountRef) -> tuple[int, ...]:
        """The balances of an account that settling may need."""
        return tuple(self._players[account.account])


def merged(parts: Iterable[Sequence[StreamAppend]]) -> tuple[StreamAppend, ...]:
    """Appends of several use cases as one: each stream once, its events in order."""
    events: dict[str, list[NewEvent]] = {}
    for part in parts:
        for append in part:
            events.setdefault(append.stream, []).extend(append.events)
    return tuple(StreamAppend(stream, Expect.ANY, tuple(those)) for stream, those in events.items())
