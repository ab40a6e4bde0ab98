"""Moving a player's money in a transfer wallet: what is asked of the wallet, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from upcard_gateway.domain.sessions import WalletKind

__all__ = ["Balance", "Cashier", "Moved", "NotMoved", "Payment", "Refusal"]

Refusal = Literal["funds_refused", "debt_open"]
"""What a right request can be refused for; nothing was moved."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account has, in minor units."""

    cash: int
    held: int
    promo: int
    owed: int


@dataclass(frozen=True, slots=True)
class Payment:
    """One amount into or out of an account."""

    request_id: str
    """What makes it this payment: the same again moves nothing more, and gets the same answer."""
    account: str
    currency: str
    amount: int
    """Minor units, above zero."""
    reference: str | None = None
    """The operator's own id of it, opaque."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The money was moved, now or by the same payment before."""

    transaction: str
    balance: Balance


@dataclass(frozen=True, slots=True)
class NotMoved:
    """Nothing was moved, and the same payment will never be."""

    reason: Refusal


class RequestIdReused(Exception):
    """A payment's `request_id` came before for another payment; nothing was done."""


class Cashier(Protocol):
    """The wallet as operators' calls need it. What it raises beside is its transport's failure."""

    async def open_account(
        self, account: str, player: str, operator: str, currency: str, wallet: WalletKind
    ) -> None:
        """Open it; nothing happens where it is open with the same values."""
        ...

    async def deposit(self, payment: Payment) -> Moved | NotMoved:
        """Put money in, once. Raises RequestIdReused."""
        ...

    async def withdraw(self, payment: Payment) -> Moved | NotMoved:
        """Take money out, once. Raises RequestIdReused."""
        ...

    async def balance(self, account: str) -> Balance:
        """What an account has."""
        ...
