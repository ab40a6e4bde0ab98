"""The internal purse: the money lies in our ledger, so placing holds is one transaction without a call."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import asyncpg
import structlog

from eventstore import Appended
from eventstore.postgres import SESSION_LOST, Connection, Pool, append_in_transaction
from servicekit.context import detached
from upcard_wallet.adapters import faults
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.ports import HoldExists
from upcard_wallet.app.purse import (
    UNKNOWN,
    AccountRef,
    BookKey,
    Credit,
    FreedHold,
    Heard,
    HoldGroup,
    Outcome,
    PurseKind,
    SettledPlayer,
)

_log = structlog.get_logger("upcard_wallet.internal_purse")

_MOST_AT_ONCE: Final = 500
"""Most commands of one transaction: their players wait for it."""

LANES: Final = 4
"""Transactions at a time: more of them wait for each other, fewer let a slow one hold up too much."""
WAITING_MAX: Final = 10_000
"""Most commands that wait in one lane."""

_TRIES: Final = 8
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5

_AGAIN: Final = (
    HoldExists,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    *SESSION_LOST,
)
"""What may be over in a moment. Asking again is safe: what was stored is found."""


class InternalPurse:
    """A `Purse` in the ledger's own database."""

    kind: PurseKind = "internal"
    limited: bool = True

    def __init__(self, pool: Pool, records: Records, announce: Callable[[Sequence[Appended]], None]) -> None:
        self._pool = pool
        self._records = records
        self._announce = announce
        self._lanes = [_Lane(self._place_together) for _ in range(LANES)]

    def cash_book(self, account: AccountRef) -> BookKey:
        """See `app.purse.Purse`."""
        return BookKey("player_cash", account.account, account.currency)

    async def place(
        self, groups: Sequence[HoldGroup], deadline: float, heard: Heard | None = None
    ) -> Sequence[Outcome]:
        """See `app.purse.Purse`. `unknown` when the database could not be reached in time, or too many wait.

        Then nothing may be held or all of it; asking again with the same `bet_id` tells. What is not begun by
        the deadline, or when the caller goes, is never begun.
        """
        loop = asyncio.get_running_loop()
        asked: list[asyncio.Future[Outcome]] = []
        for place, group in enumerate(groups):
            answer = loop.create_future()
            if heard is not None:
                answer.add_done_callback(partial(_tell, heard, place))
            asked.append(answer)
            self._lanes[zlib.crc32(group.account.account.encode()) % LANES].put(group, answer)
        try:
            if asked:
                await asyncio.wait(asked, timeout=max(0.0, deadline - loop.time()))
            return [one.result() if one.done() else UNKNOWN for one in asked]
        finally:
            for one in asked:
                one.cancel()

    async def cash_outside(self, account: AccountRef, within_s: float) -> None:
        """None: our ledger says what the player has."""

    async def release(self, connection: Connection, holds: Sequence[FreedHold]) -> None:
        """Nothing is outside."""

    async def settle(self, connection: Connection, settled: Sequence[SettledPlayer]) -> None:
        """Nothing is outside."""

    async def credit(self, connection: Connection, items: Sequence[Credit]) -> None:
        """Nothing is outside."""

    async def _place_together(self, groups: Sequence[HoldGroup]) -> Sequence[Outcome]:
        try:
            return await self._place_apart(groups)
        except _AGAIN as error:
            _log.warning("holds not placed", why=type(error).__name__, commands=len(groups))
            return [UNKNOWN] * len(groups)

    async def _place_apart(self, groups: Sequence[HoldGroup]) -> Sequence[Outcome]:
        """Place groups together; where that fails for no passing reason, each half apart."""
        try:
            return await self._place_patiently(groups)
        except _AGAIN:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it must not fail the others; it is logged
            if len(groups) == 1:
                _log.exception("holds not placed", round=groups[0].round, bet_id=groups[0].bet_id)
                return [UNKNOWN]
        half = len(groups) // 2
        return [*await self._place_apart(groups[:half]), *await self._place_apart(groups[half:])]

    async def _place_patiently(self, groups: Sequence[HoldGroup]) -> Sequence[Outcome]:
        pause_s = _FIRST_PAUSE_S
        for _ in range(_TRIES - 1):
            try:
                return await self._place(groups)
            except _AGAIN:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return await self._place(groups)

    async def _place(self, groups: Sequence[HoldGroup]) -> Sequence[Outcome]:
        appended: tuple[Appended, ...] = ()
        async with self._pool.acquire() as connection:
            async with connection.transaction():
                outcomes, appends = await self._records.place_at_once(connection, groups)
                if appends:
                    appended = await append_in_transaction(connection, appends)
                faults.reach("holds.before_commit")
            faults.reach("holds.committed")
        self._announce(appended)
        return outcomes


class _Lane:
    """Commands of some of the accounts, in their order: a transaction takes what queued during the last one.

    Transactions side by side would wait for each other all the same, at the log's shards, and each would pay
    for a commit of its own. An account has one lane, so its commands keep their order; a transaction that has
    to wait for the end of a round holds up its own lane alone.
    """

    def __init__(self, place: Callable[[Sequence[HoldGroup]], Awaitable[Sequence[Outcome]]]) -> None:
        self._place = place
        self._waiting: deque[tuple[HoldGroup, asyncio.Future[Outcome]]] = deque()
        self._worker: asyncio.Task[None] | None = None

    def put(self, group: HoldGroup, answer: asyncio.Future[Outcome]) -> None:
        """Queue a command; a full queue answers `unknown` at once, and the command is never begun."""
        if len(self._waiting) >= WAITING_MAX:
            answer.set_result(UNKNOWN)
            return
        self._waiting.append((group, answer))
        if self._worker is None:
            # In a context of its own: it serves many callers, and may outlive the first one.
            self._worker = asyncio.get_running_loop().create_task(self._work(), context=detached())

    async def _work(self) -> None:
        try:
            while batch := self._next():
                await self._serve(batch)
        finally:
            self._worker = None

    def _next(self) -> list[tuple[HoldGroup, asyncio.Future[Outcome]]]:
        batch: list[tuple[HoldGroup, asyncio.Future[Outcome]]] = []
        while self._waiting and len(batch) < _MOST_AT_ONCE:
            group, answer = self._waiting.popleft()
            if not answer.done():  # else its caller has gone
                batch.append((group, answer))
        return batch

    async def _serve(self, batch: Sequence[tuple[HoldGroup, asyncio.Future[Outcome]]]) -> None:
        outcomes: Sequence[Outcome] = [UNKNOWN] * len(batch)
        try:
            outcomes = await self._place([group for group, _ in batch])
        finally:  # also when it is cut off: nobody waits for an answer that does not come
            for (_, answer), outcome in zip(batch, outcomes, strict=True):
                if not answer.done():
                    answer.set_result(outcome)


def _tell(heard: Heard, place: int, answer: asyncio.Future[Outcome]) -> None:
    if not answer.cancelled():
        heard(place, answer.result())
