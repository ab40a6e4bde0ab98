"""What a case stands on: one player at the wallet, calls in few words, and what has to be true of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol
from uuid import UUID, uuid4

from upcard_conformance.findings import Exchange, Fault
from upcard_seamless.answers import Accepted, Refused, Unclear, Verdict
from upcard_seamless.calls import Call, CallKind, Transaction
from upcard_seamless.decisions import NEXT, STATES, Of, row_of

REPEATS_AT_ONCE: Final = 5
"""How many of the same call are under way at once where a case says `at once`."""
MONEY_MIN: Final = 10_000
"""What the player has to own before a run, in minor units."""
NOBODY: Final = "upcard-conformance-nobody"
"""A player whom no wallet has."""


class Failed(Exception):
    """The wallet did otherwise than it has to."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.found)
        self.fault = fault


class NotRun(Exception):
    """The case cannot be played with what was given, in words."""


@dataclass(frozen=True, slots=True)
class Target:
    """The wallet, and the players with whom it is played."""

    operator: str
    player: str
    """Who owns at least `MONEY_MIN` and is used by nobody else meanwhile."""
    currency: str
    other_currency: str
    """A currency that the player has no money in."""
    signed_out: str | None = None
    """A player whose session has ended; None: cases with one are not run."""
    restart: Callable[[], Awaitable[None]] | None = None
    """Kills the wallet and starts it again; None: cases with that are not run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call and what came of it."""

    call: Call
    verdict: Verdict
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class Wrongly:
    """How a call is sent otherwise than it should be."""

    signed: str | None = None
    """`not`, `by_another` secret, or for an `other_body`."""
    cut_after_s: float | None = None
    """The kit hangs up so long after it has sent everything, and reads no answer."""
    half: bool = False
    """It hangs up in the middle of the body."""


RIGHTLY: Final = Wrongly()


class Line(Protocol):
    """How calls reach the wallet: `upcard_conformance.wire`."""

    @property
    def one_by_one(self) -> bool:
        """The dialect sends one transaction a request, so that no call can be taken in part."""
        ...

    async def ask(self, call: Call, how: Wrongly = RIGHTLY) -> Asked:
        """Make the call once. Raises nothing for what a wallet may do."""
        ...


