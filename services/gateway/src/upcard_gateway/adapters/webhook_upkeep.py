"""What goes on beside sending webhooks: bounds of the queue, figures, and removing what is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncpg
import structlog

from eventstore.coordination.outages import PASSING
from eventstore.postgres import Connection, Pool
from upcard_gateway.adapters import webhook_metrics
from upcard_gateway.adapters.postgres.webhook_rounds import prune_rounds

FIGURES_EVERY_S: Final = 5.0
PRUNE_EVERY_S: Final = 600.0
_MOST: Final = 2_000
_MOST_TURNS: Final = 20
"""Most transactions of one kind in a row, so that each kind has its turn."""
_ROUNDS_KEPT_DAYS: Final = 30

_log = structlog.get_logger("upcard_gateway.webhooks")

# Counted no further than the bound, so that a long queue costs no more than that.
_FULL: Final = """
UPDATE gateway.webhook_endpoints AS e SET is_full = NOT e.is_full
 WHERE e.removed_at IS NULL AND e.is_full <> (
           SELECT count(*) >= $1 FROM (
               SELECT FROM gateway.webhook_deliveries AS d
                WHERE d.endpoint = e.endpoint AND d.state = 'queued' LIMIT $1
           ) AS waiting)
"""

_FIGURES: Final = """
SELECT (SELECT count(*) FROM gateway.webhook_deliveries WHERE state = 'queued') AS queued,
       (SELECT count(*) FROM gateway.webhook_deliveries WHERE state = 'parked') AS parked,
       (SELECT count(*) FROM gateway.webhook_endpoints WHERE failures > 0 AND removed_at IS NULL) AS failing,
       (SELECT greatest(coalesce(extract(epoch FROM now() - min(first.due_at)), 0.0), 0.0)::double precision
          FROM gateway.webhook_endpoints AS e CROSS JOIN LATERAL (
              SELECT l.due_at FROM gateway.webhook_lanes AS l
               WHERE l.endpoint = e.endpoint AND l.due_at IS NOT NULL ORDER BY l.due_at LIMIT 1
          ) AS first
         WHERE e.removed_at IS NULL AND e.failures = 0) AS due_for_s
"""

_PRUNE: Final = """
DELETE FROM gateway.webhook_deliveries WHERE webhook IN (
    SELECT webhook FROM gateway.webhook_deliveries
     WHERE state <> 'queued' AND changed_at < now() - make_interval(days => least($1::integer, $2::integer))
       AND changed_at < now() - make_interval(days => CASE state WHEN 'parked' THEN $2 ELSE $1 END)
     ORDER BY changed_at LIMIT $3
)
RETURNING endpoint, subject
"""

_PRUNE_REMOVED: Final = """
DELETE FROM gateway.webhook_deliveries WHERE webhook IN (
    SELECT d.webhook FROM gateway.webhook_endpoints AS e JOIN gateway.webhook_deliveries AS d USING (endpoint)
     WHERE e.removed_at < now() - make_interval(days => $1) AND d.state = 'queued' LIMIT $2
)
RETURNING endpoint, subject
"""

# Somebody who queues in a lane holds its lock: such a lane stays.
_LOCK_LANES: Final = """
SELECT l.endpoint, l.subject
  FROM (
      SELECT DISTINCT endpoint, subject FROM unnest($1::text[], $2::text[]) AS one (endpoint, subject)
  ) AS pruned
  JOIN gateway.webhook_lanes AS l USING (endpoint, subject)
 ORDER BY l.endpoint, l.subject FOR UPDATE OF l SKIP LOCKED
"""

# A statement of its own, hence a new snapshot: it sees what was queued before the locks were there.
_PRUNE_LANES: Final = """
DELETE FROM gateway.webhook_lanes AS lanes
 USING unnest($1::text[], $2::text[]) AS locked (endpoint, subject)
 WHERE lanes.endpoint = locked.endpoint AND lanes.subject = locked.subject
   AND NOT EXISTS (SELECT FROM gateway.webhook_deliveries AS d
                    WHERE d.endpoint = locked.endpoint AND d.subject = locked.subject)
"""


@dataclass
class WebhookUpkeep:
    """Every instance runs it: doing it twice does no harm."""

    pool: Pool
    queue_max: int
    kept_days: int
    parked_kept_days: int
    figures_every_s: float = FIGURES_EVERY_S
    prune_every_s: float = PRUNE_EVERY_S
    _due: dict[str, float] = field(default_factory=dict)

    async def run(self, ending: asyncio.Event) -> None:
        """Go on until `ending` is set; what fails is told, and tried again at its next turn."""
        jobs: tuple[tuple[str, float, Callable[[], Awaitable[None]]], ...] = (
            ("figures", self.figures_every_s, self.figures),
            ("pruning", self.prune_every_s, self.prune),
        )
        while not ending.is_set():
            for name, every_s, job in jobs:
                if time.monotonic() >= self._due.get(name, 0.0):
                    await self._patiently(name, job)
                    self._due[name] = time.monotonic() + every_s
            try:
                async with asyncio.timeout(self.figures_every_s):
                    await ending.wait()
            except TimeoutError:
                continue

    async def figures(self) -> None:
        """Look which endpoints have too much waiting, and what metrics show."""
        async with self.pool.acquire() as connection:
            await connection.execute(_FULL, self.queue_max)
            row = (await connection.fetch(_FIGURES))[0]
        webhook_metrics.waiting.labels("queued").set(row["queued"])
        webhook_metrics.waiting.labels("parked").set(row["parked"])
        webhook_metrics.failing_endpoints.set(row["failing"])
        webhook_metrics.oldest.set(row["due_for_s"])

    async def prune(self) -> None:
        """Remove what has been over for long enough.

        Webhooks, subjects with their last one, and what was kept of rounds that never ended.
        """
        for job in (self._deliveries, self._of_removed, self._rounds):
            for _ in range(_MOST_TURNS):
                async with self.pool.acquire() as connection, connection.transaction():
                    if await job(connection) < _MOST:
                        break

    async def _deliveries(self, connection: Connection) -> int:
        rows = await connection.fetch(_PRUNE, self.kept_days, self.parked_kept_days, _MOST)
        return await _with_lanes(connection, rows)

    async def _of_removed(self, connection: Connection) -> int:
        return await _with_lanes(connection, await connection.fetch(_PRUNE_REMOVED, self.kept_days, _MOST))

    async def _rounds(self, connection: Connection) -> int:
        return await prune_rounds(connection, _ROUNDS_KEPT_DAYS, _MOST)

    async def _patiently(self, name: str, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with figures, webhooks go on being sent
            passing = isinstance(error, PASSING)
            _log.warning("upkeep of webhooks failed", what=name, exc_info=None if passing else error)


async def _with_lanes(connection: Connection, rows: Sequence[asyncpg.Record]) -> int:
    """Remove the lanes of removed webhooks that have none any more; how many webhooks there were."""
    if rows:
        locked = await connection.fetch(_LOCK_LANES, *_columns(rows))
        await connection.execute(_PRUNE_LANES, *_columns(locked))
    return len(rows)


def _columns(rows: Sequence[asyncpg.Record]) -> tuple[list[str], list[str]]:
    return [row["endpoint"] for row in rows], [row["subject"] for row in rows]
