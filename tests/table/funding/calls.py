"""A wallet whose every answer a test gives by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import grpc
import grpc.aio

from rules_core.round.events import DeclinedStake
from servicekit.grpc import Actor
from servicekit.grpc.signing import acting
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_table.adapters.wallet.asking import HoldAsking
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.ports import HoldsAnswer, WantedHolds

DEADLINE_S = 20.0
HELD = pb.HOLD_OUTCOME_HELD
REFUSED = pb.HOLD_OUTCOME_REFUSED
UNKNOWN = pb.HOLD_OUTCOME_UNKNOWN


def wanted(bet_id: str, *amounts: int, player: str = "p1") -> WantedHolds:
    """A command with an ante a box."""
    wagers = tuple(DeclinedStake(box, "ante", amount) for box, amount in enumerate(amounts or (10,), start=1))
    return WantedHolds("t1.1", player, "EUR", bet_id, wagers, "corr-1")


def failure(code: grpc.StatusCode) -> grpc.aio.AioRpcError:
    """A call that failed."""
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "by a test")


@dataclass
class Call:
    """One `AskHolds` under way."""

    request: pb.AskHoldsRequest
    timeout_s: float
    actor: Actor | None
    _said: asyncio.Queue[pb.AskHoldsResponse | grpc.aio.AioRpcError | None] = field(
        default_factory=asyncio.Queue
    )

    @property
    def bets(self) -> list[str]:
        """The commands that are asked for."""
        return [command.bet_id for command in self.request.commands]

    def answer(self, *indexes: int, outcome: pb.HoldOutcome.ValueType = HELD, reason: str = "") -> None:
        """Answer these commands."""
        placed = pb.PlacedHolds(outcome=outcome, reason=reason, holds=["hold-1"])
        answers = [pb.AnsweredHolds(index=index, placed=placed) for index in indexes]
        self._said.put_nowait(pb.AskHoldsResponse(answers=answers))

    def end(self) -> None:
        """End the stream."""
        self._said.put_nowait(None)

    def fail(self, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        """End it with an error."""
        self._said.put_nowait(failure(code))

    def finish(self) -> None:
        """Answer everything and end."""
        self.answer(*range(len(self.request.commands)))
        self.end()

    async def answers(self) -> AsyncIterator[pb.AskHoldsResponse]:
        """What the caller hears."""
        while (said := await self._said.get()) is not None:
            if isinstance(said, grpc.aio.AioRpcError):
                raise said
            yield said


class Calls:
    """The stub's one call: every call waits here until a test takes it."""

    def __init__(self) -> None:
        self._made: asyncio.Queue[Call] = asyncio.Queue()

    def __call__(
        self, request: pb.AskHoldsRequest, *, timeout: float, wait_for_ready: bool
    ) -> AsyncIterator[pb.AskHoldsResponse]:
        assert wait_for_ready
        call = Call(request, timeout, acting())
        self._made.put_nowait(call)
        return call.answers()

    async def next(self) -> Call:
        """The next call."""
        async with asyncio.timeout(DEADLINE_S):
            return await self._made.get()

    @property
    def none_waits(self) -> bool:
        """Whether every call was taken."""
        return self._made.empty()


@dataclass
class Observed:
    """An observer who remembers."""

    calls: list[tuple[int, int]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    reserves: int = 0

    def asked(self, commands: int, wagers: int) -> None:
        self.calls.append((commands, wagers))

    def answered(self, outcome: str, took_s: float) -> None:
        assert took_s >= 0
        self.outcomes.append(outcome)

    def failed(self, reason: str) -> None:
        self.failures.append(reason)

    def not_freed(self, reserves: int) -> None:
        self.reserves += reserves


@dataclass
class Desk:
    """The queue, the wallet behind it, and what was observed."""

    asking: HoldAsking
    calls: Calls
    observed: Observed

    def ask(self, *bets: str, within_s: float = DEADLINE_S) -> list[asyncio.Future[HoldsAnswer]]:
        """Ask for these commands."""
        deadline = asyncio.get_running_loop().time() + within_s
        return [self.asking.ask(wanted(bet), deadline) for bet in bets]


@contextlib.asynccontextmanager
async def at_work(settings: AskingSettings) -> AsyncIterator[Desk]:
    """A queue that is worked on."""
    calls, observed = Calls(), Observed()
    asking = HoldAsking(calls, settings, observed)
    ending = asyncio.Event()
    running = asyncio.create_task(asking.run(ending))
    try:
        yield Desk(asking, calls, observed)
    finally:
        ending.set()
        async with asyncio.timeout(DEADLINE_S):
            await running


async def all_of(answers: Iterable[asyncio.Future[HoldsAnswer]]) -> list[HoldsAnswer]:
    """The answers, which must come."""
    async with asyncio.timeout(DEADLINE_S):
        return list(await asyncio.gather(*answers))
