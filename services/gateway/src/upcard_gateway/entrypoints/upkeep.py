"""What goes on by itself beside calls: old answers leave, and signed calls that cannot come again."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore.answers import prune_answers
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Pool
from upcard_gateway.adapters import metrics
from upcard_gateway.adapters.postgres.replays import SignedCalls

ANSWERS_EVERY_S: Final = 3_600.0
SIGNED_EVERY_S: Final = 10.0
_TURN_S: Final = 5.0
_MOST_BATCHES: Final = 100

_log = structlog.get_logger("upcard.gateway.upkeep")


@dataclass
class Upkeep:
    """Every instance runs it: what is done twice is harmless."""

    pool: Pool
    signed: SignedCalls
    now: Callable[[], dt.datetime]
    _due: dict[str, float] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at its next turn."""
        jobs: tuple[tuple[str, float, Callable[[], Awaitable[None]]], ...] = (
            ("answers", ANSWERS_EVERY_S, self._answers),
            ("signed calls", SIGNED_EVERY_S, self._signed),
        )
        while not ending.is_set():
            for name, every_s, job in jobs:
                if time.monotonic() >= self._due.get(name, 0.0):
                    await self._patiently(name, job)
                    self._due[name] = time.monotonic() + every_s
            try:
                async with asyncio.timeout(_TURN_S):
                    await ending.wait()
            except TimeoutError:
                continue

    async def _patiently(self, name: str, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, calls go on being served
            metrics.upkeep_failures.labels(name).inc()
            if name not in self._failed:
                passing = isinstance(error, PASSING)
                _log.warning("upkeep failed", what=name, exc_info=None if passing else error)
            self._failed.add(name)
        else:
            self._failed.discard(name)

    async def _answers(self) -> None:
        async with self.pool.acquire() as connection:
            gone = await prune_answers(connection)
        if gone:
            _log.info("old answers are gone", answers=gone)

    async def _signed(self) -> None:
        for _ in range(_MOST_BATCHES):
            if not await self.signed.prune(self.now()):
                return
