"""Asking for holds: what queued, of all tables of the process, goes together; answers come one by one.

One call at a time has a head start: what queues until it has answered half (or for a moment) makes up the
next one. So calls grow with the load by themselves, and a call of which a slow partner's part is still open
delays nobody else's.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterable, Callable, Coroutine, Sequence
from typing import Any, Final, Protocol
from uuid import uuid4

import grpc.aio
import structlog

from servicekit.context import detached
from servicekit.grpc import failure_of
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_table.adapters.wallet.messages import LATE, NOT_SAID, OVERLOADED, answer_of, hold_command
from upcard_table.adapters.wallet.observing import AskObserver, Unheard
from upcard_table.adapters.wallet.settings import AskingSettings
from upcard_table.app.ports import HoldsAnswer, WantedHolds

_log = structlog.get_logger("upcard_table")

_SHORTEST_S: Final = 0.005
"""A command with less time than this left is not asked for."""

Heard = Callable[[WantedHolds, Sequence[str]], None]
"""Is told of each command that is held, with its holds' ids in the order of its wagers."""


class AskHolds(Protocol):
    """The wallet's call."""

    def __call__(
        self, request: pb.AskHoldsRequest, *, timeout: float, wait_for_ready: bool
    ) -> AsyncIterable[pb.AskHoldsResponse]:
        """Send it; the answers are iterated."""
        ...


class _Asked:
    """A command, and who waits for its answer."""

    __slots__ = ("answer", "deadline_s", "since_s", "timer", "tries", "wanted")

    def __init__(self, wanted: WantedHolds, deadline_s: float, loop: asyncio.AbstractEventLoop) -> None:
        self.wanted = wanted
        self.deadline_s = deadline_s
        self.answer: asyncio.Future[HoldsAnswer] = loop.create_future()
        self.since_s = loop.time()
        self.timer: asyncio.TimerHandle | None = None
        self.tries = 0
        """Calls that it was sent with; 0: no hold of it can exist."""


class HoldAsking:
    """The queue to the wallet. It is worked on while `run` runs."""

    def __init__(
        self,
        ask_holds: AskHolds,
        settings: AskingSettings | None = None,
        observer: AskObserver | None = None,
        heard: Heard | None = None,
    ) -> None:
        self._ask_holds = ask_holds
        self._settings = settings or AskingSettings()
        self._observer = observer or Unheard()
        self._heard = heard
        self._waiting: deque[_Asked] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._ended = False

    def ask(self, wanted: WantedHolds, deadline_s: float) -> asyncio.Future[HoldsAnswer]:
        """See `app.ports.Funds.ask`."""
        loop = asyncio.get_running_loop()
        asked = _Asked(wanted, deadline_s, loop)
        full = len(self._waiting) >= self._settings.waiting_max
        if self._ended or full or deadline_s - asked.since_s < _SHORTEST_S:
            self._answer(asked, OVERLOADED)
            return asked.answer
        asked.timer = loop.call_at(deadline_s, self._late, asked)
        self._waiting.append(asked)
        self._wake.set()
        return asked.answer

    async def run(self, ending: asyncio.Event) -> None:
        """Send what queues, until `ending` is set; what has no answer then is unknown."""
        sending = _task(self._send())
        stopping = _task(ending.wait())
        try:
            await asyncio.wait([sending, stopping], return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        finally:
            self._ended = True
            tasks = [sending, stopping, *self._calls]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            while self._waiting:
                asked = self._waiting.popleft()
                self._answer(asked, NOT_SAID if asked.tries else OVERLOADED)

    async def _send(self) -> None:
        settings = self._settings
        while True:
            await self._wake.wait()
            if len(self._calls) >= settings.calls_max:
                await asyncio.wait(self._calls, return_when=asyncio.FIRST_COMPLETED)
                continue
            batch = self._next_batch()
            if not batch:
                self._wake.clear()
                continue
            heard = asyncio.Event()
            call = _task(self._call(batch, heard))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(settings.head_start_s):
                    await heard.wait()
            if len(self._calls) > settings.calls_max // 2:
                await asyncio.sleep(settings.crowded_gap_s)

    def _next_batch(self) -> list[_Asked]:
        batch: list[_Asked] = []
        wagers = 0
        while self._waiting and len(batch) < self._settings.commands_max:
            first = self._waiting[0]
            if not first.answer.done():
                wagers += len(first.wanted.wagers)
                if batch and wagers > self._settings.wagers_max:
                    break
                # From here on it counts as asked, whenever the call begins: who is told that it never was
                # records nothing, and its money would stay held.
                first.tries += 1
                batch.append(first)
            self._waiting.popleft()
        return batch

    async def _call(self, batch: list[_Asked], heard: asyncio.Event) -> None:
        """One call, and what of it has to be asked for again."""
        may_pass = False
        try:
            may_pass = await self._answers(batch, heard)
        except asyncio.CancelledError:
            for asked in batch:
                self._answer(asked, NOT_SAID)
            raise
        except Exception as error:  # noqa: BLE001 - a defect; the others' money goes on
            self._observer.failed("defect")
            _log.error("asking for holds failed", exc_info=error)
        finally:
            heard.set()
        left = [asked for asked in batch if not asked.answer.done()]
        again = [asked for asked in left if may_pass and asked.tries < self._settings.tries]
        for asked in left:
            if asked not in again:
                self._answer(asked, NOT_SAID)
        if again:
            tries = max(asked.tries for asked in again)
            await asyncio.sleep(self._settings.first_pause_s * 2 ** (tries - 1))
            self._waiting.extendleft(reversed(again))
            self._wake.set()

    async def _answers(self, batch: Sequence[_Asked], heard: asyncio.Event) -> bool:
        """Hear a call's answers; whether what is not answered then may be answered another time."""
        commands = [hold_command(asked.wanted) for asked in batch]
        request = pb.AskHoldsRequest(request_id=str(uuid4()), commands=commands)
        self._observer.asked(len(batch), sum(len(asked.wanted.wagers) for asked in batch))
        left_s = max(asked.deadline_s for asked in batch) - asyncio.get_running_loop().time()
        try:
            # A wallet that is being restarted is waited for: the commands have deadlines of their own.
            async for answers in self._ask_holds(request, timeout=left_s, wait_for_ready=True):
                for one in answers.answers:
                    self._hear(batch, one)
                if 2 * sum(asked.answer.done() for asked in batch) >= len(batch):
                    heard.set()
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            self._observer.failed(failure.reason)
            _log.warning("holds could not be asked for", reason=failure.reason, commands=len(batch))
            return failure.may_pass
        return True

    def _hear(self, batch: Sequence[_Asked], one: pb.AnsweredHolds) -> None:
        if not 0 <= one.index < len(batch):
            return
        asked = batch[one.index]
        if one.placed.outcome == pb.HOLD_OUTCOME_HELD and self._heard is not None:
            self._heard(asked.wanted, one.placed.holds)
        self._answer(asked, answer_of(one.placed))

    def _late(self, asked: _Asked) -> None:
        self._answer(asked, LATE if asked.tries else OVERLOADED)

    def _answer(self, asked: _Asked, answer: HoldsAnswer) -> None:
        if asked.timer is not None:
            asked.timer.cancel()
            asked.timer = None
        if asked.answer.done():
            return
        asked.answer.set_result(answer)
        self._observer.answered(answer.outcome, asyncio.get_running_loop().time() - asked.since_s)


def _task(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """In a context of its own: no caller's deadline, actor or trace may get into a call for many."""
    return asyncio.get_running_loop().create_task(work, context=detached())
