"""Withdrawals: money that goes out through the cashier."""

from __future__ import annotations

from dataclasses import dataclass

from eventstore.postgres import Connection
from upcard_wallet.app.deposit import payable
from upcard_wallet.app.moving import Move, Moved, move
from upcard_wallet.app.wallet import Done, Origin, Refused, Wallet
from upcard_wallet.domain.events import Withdrawn


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take money out of an account; fields as in `Deposit`."""

    account: str
    amount: int
    business_key: str
    currency: str | None = None
    reference: str | None = None


async def withdraw(
    wallet: Wallet, connection: Connection, command: Withdraw, origin: Origin
) -> Done[Moved | Refused]:
    """Cash → cashier; `Withdrawn`. Only cash: neither held money nor free bets.

    Refused: as `deposit`, and `funds_refused`; `debt_open` while the player owes us something.
    """
    account = await payable(wallet, connection, command)
    if isinstance(account, Refused):
        return Done(account)
    wanted = Move("withdrawal", account, -command.amount, command.business_key, "cashier", without_debt=True)
    return await move(
        wallet, connection, wanted, lambda id_: Withdrawn(id_, command.amount, command.reference), origin
    )
