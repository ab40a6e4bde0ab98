"""What a partner's wallet is asked, and what its answers mean, whatever dialect it speaks."""

from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

CallKind = Literal["bet", "win", "rollback"]


@dataclass(frozen=True, slots=True)
class Transaction:
    """One movement at the partner; its id is the same in every try, and names it in a rollback."""

    id: UUID
    amount: int
    """Minor units; 0 only in a win that pays nothing but tells that the round is over."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: all of its transactions happen, or none does.

    A `bet` takes money, a `win` gives it, a `rollback` undoes the named ones, which were bets or wins of the
    same player. A partner that does not know a transaction that is rolled back has to remember that, and to
    refuse it should it arrive later.
    """

    call: UUID
    kind: CallKind
    operator: str
    account: str
    player: str
    currency: str
    round: str | None
    transactions: tuple[Transaction, ...]
    closes_round: bool = False
    """Of a win: no further bet will come. Corrections may."""

    @property
    def total(self) -> int:
        """All its transactions, in minor units."""
        return sum(one.amount for one in self.transactions)


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is done, now or by an earlier try, for exactly the amounts that were sent."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It is certain that nothing was done, and trying again will not help."""

    why: Literal["funds", "player", "not_found", "other"]
    """`not_found`: of a rollback: the partner has no such transaction, and will not take it any more."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NotSent:
    """It is certain that the partner never got it."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """It may be done or not."""

    detail: str = ""
    contradicts: bool = False
    """The answer was well-formed but is about something else than was asked: another id, amount, currency."""


Verdict = Accepted | Refused | NotSent | Unclear


class Partner(Protocol):
    """One operator's wallet. Raises nothing for what a partner may do; whatever it does is a verdict."""

    async def ask(self, call: Call, *, timeout_s: float) -> Verdict:
        """Make the call, at most once, and say what came of it within `timeout_s`.

        When it is cancelled the call counts as `Unclear`.
        """
        ...
