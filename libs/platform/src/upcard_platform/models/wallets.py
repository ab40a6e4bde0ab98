"""Transfer wallets: money that a platform moves into and out of a player's account."""

from __future__ import annotations

from pydantic import Field

from upcard_platform.models.fields import (
    Amount,
    AnswerModel,
    Currency,
    MinorUnits,
    OpaqueId,
    PlayerId,
    RequestId,
    RequestModel,
)

__all__ = ["Balance", "Balances", "Deposit", "Moved", "Withdrawal"]


class Deposit(RequestModel):
    """Money that comes in."""

    request_id: RequestId
    currency: Currency
    amount: Amount
    reference: OpaqueId | None = Field(default=None, description="the platform's own id of the payment")


class Withdrawal(RequestModel):
    """Money that goes out."""

    request_id: RequestId
    currency: Currency
    amount: Amount
    reference: OpaqueId | None = Field(default=None, description="the platform's own id of the payment")


class Balance(AnswerModel):
    """What a player has in one currency."""

    currency: Currency
    account: OpaqueId
    cash: MinorUnits = Field(description="to be spent or withdrawn")
    held: MinorUnits = Field(description="held for wagers that are not settled")
    promo: MinorUnits = Field(description="of all free bets together")
    owed: MinorUnits = Field(
        description="what the player owes, 0 or more: while they do, nothing is paid out"
    )


class Balances(AnswerModel):
    """What a player has, by currency."""

    player: PlayerId
    items: list[Balance]


class Moved(AnswerModel):
    """Money was moved, once, however often it was asked for."""

    transaction: str = Field(description="our id of it, a UUID: statements and reports name it")
    player: PlayerId
    currency: Currency
    amount: Amount
    reference: OpaqueId | None
    balance: Balance = Field(description="after it")