class Stage:
    """One case's view of the wallet. It remembers what was exchanged, and undoes what it did."""

    def __init__(self, line: Line, target: Target) -> None:
        self.line = line
        self.target = target
        self.exchanges: list[Exchange] = []
        self._made: dict[UUID, Call] = {}
        self._held: set[UUID] = set()
        self._undoes: dict[UUID, Call] = {}

    # ------------------------------------------------------------------------------------------- calls

    def new_round(self) -> str:
        """A round number that no wallet has seen."""
        return f"conformance.{uuid4().hex[:12]}"

    def bet(self, *amounts: int, round_: str | None = None, player: str | None = None) -> Call:
        """A new bet, not yet sent: a transaction for each amount."""
        return self._call("bet", amounts, round_ or self.new_round(), player)

    def win(
        self, amount: int, *, round_: str | None, closes: bool = False, player: str | None = None
    ) -> Call:
        """A new win, not yet sent; without a round it is a jackpot's share or a gift."""
        return replace(self._call("win", (amount,), round_, player), closes_round=closes)

    def rollback(self, undone: Call, *transactions: Transaction) -> Call:
        """The call that undoes another one's transactions, all or these."""
        call = replace(
            undone,
            call=uuid4(),
            kind="rollback",
            transactions=transactions or undone.transactions,
            closes_round=False,
        )
        self._undoes[call.call] = undone
        return call

    def _call(self, kind: CallKind, amounts: Sequence[int], round_: str | None, player: str | None) -> Call:
        target = self.target
        whose = player or target.player
        return Call(
            uuid4(),
            kind,
            target.operator,
            f"{whose}-{target.currency}",
            whose,
            target.currency,
            round_,
            tuple(Transaction(uuid4(), amount) for amount in amounts),
        )

    # ------------------------------------------------------------------------------------------- asking

    async def ask(self, call: Call, how: Wrongly = RIGHTLY) -> Asked:
        """Make a call once."""
        if call.kind in {"bet", "win"}:
            self._made.setdefault(call.call, call)
        asked = await self.line.ask(call, how)
        if call.kind == "bet" and isinstance(asked.verdict, Accepted):
            self._held.add(call.call)
        *parts, last = asked.exchanges
        row = row_of(call.kind, asked.verdict.answer, self._of(call))
        self.exchanges += [*parts, replace(last, follows=f"{STATES[row.state]}; next: {NEXT[row.then]}")]
        return asked

    def _of(self, call: Call) -> Of | None:
        """What a rollback undoes, in the decision table's words."""
        undone = self._undoes.get(call.call)
        if undone is None:
            return None
        if undone.kind == "win":
            return "win"
        return "bet_held" if undone.call in self._held else "bet_unknown"

    async def at_once(self, calls: Sequence[Call]) -> list[Asked]:
        """Make calls side by side."""
        return list(await asyncio.gather(*(self.ask(call) for call in calls)))

    async def repeated_at_once(self, call: Call) -> None:
        """Make the same call several times at once, then once more: none may be refused, the last is done."""
        for asked in await self.at_once([call] * REPEATS_AT_ONCE):
            if isinstance(asked.verdict, Refused):
                wanted = f"{described(call)}: done, or no clear answer while another try is on its way"
                raise Failed(Fault(wanted, in_words(asked.verdict)))
        await self.done(call, "an earlier try was done")

    async def balance(self, player: str | None = None) -> int:
        """What the player owns, in minor units, as the wallet says. Fails where it does not say so."""
        asked = await self.ask(self.look(player))
        if not isinstance(asked.verdict, Accepted) or asked.verdict.balance is None:
            raise Failed(Fault("the player's balance", in_words(asked.verdict)))
        return asked.verdict.balance

    def look(self, player: str | None = None) -> Call:
        """A `balance` call, not yet sent."""
        return self._call("balance", (), None, player)

    async def done(self, call: Call, why: str = "done") -> Asked:
        """Make a call that has to be done, or to have been done."""
        asked = await self.ask(call)
        self.must_be_done(asked, why)
        return asked

    def must_be_done(self, asked: Asked, why: str = "done") -> None:
        """Fail unless the answer says that it is done, now or before."""
        if not isinstance(asked.verdict, Accepted):
            raise Failed(Fault(f"{described(asked.call)}: {why}", in_words(asked.verdict)))

    async def refused(self, call: Call, why: str, *reasons: str, how: Wrongly = RIGHTLY) -> Asked:
        """Make a call that has to be refused; with `reasons`, for one of these (`funds`, `player`, …)."""
        asked = await self.ask(call, how)
        verdict = asked.verdict
        if not isinstance(verdict, Refused):
            raise Failed(Fault(f"{described(call)}: refused, {why}", in_words(verdict)))
        if reasons and verdict.why not in reasons:
            wanted = " or ".join(reasons)
            raise Failed(Fault(f"{described(call)}: refused for {wanted}, {why}", in_words(verdict)))
        return asked

    async def owns(self, amount: int, why: str, player: str | None = None) -> None:
        """Fail unless the player owns this now, in minor units."""
        found = await self.balance(player)
        if found != amount:
            raise Failed(
                Fault(f"a balance of {amount}: {why}", f"a balance of {found} ({found - amount:+d})")
            )

    # -------------------------------------------------------------------------------------------- after

    async def tidy(self) -> None:
        """Undo what the case made, as far as the wallet lets: the next case begins where this one did."""
        for call in reversed(self._made.values()):
            if call.total:
                await self.line.ask(self.rollback(call))


def described(call: Call) -> str:
    """A call in words."""
    parts = "+".join(str(one.amount) for one in call.transactions)
    return {"balance": "balance"}.get(call.kind, f"{call.kind} of {parts}")


def in_words(verdict: Verdict) -> str:
    """What Upcard makes of an answer."""
    match verdict:
        case Accepted(duplicate=duplicate, balance=balance):
            owned = "" if balance is None else f"; the player has {balance}"
            return f"{'done by an earlier try' if duplicate else 'done'}{owned}"
        case Refused(why=why, detail=detail):
            return f"refused ({why}): {detail}"
        case Unclear(kind=kind, detail=detail):
            return f"unclear ({kind}): {detail}"
        case _:
            return f"not sent: {verdict.detail}"
