"""What goes on by itself beside calls and events: totals, ended rounds, old answers, figures for metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from eventstore import Appended
from eventstore.answers import prune_answers
from eventstore.coordination.outages import PASSING
from eventstore.postgres import Pool, append_in_transaction
from upcard_wallet.adapters import metrics
from upcard_wallet.adapters.postgres.checkpoints import make_checkpoints
from upcard_wallet.adapters.postgres.round_holds import oldest_open_hold_s
from upcard_wallet.adapters.seamless.pruning import MOST_LANES, prune_partner_calls
from upcard_wallet.adapters.seamless.standing import backlogs, overdue_bets
from upcard_wallet.app.follow_rounds import free_ended
from upcard_wallet.app.wallet import Wallet
from upcard_wallet.projections.audit import Audit, alarms
from upcard_wallet.projections.totals import BATCH, sum_up

PRUNE_EVERY_S: Final = 3_600.0
LOOK_EVERY_S: Final = 5.0
"""How often figures are looked up and differences looked at again, at the most."""
CHECKPOINTS_EVERY_S: Final = 30.0
_MOST_CHECKPOINTS: Final = 200
_MOST_ROUNDS: Final = 20
"""Most transactions of one kind in a row, so that each kind has its turn."""

_log = structlog.get_logger("upcard_wallet.upkeep")


@dataclass
class Upkeep:
    """Every instance runs it: the work is shared by locks of the database, or harmless when done twice."""

    pool: Pool
    wallet: Wallet
    audit: Audit
    announce: Callable[[Sequence[Appended]], None]
    interval_s: float
    hold_alarm_s: float
    calls_kept_days: int = 400
    _due: dict[str, float] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)
    _old_holds: bool = False

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at its next turn."""
        jobs: tuple[tuple[str, float, Callable[[], Awaitable[None]]], ...] = (
            ("totals", self.interval_s, self._totals),
            ("ended rounds", self.interval_s, self._ended_rounds),
            ("checkpoints", max(self.interval_s, CHECKPOINTS_EVERY_S), self._checkpoints),
            ("figures", max(self.interval_s, LOOK_EVERY_S), self._figures),
            ("answers", PRUNE_EVERY_S, self._answers),
            ("partners' calls", PRUNE_EVERY_S, self._partner_calls),
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
        except Exception as error:  # noqa: BLE001 - whatever is wrong with figures, money goes on being held
            metrics.upkeep_failures.labels(name).inc()
            if name not in self._failed:
                passing = isinstance(error, PASSING)
                _log.warning("upkeep failed", what=name, exc_info=None if passing else error)
            self._failed.add(name)
        else:
            self._failed.discard(name)

    async def _totals(self) -> None:
        for _ in range(_MOST_ROUNDS):
            async with self.pool.acquire() as connection:
                if await sum_up(connection) < BATCH:
                    return

    async def _ended_rounds(self) -> None:
        for _ in range(_MOST_ROUNDS):
            async with self.pool.acquire() as connection, connection.transaction():
                appends = await free_ended(self.wallet, connection)
                appended = await append_in_transaction(connection, appends) if appends else ()
            if not appended:
                return
            self.announce(appended)

    async def _checkpoints(self) -> None:
        for _ in range(_MOST_ROUNDS):
            async with self.pool.acquire() as connection:
                if await make_checkpoints(connection, _MOST_CHECKPOINTS) < _MOST_CHECKPOINTS:
                    return

    async def _answers(self) -> None:
        async with self.pool.acquire() as connection:
            gone = await prune_answers(connection)
        if gone:
            _log.info("old answers are gone", answers=gone)

    async def _partner_calls(self) -> None:
        gone = 0
        for _ in range(_MOST_ROUNDS):
            async with self.pool.acquire() as connection:
                removed = await prune_partner_calls(connection, self.calls_kept_days)
            gone += removed
            if removed < MOST_LANES:
                break
        if gone:
            _log.info("old calls to partners are gone", lanes=gone)

    async def _figures(self) -> None:
        async with self.pool.acquire() as connection:
            await self.audit.look_again(connection)
            found = await self.audit.differences(connection)
            metrics.differences.clear()
            for one in found:
                metrics.differences.labels(one.kind).inc()
            overdue = alarms(found)
            metrics.difference_alarms.set(len(overdue))
            for one in overdue[:10]:
                _log.error("an invariant does not hold", difference=str(one))
            metrics.overdue_bets.set(await overdue_bets(connection))
            metrics.waiting_lanes.clear()
            metrics.failing_for.clear()
            for backlog in await backlogs(connection):
                metrics.waiting_lanes.labels(backlog.operator, "waiting").set(backlog.waiting)
                metrics.waiting_lanes.labels(backlog.operator, "parked").set(backlog.parked)
                metrics.failing_for.labels(backlog.operator).set(backlog.failing_for_s)
            age_s = await oldest_open_hold_s(connection)
        metrics.oldest_hold.set(age_s)
        if age_s > self.hold_alarm_s and not self._old_holds:
            _log.error("a hold is open for too long: the table has to resolve it", age_s=round(age_s))
        self._old_holds = age_s > self.hold_alarm_s
        metrics.figures_age.set(time.time())
