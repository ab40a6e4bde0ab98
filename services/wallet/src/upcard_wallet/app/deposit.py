"""Deposits: money that comes in through the cashier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eventstore.postgres import Connection
from upcard_wallet.app.moving import Move, Moved, key_is_right, move
from upcard_wallet.app.purse import AccountRef
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import Deposited
from upcard_wallet.domain.ids import is_amount, is_opaque_id

__all__ = ["Deposit", "Moved", "deposit", "payable"]


@dataclass(frozen=True, slots=True)
class Deposit:
    """Put money into an account."""

    account: str
    amount: int
    """Minor units, above zero."""
    business_key: str
    """What makes it this deposit and no other, 1 to 300 characters: caller and request id."""
    currency: str | None = None
    """When named, it is compared with the account's."""
    reference: str | None = None
    """The caller's own id of the payment, opaque."""


async def deposit(
    wallet: Wallet, connection: Connection, command: Deposit, origin: Origin
) -> Done[Moved | Refused]:
    """Cashier → cash; `Deposited`. The same business key again has no second effect.

    Refused: `account_unknown`, `amount_invalid`, `currency_differs`, `purse_is_seamless` (the money lies
    with the partner), `business_key_reused` (for another account or amount), `business_key_invalid`,
    `reference_invalid`.
    """
    account = await payable(wallet, connection, command)
    if isinstance(account, Refused):
        return Done(account)
    wanted = Move("deposit", account, command.amount, command.business_key, "cashier")
    return await move(
        wallet, connection, wanted, lambda id_: Deposited(id_, command.amount, command.reference), origin
    )


class Payment(Protocol):
    """What a deposit and a withdrawal have in common."""

    @property
    def account(self) -> str:
        """The account's id."""
        ...

    @property
    def amount(self) -> int:
        """Minor units."""
        ...

    @property
    def business_key(self) -> str:
        """What makes it this payment and no other."""
        ...

    @property
    def currency(self) -> str | None:
        """The currency that the caller means."""
        ...

    @property
    def reference(self) -> str | None:
        """The caller's own id of the payment."""
        ...


async def payable(wallet: Wallet, connection: Connection, command: Payment) -> AccountRef | Refused:
    """The account that a payment is for, if it can be for it at all."""
    account = (await wallet.ledger.accounts(connection, [command.account])).get(command.account)
    if account is None:
        return Refused("account_unknown")
    if not is_amount(command.amount):
        return Refused("amount_invalid")
    if command.currency not in (None, account.currency):
        return Refused("currency_differs")
    if account.purse == "seamless":
        return Refused("purse_is_seamless")
    if not key_is_right(command.business_key):
        return Refused("business_key_invalid")
    if command.reference is not None and not is_opaque_id(command.reference):
        return Refused("reference_invalid")
    return account
