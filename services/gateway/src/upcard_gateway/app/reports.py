"""Whether a day's figures agree: lines, totals of postings, balances, calls to the operator's wallet."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

WalletKind = Literal["transfer", "seamless"]
CallKind = Literal["bet", "win", "rollback_of_bet", "rollback_of_win"]
CallState = Literal["waiting", "done", "refused", "unknown", "parked"]

FINAL_AFTER: Final = dt.timedelta(seconds=30)
"""So long after its end nothing is added to a period any more: no transaction of the wallet lasts longer."""
LONGEST: Final = dt.timedelta(days=32)
"""The longest period of a report."""
CALLS_KEPT: Final = dt.timedelta(days=90)
"""For so long at least the wallet keeps calls to partners."""

_SIGN: Final[Mapping[CallKind, int]] = {"bet": -1, "win": 1, "rollback_of_bet": 1, "rollback_of_win": -1}
_MOST_DIFFERENCES: Final = 100
_is_tip: Final = re.compile(r"tip-[0-9a-f]{32}\.1").fullmatch
"""A tip is asked of the partner as a bet, and given in our books alone: only both together are its call."""


class Changes(NamedTuple):
    """Signed changes in minor units."""

    cash: int
    held: int
    promo: int
    owed: int


class _Key(NamedTuple):
    currency: str
    wallet: WalletKind
    kind: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call to the operator's wallet."""

    call: str
    kind: CallKind
    state: CallState
    amount: int
    transactions: tuple[str, ...]
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Line:
    """A transaction of the ledger about a player."""

    transaction: str
    at: dt.datetime
    kind: str
    player: str
    """Our id; likewise the account's."""
    account: str
    currency: str
    wallet: WalletKind
    changes: Changes
    round: str | None
    revision: int | None
    event: str
    cause_event: str | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class KindTotal:
    """All transactions of one kind."""

    currency: str
    wallet: WalletKind
    kind: str
    transactions: int
    changes: Changes


@dataclass(frozen=True, slots=True)
class PlayersHave:
    """What all players have in one currency, at the beginning and at the end."""

    currency: str
    wallet: WalletKind
    accounts: int
    opening: Changes
    closing: Changes


@dataclass(frozen=True, slots=True)
class CallTotal:
    """All calls of one kind and state."""

    currency: str
    kind: CallKind
    state: CallState
    calls: int
    amount: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What a period comes to, as the wallet sums it."""

    totals: tuple[KindTotal, ...]
    balances: tuple[PlayersHave, ...]
    calls: tuple[CallTotal, ...]


@dataclass(frozen=True, slots=True)
class Stake:
    """What one player has at stake in one round."""

    round: str
    player: str
    account: str
    currency: str
    wallet: WalletKind
    wagers: int
    held: int
    unsure: int
    since: dt.datetime


@dataclass(frozen=True, slots=True)
class Difference:
    """Two figures that should be equal."""

    what: Literal["lines_and_totals", "totals_and_balances", "lines_and_calls"]
    about: str
    expected: int
    found: int


@dataclass(slots=True)
class Checking:
    """Goes through a period's lines, as many as there are, and keeps their sums alone."""

    calls_are_kept: bool = True
    """Whether the period is so recent that every line of a seamless wallet still has its calls."""
    lines: int = 0
    _sums: dict[_Key, tuple[int, Changes]] = field(default_factory=dict)
    _untraced: list[Difference] = field(default_factory=list)

    def take(self, lines: Sequence[Line]) -> None:
        """Go through some more lines."""
        for line in lines:
            self.lines += 1
            key = _Key(line.currency, line.wallet, line.kind)
            number, sums = self._sums.get(key, (0, Changes(0, 0, 0, 0)))
            self._sums[key] = number + 1, _plus(sums, line.changes)
            if self.calls_are_kept and len(self._untraced) < _MOST_DIFFERENCES:
                self._untraced += _untraced(line)

    def differences(self, said: Totals) -> tuple[Difference, ...]:
        """Everything that is not equal, once all lines were gone through."""
        found = [*self._of_totals(said), *_of_balances(said), *self._untraced]
        return tuple(found[:_MOST_DIFFERENCES])

    def _of_totals(self, said: Totals) -> Iterator[Difference]:
        expected = {
            _Key(one.currency, one.wallet, one.kind): (one.transactions, one.changes) for one in said.totals
        }
        nothing = (0, Changes(0, 0, 0, 0))
        for key in sorted({*expected, *self._sums}):
            (number, changes), (number_found, sums) = expected.get(key, nothing), self._sums.get(key, nothing)
            name = f"{key.kind} in {key.currency} ({key.wallet})"
            yield from _unequal("lines_and_totals", f"transactions of {name}", number, number_found)
            for what, one, other in zip(Changes._fields, changes, sums, strict=True):
                yield from _unequal("lines_and_totals", f"{what} of {name}", one, other)


def _of_balances(said: Totals) -> Iterator[Difference]:
    for balance in said.balances:
        closing = balance.opening
        for total in said.totals:
            if (total.currency, total.wallet) == (balance.currency, balance.wallet):
                closing = _plus(closing, total.changes)
        for what, one, other in zip(Changes._fields, balance.closing, closing, strict=True):
            about = f"closing {what} in {balance.currency} ({balance.wallet})"
            yield from _unequal("totals_and_balances", about, one, other)


def _untraced(line: Line) -> Iterator[Difference]:
    """A line of a seamless wallet moves what its calls say; a debt stands for one that was never done."""
    if line.wallet != "seamless" or line.kind == "debt" or (line.round is not None and _is_tip(line.round)):
        return
    if line.kind == "tip":
        return
    told = sum(_SIGN[call.kind] * call.amount for call in line.calls)
    yield from _unequal("lines_and_calls", f"cash of transaction {line.transaction}", line.changes.cash, told)


def _unequal(
    what: Literal["lines_and_totals", "totals_and_balances", "lines_and_calls"],
    about: str,
    expected: int,
    found: int,
) -> Iterator[Difference]:
    if expected != found:
        yield Difference(what, about, expected, found)


def _plus(one: Changes, other: Changes) -> Changes:
    return Changes(*(a + b for a, b in zip(one, other, strict=True)))
