"""What goes on by itself beside calls and tables: old answers go, figures are looked up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore.answers import prune_answers
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Pool
from upcard_table.adapters import metrics
from upcard_table.app.owner.owned_tables import OwnedTables
from upcard_table.app.watching.hubs import Hubs

PRUNE_EVERY_S: Final = 3_600.0

_log = structlog.get_logger("upcard_table.upkeep")


@dataclass
class Upkeep:
    """Every instance runs it: each job is harmless when it is done twice."""

    pool: Pool
    tables: OwnedTables
    hubs: Hubs
    interval_s: float
    _due: dict[str, float] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at its next turn."""
        jobs: tuple[tuple[str, float, Callable[[], Awaitable[None]]], ...] = (
            ("figures", self.interval_s, self._figures),
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
        except PASSING as error:
            metrics.upkeep_failures.labels(name).inc()
            if name not in self._failed:
                _log.warning("upkeep failed", what=name, why=type(error).__name__)
            self._failed.add(name)
        else:
            self._failed.discard(name)

    async def _figures(self) -> None:
        metrics.owned_tables.set(len(self.tables.tables))
        metrics.waiting_works.set(self.tables.waiting)
        metrics.watched_tables.set(self.hubs.tables)

    async def _answers(self) -> None:
        async with self.pool.acquire() as connection:
            gone = await prune_answers(connection)
        if gone:
            _log.info("old answers are gone", answers=gone)
