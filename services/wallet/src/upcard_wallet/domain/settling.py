"""What a player's result posts: pure functions from lines and holds to signed amounts of named books.

In each currency the amounts of one posting sum to zero, whatever comes in: nothing is made or lost here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar

Role = Literal["cash", "held", "promo", "receivable", "house", "suspense"]
"""Which book is meant: of the player (`cash` where the player's money lies, `promo` one free bet), or of the
player's operator."""


class Leg(NamedTuple):
    """One amount of one book, signed, in minor units."""

    role: Role
    amount: int
    free_bet: str | None = None
    """Of `promo`."""


class Line(Protocol):
    """What is read of a line of `PlayerSettled`."""

    @property
    def wager(self) -> str:
        """Which wager."""
        ...

    @property
    def stake(self) -> int:
        """Minor units."""
        ...

    @property
    def returned(self) -> int:
        """Minor units, the stake included where it comes back."""
        ...

    @property
    def funding(self) -> str | None:
        """The free bet that paid the stake; None: cash."""
        ...


class StakeKey(NamedTuple):
    """What a stake and its holds have in common."""

    box: int
    wager: str
    funding: str | None


@dataclass(frozen=True, slots=True)
class FreeBetResult:
    """What became of the stakes that one free bet paid."""

    staked: int
    back: int
    """Given back to the free bet: of lines that return exactly their stake."""


@dataclass(frozen=True, slots=True)
class Result:
    """A player's result of a round in one revision, as far as money goes; amounts in minor units."""

    staked: int
    """Stakes paid in cash."""
    paid: int
    """To cash: what cash lines return, and of a free bet's lines max(0, returned - stake)."""
    free_bets: Mapping[str, FreeBetResult] = field(default_factory=dict)

    @property
    def all_staked(self) -> int:
        """Stakes, free bets included."""
        return self.staked + sum(one.staked for one in self.free_bets.values())

    @property
    def all_paid(self) -> int:
        """Whatever leaves the house again."""
        return self.paid + sum(one.back for one in self.free_bets.values())


def result_of(lines: Iterable[Line]) -> Result:
    """Sum up the lines of a player."""
    staked = paid = 0
    free_staked: defaultdict[str, int] = defaultdict(int)
    free_back: defaultdict[str, int] = defaultdict(int)
    for line in lines:
        if line.funding is None:
            staked += line.stake
            paid += line.returned
            continue
        free_staked[line.funding] += line.stake
        if line.returned == line.stake:
            free_back[line.funding] += line.stake
        else:
            paid += max(0, line.returned - line.stake)
    return Result(
        staked, paid, {name: FreeBetResult(sum_, free_back[name]) for name, sum_ in free_staked.items()}
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """What of a revision has to be remembered for the next one: the result, and what could not be taken."""

    result: Result
    owed: int = 0
    """What of the player's receivable comes from this round."""
    forgone: Mapping[str, int] = field(default_factory=dict)
    """What each free bet lacked, and the house bore."""

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "staked": self.result.staked,
            "paid": self.result.paid,
            "free_bets": {name: [one.staked, one.back] for name, one in self.result.free_bets.items()},
            "owed": self.owed,
            "forgone": dict(self.forgone),
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Self:
        """As it was stored."""
        free_bets = {name: FreeBetResult(*both) for name, both in stored["free_bets"].items()}
        return cls(Result(stored["staked"], stored["paid"], free_bets), stored["owed"], stored["forgone"])


def settle_first(result: Result, held: int) -> list[Leg]:
    """Post revision 1: stakes from held money (`held` in all) to the house, and what it pays.

    Stakes for which nothing is held come from suspense.
    """
    legs = [
        Leg("held", -held),
        Leg("suspense", held - result.all_staked),
        Leg("house", result.all_staked),
        *_paid(result, 1),
    ]
    return [leg for leg in legs if leg.amount]


@dataclass(frozen=True, slots=True)
class Available:
    """What there is when a revision is corrected, minor units."""

    cash: int | None
    """None: no limit (a partner's player)."""
    promo: Mapping[str, int]
    """Of each free bet that either revision names."""
    owed: int = 0
    """What the player owes in all, of this round or not: no more of it can be paid back."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a correction posts, and what is remembered of it."""

    legs: Sequence[Leg]
    standing: Standing
    owed_more: int
    """Change of what the player owes; below zero: less."""
    forgone_more: int


def settle_again(before: Standing, result: Result, available: Available) -> Revision:
    """Post revision n: take the earlier result back and post the new one, as one set.

    A downward correction takes the cash that is there and books the rest to the receivable; an upward one
    pays that back first. What a free bet lacks the house bears.
    """
    old, new = before.result, result
    legs = [
        *_staked(old, -1),
        *_paid(old, -1),
        *_staked(new, 1),
        *_paid(new, 1),
    ]
    change = (new.paid - new.staked) - (old.paid - old.staked)
    owed_more = _owed_more(change, min(before.owed, available.owed), available.cash)
    legs += [Leg("receivable", -owed_more), Leg("cash", owed_more)]
    forgone = dict(before.forgone)
    forgone_more = 0
    for name in sorted({*old.free_bets, *new.free_bets}):
        more = _owed_more(
            _free_change(new, name) - _free_change(old, name), forgone.get(name, 0), available.promo[name]
        )
        legs += [Leg("house", -more), Leg("promo", more, name)]
        forgone[name] = forgone.get(name, 0) + more
        forgone_more += more
    standing = Standing(
        result, before.owed + owed_more, {name: amount for name, amount in forgone.items() if amount}
    )
    return Revision([leg for leg in legs if leg.amount], standing, owed_more, forgone_more)


def _owed_more(change: int, owed: int, available: int | None) -> int:
    """How much more of a downward change cannot be taken, or (below zero) of an upward one is kept for it."""
    if available is None:
        return 0
    if change > 0:
        return -min(owed, change)
    return max(0, -change - available)


def _free_change(result: Result, name: str) -> int:
    one = result.free_bets.get(name)
    return 0 if one is None else one.back - one.staked


def _staked(result: Result, sign: int) -> list[Leg]:
    return [
        Leg("cash", -sign * result.staked),
        *(Leg("promo", -sign * one.staked, name) for name, one in result.free_bets.items()),
        Leg("house", sign * result.all_staked),
    ]


def _paid(result: Result, sign: int) -> list[Leg]:
    return [
        Leg("house", -sign * result.all_paid),
        Leg("cash", sign * result.paid),
        *(Leg("promo", sign * one.back, name) for name, one in result.free_bets.items()),
    ]


class Held(Protocol):
    """What is read of a hold."""

    @property
    def amount(self) -> int:
        """Minor units."""
        ...


H = TypeVar("H", bound=Held)

_MOST_SEARCHED = 16


def match_holds(stake: int, holds: Sequence[H]) -> tuple[list[H], int]:
    """The holds that a stake was made of, and their sum: all of them but in trouble.

    With more held than staked (a hold that nobody answered for), those that sum to the stake exactly; if
    none do, those that come nearest from below: never more than was staked, and never a part of a hold.
    """
    total = sum(hold.amount for hold in holds)
    if total <= stake:
        return list(holds), total
    if len(holds) > _MOST_SEARCHED:  # too many to try them all; in their order, whatever still fits
        chosen: list[H] = []
        total = 0
        for hold in holds:
            if total + hold.amount <= stake:
                chosen.append(hold)
                total += hold.amount
        return chosen, total
    reached: dict[int, tuple[H, ...]] = {0: ()}
    for hold in holds:
        for sum_, those in list(reached.items()):
            if sum_ + hold.amount <= stake:
                reached.setdefault(sum_ + hold.amount, (*those, hold))
        if stake in reached:
            break
    best = max(reached)
    return list(reached[best]), best
