"""What goes on behind the seamless purse: telling partners what is queued, ending bets that nobody ended."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID, uuid4

from eventstore.postgres import Pool
from upcard_wallet.adapters.seamless import queue
from upcard_wallet.adapters.seamless.asking import PartnerAt, ask
from upcard_wallet.adapters.seamless.circuit import Circuit, is_failure
from upcard_wallet.adapters.seamless.committing import GroupCommitter
from upcard_wallet.adapters.seamless.faults import reach
from upcard_wallet.adapters.seamless.observer import SeamlessObserver
from upcard_wallet.adapters.seamless.partner import Verdict
from upcard_wallet.adapters.seamless.planning import Decision, decide
from upcard_wallet.adapters.seamless.purse import SeamlessPurse
from upcard_wallet.adapters.seamless.queue import Claimed, Said
from upcard_wallet.adapters.seamless.storing import store

_Noted = tuple[Claimed, Decision, Said]
_HASTENED_MAX: Final = 10_000
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0


class SeamlessWork:
    """Everything of the seamless purse that goes on by itself: `run` it in every instance.

    Each operator has a worker of its own with its own bound of calls, so a partner that hangs delays its own
    items alone. Instances share the work by claims in the database; a claim that is not ended runs out.
    """

    def __init__(self, purse: SeamlessPurse, *, look_every_s: float = 0.25) -> None:
        """`look_every_s` is how often an idle worker looks for what is due."""
        self._purse = purse
        self._look_every_s = look_every_s
        self._couriers = [_Courier(operator, at, self) for operator, at in purse.partners.items()]

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; calls under way are finished and noted first."""
        async with asyncio.TaskGroup() as tasks:
            for courier in self._couriers:
                tasks.create_task(self._patiently("telling partners", courier.run, ending))
            tasks.create_task(self._patiently("ending bets", self._end_overdue, ending))

    @property
    def pool(self) -> Pool:
        """The wallet's database."""
        return self._purse.pool

    @property
    def observer(self) -> SeamlessObserver:
        """Who is told."""
        return self._purse.observer

    def circuit_of(self, operator: str) -> Circuit:
        """The operator's partner's."""
        return self._purse.circuits[operator]

    async def wait(self, ending: asyncio.Event, seconds: float | None = None) -> None:
        """Pause, or end the pause when everything ends."""
        try:
            async with asyncio.timeout(self._look_every_s if seconds is None else seconds):
                await ending.wait()
        except TimeoutError:
            return

    async def note(self, items: Sequence[_Noted]) -> Sequence[None]:
        """Note what partners said, in one transaction, with what follows for holds."""
        async with self.pool.acquire() as connection, connection.transaction():
            resolved = [
                transaction.id
                for claimed, decision, _ in items
                if decision.what == "done" and claimed.tried.unposted_bet
                for transaction in claimed.call.transactions
            ]
            appends = await self._purse.records.resolve(connection, resolved) if resolved else ()
            await queue.note_decisions(connection, [(claimed, decision) for claimed, decision, _ in items])
            await queue.note_answers(connection, [said for _, _, said in items])
            appended = await store(connection, appends)
        self._purse.wake_readers(appended)
        return [None] * len(items)

    async def _end_overdue(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            if await self._purse.give_up_overdue() == 0:
                await self.wait(ending)

    async def _patiently(
        self, what: str, work: Callable[[asyncio.Event], Awaitable[None]], ending: asyncio.Event
    ) -> None:
        pause_s = _FIRST_PAUSE_S
        while not ending.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await work(ending)
            except Exception as error:  # noqa: BLE001 - a database that is away comes back; it is told and tried again
                if asyncio.get_running_loop().time() - began > _LONGEST_PAUSE_S:
                    pause_s = _FIRST_PAUSE_S
                self.observer.failed(what, error, pause_s)
                await self.wait(ending, pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


class _Courier:
    """Tells one operator's partner what is queued for it."""

    def __init__(self, operator: str, at: PartnerAt, work: SeamlessWork) -> None:
        self._operator = operator
        self._partner = at.partner
        self._settings = at.settings
        self._work = work
        self._circuit = work.circuit_of(operator)
        self._failed_in_a_row = 0
        self._was_down = False
        self._circuit_was_down = False
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, ending: asyncio.Event) -> None:
        """Claim what is due and tell it, up to the bound at once."""
        async with GroupCommitter(self._work.note) as notes:
            try:
                while not ending.is_set():
                    await self._turn(notes, ending)
            finally:
                if self._under_way:
                    await asyncio.wait(self._under_way)

    async def _turn(self, notes: "GroupCommitter[_Noted, None]", ending: asyncio.Event) -> None:
        free = self._settings.queue_at_once - len(self._under_way)
        if free <= 0:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)
            return
        if self._circuit_was_down and not self._circuit.down:
            self._failed_in_a_row = 0  # a bet found the partner back
        self._circuit_was_down = self._circuit.down
        down = self._failed_in_a_row >= self._settings.failures_before_pause or self._circuit.down
        if self._was_down and not down:
            await self._hasten()
        self._was_down = down
        if down:
            self._work.observer.paused(self._operator, self._settings.down_pause_s)
            await self._work.wait(ending, self._settings.down_pause_s)
            free = 1
        claimed = await self._claim(free)
        for one in claimed:
            task = asyncio.create_task(self._tell(one, notes))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        if down and self._under_way:
            await asyncio.wait(self._under_way)
            if not self._failed_in_a_row:
                await self._hasten()
                self._was_down = False
        elif not claimed:
            await self._work.wait(ending)

    async def _claim(self, limit: int) -> Sequence[Claimed]:
        claim: UUID = uuid4()
        async with self._work.pool.acquire() as connection:
            claimed = await queue.claim_due(
                connection,
                self._operator,
                limit=limit,
                claim=claim,
                claim_s=self._settings.queue_timeout_s + self._settings.claim_margin_s,
            )
        if claimed:
            reach("seamless.claimed")
        return claimed

    async def _hasten(self) -> None:
        async with self._work.pool.acquire() as connection:
            await queue.partner_is_back(connection, self._operator, limit=_HASTENED_MAX)

    async def _tell(self, claimed: Claimed, notes: "GroupCommitter[_Noted, None]") -> None:
        verdict, said = await ask(
            self._partner, claimed.call, self._settings.queue_timeout_s, self._work.observer
        )
        reach("seamless.called")
        self._count(verdict)
        try:
            decision = _jittered(decide(verdict, claimed.tried, self._settings))
            await notes.put((claimed, decision, said))
        except Exception as error:  # noqa: BLE001 - the claim runs out, and the call is made again
            self._work.observer.failed("noting an answer", error, 0.0)
            return
        reach("seamless.noted")
        if decision.what == "parked":
            self._work.observer.parked(
                self._operator, claimed.call.call, claimed.call.kind, decision.reason or ""
            )

    def _count(self, verdict: Verdict) -> None:
        self._failed_in_a_row = self._failed_in_a_row + 1 if is_failure(verdict) else 0
        self._circuit.answered(verdict)


def _jittered(decision: Decision) -> Decision:
    if not decision.failed:
        return decision
    factor = random.uniform(0.8, 1.2)  # noqa: S311 - so that what failed together is not tried together
    return Decision(
        decision.what,
        decision.pause_s * factor,
        decision.reason,
        decision.confirming,
        decision.contradicted,
        decision.failed,
    )
