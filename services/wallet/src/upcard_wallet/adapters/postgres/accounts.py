"""Accounts and books. They never change once stored, so what was read is remembered, up to a bound."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeVar, cast

import asyncpg

from eventstore.postgres import Connection
from upcard_wallet.app.ports import PlayerBooks
from upcard_wallet.app.purse import AccountRef, BookKey, PurseKind

_MOST_REMEMBERED: Final = 100_000

_BY_ID: Final = """
SELECT account, player, operator, currency, purse
  FROM wallet.accounts WHERE account = ANY ($1::text[])
"""

_BY_PLAYER: Final = """
SELECT a.account, a.player, a.operator, a.currency, a.purse
  FROM unnest($1::text[], $2::text[]) AS u (player, currency)
  JOIN wallet.accounts AS a USING (player, currency)
"""

_OPEN: Final = """
INSERT INTO wallet.accounts (account, player, operator, currency, purse) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
"""

_OPEN_BOOKS: Final = """
INSERT INTO wallet.books (kind, owner, currency, account)
SELECT kind, $1, $2, $1 FROM unnest(ARRAY['player_cash', 'player_held', 'player_receivable']) AS k (kind)
"""

_PLAYER_BOOKS: Final = """
SELECT owner, kind, book FROM wallet.books
 WHERE owner = ANY ($1::text[]) AND kind IN ('player_cash', 'player_held', 'player_receivable')
"""

_BOOKS: Final = """
SELECT b.kind, b.owner, b.currency, b.book
  FROM unnest($1::text[], $2::text[], $3::text[]) AS u (kind, owner, currency)
  JOIN wallet.books AS b USING (owner, kind, currency)
"""

# In one order, so that two who make the same ones wait for each other and never in a circle.
_MAKE_BOOKS: Final = """
INSERT INTO wallet.books (kind, owner, currency, account)
SELECT kind, owner, currency, account
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS u (kind, owner, currency, account)
 ORDER BY owner COLLATE "C", kind COLLATE "C", currency COLLATE "C"
