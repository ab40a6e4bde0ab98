"""The job that replays every round that ended, and rings when one does not agree."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final, Protocol

from eventstore.port import Reader
from eventstore.postgres import Pool
from upcard_history.app.replay_queue import (
    CLAIM_S,
    Due,
    ReplayStanding,
    claim,
    leave,
    note_run,
    replay_standing,
)
from upcard_history.app.replaying import Replayed, replay_round

REPLAY_WITHIN_S: Final = CLAIM_S / 2
"""Longest that one replay may take before it is given up and tried again later."""

_LONGEST_PAUSE_S: Final = 10.0


class ReplayObserver(Protocol):
    """Who is told how replaying goes."""

    def replayed(self, round_name: str, outcome: str, took_s: float) -> None:
        """One round was replayed; an outcome other than `agreed` is an alarm."""
        ...

    def failed(self, error: BaseException) -> None:
        """A replay, or a look for what is due, failed; it is tried again."""
        ...

    def standing(self, standing: ReplayStanding) -> None:
        """How it stands; `wrong` above 0 is an alarm."""
        ...


class ReplayJob:
    """Any number of instances may run it: a round is claimed by one, and by another one if that dies."""

    def __init__(
        self,
        pool: Pool,
        reader: Reader,
        observer: ReplayObserver,
        *,
        interval_s: float = 1.0,
        executor: Executor | None = None,
        reach: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`executor`: where replays are run; None: the loop's own threads. `reach`: fault points of tests."""
        self._pool = pool
        self._reader = reader
        self._observer = observer
        self._interval_s = interval_s
        self._executor = executor
        self._reach = reach

    async def run(self, ending: asyncio.Event) -> None:
        """Replay what is due until `ending` is set; what fails is told and tried again."""
        pause_s = self._interval_s
        while not ending.is_set():
            try:
                busy = await self.replay_next()
                if not busy:
                    await self._look()
            except Exception as error:  # noqa: BLE001 - whatever one round does, the others are replayed
                self._observer.failed(error)
                busy = False
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                pause_s = self._interval_s
            if not busy:
                try:
                    async with asyncio.timeout(pause_s):
                        await ending.wait()
                except TimeoutError:
                    continue

    async def replay_next(self) -> bool:
        """Replay the round that waits longest; False: none is due."""
        async with self._pool.acquire() as connection:
            due = await claim(connection)
        if due is None:
            return False
        self._reach("replay.claimed")
        began = time.monotonic()
        async with asyncio.timeout(REPLAY_WITHIN_S):
            found = await replay_round(self._reader, due.round, executor=self._executor)
        self._reach("replay.replayed")
        await self._keep(due, found, time.monotonic() - began)
        self._reach("replay.kept")
        return True

    async def _keep(self, due: Due, found: Replayed | None, took_s: float) -> None:
        async with self._pool.acquire() as connection:
            if found is None or found.outcome == "not_ended":
                # A correction is under way: its end makes the round due again.
                await leave(connection, due)
                return
            report = json.dumps(found.report)
            await note_run(connection, due, found.position, found.outcome, report, round(took_s * 1_000))
        self._observer.replayed(due.round, found.outcome, took_s)

    async def _look(self) -> None:
        async with self._pool.acquire() as connection:
            self._observer.standing(await replay_standing(connection))
