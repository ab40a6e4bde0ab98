"""What goes on by itself: what is over ends, rounds that wait no longer go on, old answers go away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore import Appended, StreamAppend
from eventstore.answers import prune_answers
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Connection, Pool, append_in_transaction
from servicekit.context import new_correlation_id
from upcard_bonus.adapters import metrics
from upcard_bonus.adapters.postgres.figures import figures
from upcard_bonus.app.bonus import BonusOffice
from upcard_bonus.app.fencing import end_fences
from upcard_bonus.app.keeping_free_bets import expire_free_bets
from upcard_bonus.app.recording import Origin
from upcard_bonus.entrypoints.faults import reach

PRUNE_EVERY_S: Final = 3_600.0
LOOK_EVERY_S: Final = 5.0
AT_ONCE: Final = 100
"""Most free bets, and most pools, of one transaction."""
_MOST_TURNS: Final = 20
"""Most transactions of one kind in a row, so that each kind has its turn."""

_log = structlog.get_logger("upcard_bonus.upkeep")

Work = Callable[[Connection, Origin], Awaitable[Sequence[StreamAppend]]]


@dataclass
class Upkeep:
    """Every instance runs it: the work is shared by locks of the database, or harmless when done twice."""

    pool: Pool
    office: BonusOffice
    announce: Callable[[Sequence[Appended]], None]
    interval_s: float
    _due: dict[str, float] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at its next turn."""
        jobs: tuple[tuple[str, float, Callable[[], Awaitable[None]]], ...] = (
            ("free bets", self.interval_s, self._free_bets),
            ("fences", self.interval_s, self._fences),
            ("figures", max(self.interval_s, LOOK_EVERY_S), self._figures),
            ("answers", PRUNE_EVERY_S, self._answers),
        )
        while not ending.is_set():
            for name, every_s, job in jobs:
                if time.monotonic() >= self._due.get(name, 0.0):
                    await self._patiently(name, job)
                    self._due[name] = time.monotonic() + every_s
            try:
                async with asyncio.timeout(self.interval_s):
                    await ending.wait()
            except TimeoutError:
                continue

    async def _patiently(self, name: str, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except Exception as error:  # noqa: BLE001 - one kind of upkeep that fails must not end the others
            metrics.upkeep_failures.labels(name).inc()
            if name not in self._failed:
                passing = isinstance(error, PASSING)
                _log.warning("upkeep failed", what=name, exc_info=None if passing else error)
            self._failed.add(name)
        else:
            self._failed.discard(name)

    async def _free_bets(self) -> None:
        async def work(connection: Connection, origin: Origin) -> Sequence[StreamAppend]:
            return await expire_free_bets(self.office, connection, origin, AT_ONCE)

        await self._until_nothing(work)

    async def _fences(self) -> None:
        async def work(connection: Connection, origin: Origin) -> Sequence[StreamAppend]:
            return await end_fences(self.office, connection, origin, AT_ONCE)

        await self._until_nothing(work)

    async def _until_nothing(self, work: Work) -> None:
        for _ in range(_MOST_TURNS):
            async with self.pool.acquire() as connection:
                async with connection.transaction():
                    appends = await work(connection, Origin("system", new_correlation_id()))
                    if not appends:
                        return
                    appended = await append_in_transaction(connection, appends)
                    reach("bonus.upkeep.before_commit")
                reach("bonus.upkeep.committed")
            self.announce(appended)

    async def _answers(self) -> None:
        async with self.pool.acquire() as connection:
            gone = await prune_answers(connection)
        if gone:
            _log.info("old answers are gone", answers=gone)

    async def _figures(self) -> None:
        async with self.pool.acquire() as connection:
            found = await figures(connection)
        metrics.fences.set(found.fences)
        metrics.waiting_rounds.set(found.waiting)
        metrics.figures_age.set(time.time())
