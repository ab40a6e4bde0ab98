"""`History` on the views and the mirrored log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Final

from eventstore.port import Reader
from eventstore.postgres import Pool
from rules_core.explain.sentence import Explanation
from rules_core.views.viewers import Operations, Viewer
from upcard_history.adapters.postgres.figures import Figures
from upcard_history.adapters.postgres.lists import Lists, check_limit
from upcard_history.adapters.postgres.statements import Statements
from upcard_history.app.reading import PAGE_MAX, ReplayRun, RoundDetail, TimelineEntry
from upcard_history.app.replaying import bundle_of, replay_round
from upcard_history.app.round_states import RoundStates
from upcard_history.app.viewing import timeline_of, view_of

_WRONG: Final = """
SELECT round, position, outcome, ran_at, report FROM history.replay_runs
 WHERE outcome <> 'agreed' ORDER BY ran_at DESC LIMIT $1
"""


class PostgresHistory(Lists, Statements, Figures):
    """Everything that can be read, of one database.

    `executor` is where replays and bundles are made (None: the loop's own threads), at most `replays_at_once`
    of them; others wait.
    """

    def __init__(
        self,
        pool: Pool,
        reader: Reader,
        *,
        executor: Executor | None = None,
        replays_at_once: int = 2,
        states: RoundStates | None = None,
    ) -> None:
        super().__init__(pool)
        self._pool = pool
        self._reader = reader
        self._executor = executor
        self._states = RoundStates(reader) if states is None else states
        self._turns = asyncio.Semaphore(replays_at_once)

    async def round_detail(self, round_name: str, viewer: Viewer) -> RoundDetail | None:
        """See `History`."""
        row = await self.round_row(round_name)
        found = await view_of(self._reader, round_name, viewer) if row is not None else None
        if row is None or found is None:
            return None
        view, position = found
        if not isinstance(viewer, Operations):
            row = replace(row, totals=())
        return RoundDetail(row, view, position)

    def timeline(self, round_name: str, viewer: Viewer) -> AsyncIterator[TimelineEntry]:
        """See `History`."""
        return timeline_of(self._reader, round_name, viewer)

    async def explained(self, round_name: str, player: str | None) -> Mapping[str, Explanation] | None:
        """See `History`."""
        return await self._states.explained(round_name, player)

    async def replay(self, round_name: str) -> ReplayRun | None:
        """See `History`."""
        async with self._turns:
            found = await replay_round(self._reader, round_name, executor=self._executor)
        if found is None:
            return None
        return ReplayRun(round_name, found.position, found.outcome, None, found.report, found.sentences)

    async def bundle(self, round_name: str, player: str | None) -> bytes | None:
        """See `History`."""
        async with self._turns:
            return await bundle_of(self._reader, round_name, player, executor=self._executor)

    async def replays_that_disagree(self, *, limit: int) -> tuple[ReplayRun, ...]:
        """See `History`."""
        check_limit(limit, PAGE_MAX)
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_WRONG, limit)
        return tuple(
            ReplayRun(
                row["round"],
                row["position"],
                row["outcome"],
                row["ran_at"],
                json.loads(row["report"]),
                (),
            )
            for row in rows
        )
