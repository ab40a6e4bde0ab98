"""What an account has."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.postgres import Connection
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Refused, Wallet


@dataclass(frozen=True, slots=True)
class Balance:
    """A player's books, in minor units of the account's currency."""

    account: AccountRef
    cash: int
    """To be spent or withdrawn. Of a seamless account always 0: the partner has it."""
    held: int
    promo: int
    """Of all free bets together."""
    owed: int
    """What the player owes us, 0 or more."""


async def balance(wallet: Wallet, connection: Connection, account: str) -> Balance | Refused:
    """The balance as of this statement. Refused: `account_unknown`."""
    found = await wallet.ledger.accounts(connection, [account])
    if account not in found:
        return Refused("account_unknown")
    return await balance_of(wallet, connection, found[account])


async def balance_of(wallet: Wallet, connection: Connection, account: AccountRef) -> Balance:
    """The balance of an account that exists."""
    sums: dict[str, int] = {}
    for kind, _, amount in await wallet.ledger.sums(connection, account.account):
        sums[kind] = sums.get(kind, 0) + amount
    return Balance(
        account,
        sums["player_cash"],
        sums["player_held"],
        sums.get("player_promo", 0),
        -sums["player_receivable"],
    )


async def find_account(
    wallet: Wallet, connection: Connection, player: str, currency: str
) -> AccountRef | None:
    """A player's account in a currency."""
    found = await wallet.ledger.accounts_of(connection, [(player, currency)])
    return found.get((player, currency))
