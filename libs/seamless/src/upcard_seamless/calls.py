"""What a partner's wallet is asked, whatever dialect it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID, uuid5

CallKind = Literal["balance", "bet", "win", "rollback"]


@dataclass(frozen=True, slots=True)
class Transaction:
    """One movement at the partner; its id is the same in every try, and names it in a rollback."""

    id: UUID
    amount: int
    """Minor units; 0 only in a win that pays nothing but tells that the round is over."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: all of its transactions happen, or none does.

    A `balance` asks what the player has and moves nothing. A `bet` takes money, a `win` gives it, a
    `rollback` undoes the named transactions, which were bets or wins of the same player. A partner that does
    not know a transaction that is rolled back has to remember that, and to refuse it should it arrive later.
    """

    call: UUID
    """Its business id: what it is for, the same in every try."""
    kind: CallKind
    operator: str
    account: str
    player: str
    currency: str
    round: str | None
    transactions: tuple[Transaction, ...]
    """None in a `balance`; one or more in the others."""
    closes_round: bool = False
    """Of a win: no further bet will come. Corrections may."""

    @property
    def total(self) -> int:
        """All its transactions, in minor units."""
        return sum(one.amount for one in self.transactions)


def movement_of(kind: CallKind, call: UUID, transaction: UUID) -> UUID:
    """The id of the movement that a call makes of a transaction, for partners who want one for rollbacks too.

    A bet's or win's movement is the transaction itself; a rollback's is another, which follows from both ids.
    """
    return uuid5(call, str(transaction)) if kind == "rollback" else transaction