ON CONFLICT DO NOTHING
"""

_FREE_BETS: Final = """
SELECT owner, account, book FROM wallet.books WHERE owner = ANY ($1::text[]) AND kind = 'player_promo'
"""

OPERATORS_KINDS: Final = ("house", "cashier", "operator", "tips", "suspense")
"""Books that every operator has in each currency of its players."""

K = TypeVar("K")
V = TypeVar("V")


class AccountTables:
    """The tables `accounts` and `books`: a part of the ledger."""

    def __init__(self) -> None:
        self._accounts: dict[str, AccountRef] = {}
        self._players: dict[tuple[str, str], AccountRef] = {}
        self._player_books: dict[str, PlayerBooks] = {}
        self._books: dict[BookKey, int] = {}
        self._free_bets: dict[str, tuple[str, int]] = {}

    async def accounts(self, connection: Connection, ids: Collection[str]) -> dict[str, AccountRef]:
        """See `app.ports.Ledger`."""
        missing = [one for one in ids if one not in self._accounts]
        if missing:
            for row in await connection.fetch(_BY_ID, missing):
                self._remember_account(row)
        return {one: self._accounts[one] for one in ids if one in self._accounts}

    def remembered(self, player: str, currency: str) -> AccountRef | None:
        """See `app.ports.Ledger`."""
        return self._players.get((player, currency))

    async def accounts_of(
        self, connection: Connection, players: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], AccountRef]:
        """See `app.ports.Ledger`."""
        missing = [one for one in players if one not in self._players]
        if missing:
            names, currencies = zip(*missing, strict=True)
            for row in await connection.fetch(_BY_PLAYER, names, currencies):
                self._remember_account(row)
        return {one: self._players[one] for one in players if one in self._players}

    async def open_account(self, connection: Connection, account: AccountRef) -> bool:
        """See `app.ports.Ledger`."""
        status = await connection.execute(
            _OPEN, account.account, account.player, account.operator, account.currency, account.purse
        )
        if status != "INSERT 0 1":
            return False
        await connection.execute(_OPEN_BOOKS, account.account, account.currency)
        keys = [BookKey(kind, account.operator, account.currency) for kind in OPERATORS_KINDS]
        await self.books(connection, keys)
        return True

    async def player_books(self, connection: Connection, accounts: Collection[str]) -> dict[str, PlayerBooks]:
        """See `app.ports.Ledger`."""
        missing = [one for one in accounts if one not in self._player_books]
        if missing:
            found: dict[str, dict[str, int]] = {}
            for owner, kind, book in await connection.fetch(_PLAYER_BOOKS, missing):
                found.setdefault(owner, {})[kind] = book
            for owner, books in found.items():
                _remember(
                    self._player_books,
                    owner,
                    PlayerBooks(books["player_cash"], books["player_held"], books["player_receivable"]),
                )
        return {one: self._player_books[one] for one in accounts}

    async def books(
        self, connection: Connection, keys: Collection[BookKey], *, make: bool = True
    ) -> dict[BookKey, int]:
        """See `app.ports.Ledger`."""
        missing = [key for key in keys if key not in self._books]
        made: dict[BookKey, int] = {}
        if missing:
            for key, book in await _find_books(connection, missing):
                _remember(self._books, key, book)
            missing = [key for key in missing if key not in self._books]
        if missing and make:
            kinds, owners, currencies = zip(*missing, strict=True)
            await connection.execute(_MAKE_BOOKS, kinds, owners, currencies, [None] * len(missing))
            # Not remembered: the transaction that made them may still be rolled back.
            made = dict(await _find_books(connection, missing))
        return {key: self._books.get(key) or made[key] for key in keys if key in self._books or key in made}

    async def free_bet_books(
        self, connection: Connection, free_bets: Collection[tuple[str, AccountRef]], *, make: bool
    ) -> dict[tuple[str, str], int]:
        """See `app.ports.Ledger`."""
        missing = {name for name, _ in free_bets if name not in self._free_bets}
        if missing:
            for owner, account, book in await connection.fetch(_FREE_BETS, missing):
                _remember(self._free_bets, owner, (account, book))
        found = {name: self._free_bets[name] for name, _ in free_bets if name in self._free_bets}
        refs = [(name, ref) for name, ref in free_bets if name not in found]
        if refs and make:
            await connection.execute(
                _MAKE_BOOKS,
                ["player_promo"] * len(refs),
                [name for name, _ in refs],
                [ref.currency for _, ref in refs],
                [ref.account for _, ref in refs],
            )
            # Not remembered: the transaction that made them may still be rolled back.
            for owner, account, book in await connection.fetch(_FREE_BETS, [name for name, _ in refs]):
                found[owner] = (account, book)
        return {
            (name, ref.account): found[name][1]
            for name, ref in free_bets
            if name in found and found[name][0] == ref.account
        }

    async def free_bet_owners(
        self, connection: Connection, free_bets: Collection[str]
    ) -> dict[str, AccountRef]:
        """See `app.ports.Ledger`."""
        if not free_bets:
            return {}
        rows = await connection.fetch(_FREE_BETS, list(free_bets))
        refs = await self.accounts(connection, {row["account"] for row in rows})
        return {row["owner"]: refs[row["account"]] for row in rows}

    def _remember_account(self, row: asyncpg.Record) -> None:
        account = AccountRef(
            row["account"], row["player"], row["operator"], row["currency"], cast("PurseKind", row["purse"])
        )
        _remember(self._accounts, account.account, account)
        _remember(self._players, (account.player, account.currency), account)


async def _find_books(connection: Connection, keys: Collection[BookKey]) -> list[tuple[BookKey, int]]:
    kinds, owners, currencies = zip(*keys, strict=True)
    rows = await connection.fetch(_BOOKS, kinds, owners, currencies)
    return [(BookKey(kind, owner, currency), book) for kind, owner, currency, book in rows]


def _remember(known: dict[K, V], key: K, value: V) -> None:
    if len(known) >= _MOST_REMEMBERED:
        del known[next(iter(known))]  # the oldest
    known[key] = value
