"""The tables that this instance owns: which, for how long, and the way of a call to its table's owner."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Final

import structlog

from eventstore.answers import AnswerKey, RequestIdReused
from eventstore.coordination.holding import SAFETY, steady_s
from rules_core.round.refusal import refuse
from upcard_table.app.calls import (
    MAX_WORKS,
    DeadlineExceeded,
    NotOwner,
    OutcomeUnknown,
    Refused,
    Result,
    TableCall,
    TableWork,
)
from upcard_table.app.owner.hand import Answered, OpenCall
from upcard_table.app.owner.owner import TableOwner, Term, World
from upcard_table.app.ports import Leases, LogAway, Standing, TableLease
from upcard_table.domain.commands import OpenTable
from upcard_table.domain.words import is_opaque_id

KEEPINGS: Final = 3
"""A lease is kept so often in its time."""
KNOWN_S: Final = 0.2
"""For so long the owner of a table elsewhere is taken for its owner still."""
MOST_KNOWN: Final = 4_096
STOP_S: Final = 10.0
"""Longest that the owners are waited for at the end; what they store by then is answered."""

_log = structlog.get_logger("upcard_table")


@dataclass(slots=True)
class _Owned:
    """A table that is owned here."""

    lease: TableLease
    owner: TableOwner
    task: asyncio.Task[None]
    good_until_s: float
    was_idle: bool = False
    """Whether it was closed, and nobody asked for it, a round ago."""


@dataclass(frozen=True, slots=True)
class OwningSettings:
    """How tables are shared among instances."""

    ttl_s: float
    """How long a lease lasts after its last renewal."""
    tables_max: int = 500
    """Most tables that this instance owns."""


class OwnedTables:
    """The port `Tables` of `app.calls`, over the owners of this process."""

    def __init__(
        self,
        world: World,
        leases: Leases,
        settings: OwningSettings,
        clock_s: Callable[[], float] = steady_s,
    ) -> None:
        self._world = world
        self._leases = leases
        self._settings = settings
        self._clock_s = clock_s
        self._owned: dict[str, _Owned] = {}
        self._in_flight: dict[AnswerKey, OpenCall] = {}
        self._known: dict[str, tuple[str, float]] = {}
        """Who owned a table a moment ago, so that not every call to it asks the database."""
        self._taking: dict[str, asyncio.Task[None]] = {}
        self._seen_free: frozenset[str] = frozenset()
        self._stopping = False

    # ------------------------------------------------------------------------------------------------ calls

    async def handle(self, call: TableCall) -> Sequence[Result] | bytes:
        """See `Tables`."""
        if not 0 < len(call.works) <= MAX_WORKS:
            raise ValueError(f"a call has 1 to {MAX_WORKS} works, not {len(call.works)}")
        if not is_opaque_id(call.table):
            return [Refused(refuse("table_unknown", "there is no such table")) for _ in call.works]
        if call.deadline_s <= asyncio.get_running_loop().time():
            raise DeadlineExceeded("there was no time left")
        slot = call.answer
        if slot is not None:
            running = self._in_flight.get(slot.key)
            if running is not None:
                if running.call.answer is None or running.call.answer.body_digest != slot.body_digest:
                    raise RequestIdReused(slot.key)
                return await self._answer(running, call.deadline_s, ours=False)
        owned = self._owned.get(call.table)
        if owned is None:
            return await self._unowned(call)
        opened = owned.owner.admit(call)
        if slot is not None:
            key = slot.key
            self._in_flight[key] = opened
            opened.answer.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await self._answer(opened, call.deadline_s, ours=True)

    async def _answer(self, opened: OpenCall, deadline_s: float, *, ours: bool) -> Answered:
        try:
            async with asyncio.timeout_at(deadline_s):
                return await asyncio.shield(opened.answer)
        except TimeoutError:
            if opened.answer.done() and not opened.answer.cancelled():
                return opened.answer.result()  # it came in the same instant
            if opened.begun:
                raise OutcomeUnknown((), "the table has not answered in time") from None
            raise DeadlineExceeded("the table could not begin with it in time") from None
        except asyncio.CancelledError:
            if opened.answer.cancelled():  # the first of two same calls went before it was begun
                raise DeadlineExceeded("the same call before was given up") from None
            raise
        finally:
            if ours and not opened.begun:
                opened.answer.cancel()  # nobody waits any more: it is not begun

    async def _unowned(self, call: TableCall) -> Sequence[Result]:
        """Nobody's table may become ours at once; a table that never was is opened by OpenTable alone."""
        address = self._elsewhere(call.table)
        if address is not None:
            raise NotOwner(call.table, address)
        try:
            owner = await self._leases.owner_of(call.table)
        except LogAway:
            raise NotOwner(call.table, None) from None
        if owner.address is not None:
            self._remember(call.table, owner.address)
            raise NotOwner(call.table, owner.address)
        opens = any(isinstance(one, TableWork) and isinstance(one.command, OpenTable) for one in call.works)
        if not owner.known and not opens:
            return [Refused(refuse("table_unknown", "there is no such table")) for _ in call.works]
        if len(self._owned) < self._settings.tables_max:
            await self._take([call.table])
        raise NotOwner(call.table, self._address() if call.table in self._owned else None)

    def _elsewhere(self, table: str) -> str | None:
        known = self._known.get(table)
        if known is None or known[1] < self._clock_s():
            return None
        return known[0]

    def _remember(self, table: str, address: str) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[table] = (address, self._clock_s() + KNOWN_S)

    def _address(self) -> str:
        return self._leases.holder.rpartition(" ")[2]

    def owner_of(self, table: str) -> TableOwner | None:
        """The owner of a table, if it is owned here."""
        owned = self._owned.get(table)
        return None if owned is None else owned.owner

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are owned here."""
        return tuple(sorted(self._owned))

    @property
    def waiting(self) -> int:
        """Works of all tables that have no result yet."""
        return sum(owned.owner.waiting for owned in self._owned.values())

    # ---------------------------------------------------------------------------------------------- owning

    async def run(self, ending: asyncio.Event) -> None:
        """Own tables until `ending` is set; then hand them over at once."""
        pause_s = self._settings.ttl_s / KEEPINGS
        stop = asyncio.create_task(ending.wait())
        try:
            while not ending.is_set():
                try:
                    await self._round()
                except LogAway as away:
                    _log.warning("leases could not be kept", error=str(away))
                self._drop_lost()
                await asyncio.wait([stop], timeout=pause_s)
        finally:
            stop.cancel()
            await asyncio.gather(stop, return_exceptions=True)
            await self._hand_over()

    async def _round(self) -> None:
        await self._keep()
        self._drop_lost()
        self._let_go()
        room = self._settings.tables_max - len(self._owned)
        standing = await self._leases.standing(max(room, 1))
        share = math.ceil(standing.open / max(1, len(standing.owned)))
        # What stays free although others had their chance is taken beyond the share.
        stale = [table for table in standing.free if table in self._seen_free]
        fresh = [table for table in standing.free if table not in self._seen_free]
        wanted = stale + fresh[: max(0, share - len(self._owned) - len(stale))]
        self._seen_free = frozenset(standing.free)
        if wanted and room > 0:
            await self._take(wanted[:room])
        self._make_room(standing, share)

    async def _keep(self) -> None:
        held = [owned.lease for owned in self._owned.values() if not owned.task.done()]
        sent_s = self._clock_s()
        still = await self._leases.keep(held)
        for lease in held:
            owned = self._owned.get(lease.table)
            if owned is None or owned.lease is not lease:
                continue
            if lease.table in still:
                owned.good_until_s = self._good_until_s(sent_s)
            else:
                owned.good_until_s = 0.0

    def _good_until_s(self, sent_s: float) -> float:
        return sent_s + self._settings.ttl_s * (1 - SAFETY)

    async def _take(self, tables: Sequence[str]) -> None:
        if self._stopping:
            return
        sent_s = self._clock_s()
        try:
            taken = await self._leases.take([table for table in tables if table not in self._owned])
        except LogAway as away:
            _log.warning("leases could not be taken", error=str(away))
            return
        for lease in taken:
            self._begin(lease, sent_s)

    def _begin(self, lease: TableLease, sent_s: float) -> None:
        table = lease.table
        owner = TableOwner(table, self._world)
        term = Term(lease.token, lease.previous)
        # Not in the context of the call that happened to begin it: it would have its deadline for ever.
        task = asyncio.create_task(owner.run(term), name=f"owner of table {table}", context=Context())
        owned = _Owned(lease, owner, task, self._good_until_s(sent_s))
        self._owned[table] = owned
        task.add_done_callback(lambda _: self._ended(owned))

    def _ended(self, owned: _Owned) -> None:
        task = owned.task
        table = owned.lease.table
        if self._owned.get(table) is owned:
            del self._owned[table]
        if not task.cancelled() and (error := task.exception()) is not None:
            # Not its words: they may show what lies face down. The lease runs out, so another instance tries.
            _log.error("the owner of a table failed", table=table, error=type(error).__name__)

    def _drop_lost(self) -> None:
        now_s = self._clock_s()
        for owned in list(self._owned.values()):
            if owned.good_until_s <= now_s:
                _log.warning("a table's lease was lost", table=owned.lease.table)
                owned.owner.stop()
                # Another one may serve it now: nothing of it is waited for here.
                owned.task.cancel()
                self._owned.pop(owned.lease.table, None)

    def _let_go(self) -> None:
        """Let go of tables that are not open and that nobody asks for: a call for one takes it again."""
        for owned in list(self._owned.values()):
            idle = owned.owner.idle and owned.owner.closed
            if idle and owned.was_idle:
                self._release_later(owned)
            owned.was_idle = idle

    def _make_room(self, standing: Standing, share: int) -> None:
        """Let idle tables go to instances that have fewer than their share."""
        short = sum(
            max(0, share - count) for who, count in standing.owned.items() if who != self._leases.holder
        )
        excess = min(short, len(self._owned) - share)
        for owned in list(self._owned.values()):
            if excess <= 0:
                return
            if owned.owner.idle:
                excess -= 1
                self._release_later(owned)

    def _release_later(self, owned: _Owned) -> None:
        table = owned.lease.table
        if table in self._taking:
            return

        async def release() -> None:
            owned.owner.stop()
            await asyncio.wait([owned.task])
            with contextlib.suppress(LogAway):
                await self._leases.give_back([owned.lease])
            self._taking.pop(table, None)

        self._taking[table] = asyncio.create_task(release(), name=f"handing over table {table}")

    async def _hand_over(self) -> None:
        """Stop all owners, then let others have their tables."""
        self._stopping = True
        all_owned = list(self._owned.values())
        for owned in all_owned:
            owned.owner.stop()
        tasks = [*(owned.task for owned in all_owned), *self._taking.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=STOP_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        with contextlib.suppress(LogAway):
            if all_owned:
                await self._leases.give_back([owned.lease for owned in all_owned])
            await self._leases.leave()
