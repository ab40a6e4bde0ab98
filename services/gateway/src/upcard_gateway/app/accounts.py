"""A player and their account in a currency, there before anything is done with them."""

from __future__ import annotations

from eventstore.postgres import Pool
from upcard_gateway.app.money import Cashier
from upcard_gateway.app.people import Account, Person, PersonTables, PlayerAccount
from upcard_gateway.app.sessions import new_id
from upcard_gateway.domain.sessions import WalletKind

__all__ = ["Accounts"]


class Accounts:
    """Makes players and accounts, each once however often and wherever it is asked for.

    Our row is first, with the account's id; then the wallet opens it; then the row says so. A process that
    dies in between leaves an id that the next one takes up.
    """

    def __init__(self, pool: Pool, tables: PersonTables, cashier: Cashier) -> None:
        self._pool = pool
        self._tables = tables
        self._cashier = cashier

    async def linked(self, person: Person, currency: str, wallet: WalletKind) -> PlayerAccount:
        """The player whom an operator tells of, with an open account."""
        async with self._pool.acquire() as connection, connection.transaction():
            player = await self._tables.link(connection, new_id(), person)
            account = await self._tables.ensure_account(
                connection, new_id(), player, person.operator, currency
            )
        return await self._open(account, player, person.operator, currency, wallet)

    async def account(self, player: str, operator: str, currency: str, wallet: WalletKind) -> PlayerAccount:
        """A known player's account, opened if it is not."""
        async with self._pool.acquire() as connection:
            account = await self._tables.ensure_account(connection, new_id(), player, operator, currency)
        return await self._open(account, player, operator, currency, wallet)

    async def _open(
        self, account: Account, player: str, operator: str, currency: str, wallet: WalletKind
    ) -> PlayerAccount:
        found = PlayerAccount(account.account, player, operator, currency)
        if account.is_open:
            return found
        await self._cashier.open_account(account.account, player, operator, currency, wallet)
        async with self._pool.acquire() as connection:
            await self._tables.account_opened(connection, account.account)
        return found
