"""The owner of one table: takes what queued, decides it, stores it, answers; begins anew on a failure."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import structlog

from eventstore import EventStoreError, OutcomeUnknown, VersionConflict
from rules_core.round.times import from_epoch_us
from upcard_table.app.calls import NotOwner, Overloaded, TableCall, TableWork
from upcard_table.app.owner.clock import Clock
from upcard_table.app.owner.closing import Closing
from upcard_table.app.owner.deciding import Deciding
from upcard_table.app.owner.draft import Draft, Now, results_of
from upcard_table.app.owner.driving import Driving
from upcard_table.app.owner.hand import Item, OpenCall, items_of, open_call
from upcard_table.app.owner.lookups import Lookups, answer_if_known
from upcard_table.app.owner.memory import load_memory
from upcard_table.app.owner.preparing import Preparing
from upcard_table.app.owner.settings import DEFAULT_OWNER_SETTINGS, OwnerSettings
from upcard_table.app.owner.taking_over import make_up, resolve_holds
from upcard_table.app.ports import Fence, Funds, LogAway, OwnerObserver, PreviousOwner, TableLog
from upcard_table.app.recording import Recorder
from upcard_table.domain.words import round_name

T = TypeVar("T")

OUTAGE_US: Final = 1_000_000
"""A failure of the database that lasts longer is made up for in the open window, as a fail-over is."""

_log = structlog.get_logger("upcard_table")


@dataclass(frozen=True, slots=True)
class World:
    """What all owners of a process stand on."""

    log: TableLog
    funds: Funds
    fence: Fence
    clock: Clock
    observer: OwnerObserver
    lookups: Lookups
    recorder: Recorder = Recorder()  # noqa: RUF009 - immutable
    settings: OwnerSettings = DEFAULT_OWNER_SETTINGS


@dataclass(frozen=True, slots=True)
class Term:
    """Under which lease a table is owned."""

    token: int
    previous: PreviousOwner | None


class TableOwner:
    """One table. `run` serves it; `admit` is how commands reach it."""

    def __init__(self, table: str, world: World) -> None:
        self.table = table
        self.serving = False
        """Whether it was taken over; what comes before that waits."""
        self._world = world
        self._settings = world.settings
        self._wake = asyncio.Event()
        self._inbox: deque[OpenCall] = deque()
        self._again: deque[Item] = deque()
        """Items that are to be decided once more, or were prepared."""
        self._open: set[OpenCall] = set()
        self._works = 0
        self._floor_us = 0
        self._failures = 0
        self._stopping = False
        self._failing_since_us: int | None = None
        self._outage_since_us: int | None = None
        """Since when the database failed: made up for with the next batch."""
        self._deciding = Deciding(world.funds, self._settings, world.clock.now_us)
        self._deciding.on_answer = self._wake.set
        self._preparing = Preparing(self._deciding, world.log, world.fence, self._settings, self._prepared)
        self._closing = Closing(self._deciding, world.funds)
        self._driving = Driving(
            self._deciding, self._closing, self._settings, world.observer, self._arrived_before
        )

    # ------------------------------------------------------------------------------ what comes in

    @property
    def waiting(self) -> int:
        """Works that have no result yet: a metric."""
        return self._works

    @property
    def waits_for_floor(self) -> bool:
        """Whether its round waits for the floor."""
        return self._deciding.memory.floor_round is not None

    @property
    def idle(self) -> bool:
        """Whether no round runs and nobody waits."""
        return self.serving and not self._works and not self._deciding.memory.last_round().running

    @property
    def closed(self) -> bool:
        """Whether its table is not open, and no correction of its rounds is being carried out."""
        memory = self._deciding.memory
        rounds = memory.rounds.values()
        return not memory.state.open and all(live.state.step in {"settled", "cancelled"} for live in rounds)

    def admit(self, call: TableCall) -> OpenCall:
        """Queue a call; its arrival is now. Raises NotOwner, Overloaded."""
        if self._stopping:
            raise NotOwner(self.table, None)
        if self._works + len(call.works) > self._settings.waiting_works:
            raise Overloaded(f"table {self.table}: {self._works} works wait already")
        arrived_us = self._now_us()
        answer = asyncio.get_running_loop().create_future()
        opened = open_call(call, arrived_us, from_epoch_us(arrived_us), answer)
        self._works += len(call.works)
        self._open.add(opened)
        answer.add_done_callback(lambda done: self._over(opened, done))
        self._inbox.append(opened)
        if opened.looked_up:
            self._wake.set()
        else:
            self._world.lookups.add(opened, self._wake.set)
        return opened

    def _over(self, call: OpenCall, done: asyncio.Future[object]) -> None:
        self._works -= len(call.results)
        self._open.discard(call)
        if not done.cancelled():
            done.exception()  # seen, also where nobody waits any more

    def _arrived_before(self, instant_us: int) -> bool:
        undecided = (*self._inbox, *(item.call for item in (*self._again, *self._deciding.answered)))
        return any(call.arrived_us < instant_us and not call.gone for call in undecided)

    def _now_us(self) -> int:
        return max(self._world.clock.now_us(), self._floor_us)

    # ------------------------------------------------------------------------------------ serving

    def stop(self) -> None:
        """Decide nothing new: what is being stored is answered, then `run` ends."""
        self._stopping = True
        self._wake.set()

    async def run(self, term: Term) -> None:
        """Take the table over, and serve it until `stop`. Raises what makes that impossible."""
        try:
            if await self._take_over(term):
                self.serving = True
                while not self._stopping:
                    await self._turn()
        finally:
            self.serving = False
            self._stopping = True
            self._preparing.stop()
            for call in list(self._open):
                call.fail(
                    OutcomeUnknown((), "the table is handed over")
                    if call.begun
                    else NotOwner(self.table, None)
                )

    async def _turn(self) -> None:
        self._wake.clear()
        draft = self._new_draft()
        since_us, self._outage_since_us = self._outage_since_us, None
        if since_us is not None:
            make_up(self._deciding, since_us)
        due_us = self._decide(draft)
        if not await self._store(draft):
            return
        self._preparing.prepare()
        if self._more():
            await asyncio.sleep(0)
            return
        await self._world.clock.wait(self._wake, due_us)

    def _more(self) -> bool:
        return bool(self._again or self._deciding.answered or (self._inbox and self._inbox[0].looked_up))

    def _prepared(self, items: Sequence[Item]) -> None:
        self._again.extend(items)
        self._wake.set()

    def _new_draft(self) -> Draft:
        now_us = self._now_us()
        world = self._world
        draft = Draft(
            self._deciding.memory, world.recorder, world.observer, Now(now_us, from_epoch_us(now_us))
        )
        self._deciding.draft = draft
        return draft

    def _decide(self, draft: Draft) -> int | None:
        """Decide what there is; when the round's next own step is due."""
        deciding, most = self._deciding, self._settings.batch_works
        while deciding.answered and draft.works < 2 * most:
            deciding.do(deciding.answered.popleft())
        for _ in range(len(self._again)):
            if draft.works >= 2 * most:
                break
            deciding.do(self._again.popleft())
        while self._inbox and draft.works < most:
            call = self._inbox[0]
            if not call.gone and not call.looked_up:
                break
            self._inbox.popleft()
            if call.gone:
                continue
            for item in items_of(call):
                deciding.do(item)
        return self._driving.drive()

    # ------------------------------------------------------------------------------------ storing

    async def _store(self, draft: Draft) -> bool:
        """Store a batch, then answer; False: it could not be, and the memory was loaded anew."""
        began_us = self._world.clock.now_us()
        if not draft.nothing:
            try:
                await self._world.log.store(draft.batch())
            except EventStoreError as error:
                await self._begin_anew(draft, error, began_us)
                return False
        self._failures = 0
        self._failing_since_us = None
        self._answer(draft)
        memory = self._deciding.memory
        last = memory.last
        if last is not None:
            self._floor_us = max(self._floor_us, last.last_us)
        if draft.works or not draft.nothing:
            took_s = (self._world.clock.now_us() - began_us) / 1_000_000
            self._world.observer.batch(draft.works, draft.events, took_s)
        return True

    def _answer(self, draft: Draft) -> None:
        if draft.floor_round is not None:
            self._world.observer.waiting_for_floor(self.table, waits=self.waits_for_floor)
        for call in draft.done:
            call.succeed(results_of(call))
        memory = self._deciding.memory
        for number, events in draft.round_events.items():
            config = memory.state.config_of(number)
            if config is not None and config.reserve_bet_with_ante:
                self._world.funds.free_reserves(round_name(self.table, number), events)
        if len(memory.rounds) > 1:
            memory.forget_rounds(self._needed_rounds())

    def _needed_rounds(self) -> set[int]:
        pending = {number for number, _ in self._deciding.pending}
        return pending | {item.number for item in (*self._again, *self._deciding.answered)}

    async def _begin_anew(self, draft: Draft, error: EventStoreError, failing_us: int) -> None:
        """Nobody knows what of memory is true: drop it, load, find out what was answered, decide again."""
        world = self._world
        if self._failing_since_us is None:
            self._failing_since_us = failing_us
        self._failures += 1
        world.observer.dropped(error.slug)
        _log.warning(
            "a batch was not stored; the table is loaded anew",
            table=self.table,
            error=error.slug,
            failures=self._failures,
        )
        items = draft.take_back()
        if not isinstance(error, VersionConflict):
            await self._pause(self._failures)
        await self._reload()
        if self._stopping:
            return
        keys = [call.call.answer.key for call in draft.done if call.call.answer is not None]
        found = await self._until_stopped(lambda: world.log.find_answers(keys)) or {}
        for call in draft.done:
            if answer_if_known(call, found):
                call.dropped = True  # by another owner, or by the try whose outcome was not known
            elif isinstance(error, OutcomeUnknown) and _cannot_be_told(call):
                call.fail(error)
        if self._failures > self._settings.conflicts:
            self._give_up(items, error)
        # Whatever of them was recorded after all is known again: by bet id, scan id or cause.
        left = [item for item in items if item.needed is not None or not item.call.dropped]
        self._again.extendleft(reversed(left))
        if world.clock.now_us() - self._failing_since_us > OUTAGE_US:
            self._outage_since_us = self._failing_since_us

    def _give_up(self, items: Sequence[Item], error: EventStoreError) -> None:
        told = NotOwner(self.table, None) if isinstance(error, VersionConflict) else error
        for call in {item.call for item in items}:
            call.fail(told)
        self._failures = 0

    async def _reload(self) -> None:
        """Load what the log says, however long the database is away."""
        world = self._world
        if await self._until_stopped(self._load) is None:
            return
        self._closing.forget()
        self._driving.forget()
        last = self._deciding.memory.last
        if last is not None:
            self._floor_us = max(self._floor_us, last.last_us)
        world.observer.waiting_for_floor(self.table, waits=self.waits_for_floor)

    async def _load(self) -> bool:
        log = self._world.log
        self._deciding.memory = await load_memory(log, self.table, await log.hints(self.table))
        return True

    async def _until_stopped(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Do something that the database may fail at until it works. None: `stop` came first."""
        tried = 0
        while not self._stopping:
            try:
                return await work()
            except LogAway as error:
                tried += 1
                _log.warning(
                    "the database is away", table=self.table, error=type(error).__name__, tried=tried
                )
                await self._pause(tried)
        return None

    async def _pause(self, tried: int) -> None:
        settings = self._settings
        longest_s = min(settings.first_pause_s * 2.0 ** (tried - 1), settings.longest_pause_s)
        await asyncio.sleep(longest_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads many tables' tries

    # -------------------------------------------------------------------------------- taking over

    async def _take_over(self, term: Term) -> bool:
        """Load, resolve what the last owner left, make up for the time lost. False: `stop` came first."""
        world = self._world
        began_us = self._now_us()
        hints = await self._until_stopped(lambda: world.log.take_over(self.table, term.previous))
        if hints is None:
            return False
        await self._reload()
        since_us = hints.outage_since_us
        last = self._deciding.memory.last
        if since_us is None and last is not None:
            since_us = last.last_us  # nothing tells when it was served last: then not after its last event
        while not self._stopping:
            declines = await resolve_holds(world.funds, self._deciding, self._settings)
            draft = self._new_draft()
            last = self._deciding.memory.last
            for command in declines:
                if last is not None:
                    self._deciding.own(last, replace(command, arrived_at=draft.now.text))
            if since_us is not None:
                make_up(self._deciding, since_us)
            draft.serving_token = term.token
            self._driving.served_since_us = draft.now.us
            if await self._store(draft):
                world.observer.taken_over((self._now_us() - began_us) / 1_000_000)
                world.observer.waiting_for_floor(self.table, waits=self.waits_for_floor)
                return True
        return False


def _cannot_be_told(call: OpenCall) -> bool:
    """Whether doing it again might do it twice: nothing in the table's stream tells its works again."""
    return any(isinstance(work, TableWork) for work in call.call.works)
