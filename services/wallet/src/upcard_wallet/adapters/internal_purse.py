"""The internal purse: the money lies in our ledger, so placing holds is one transaction without a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import asyncpg
import structlog

from eventstore import Appended
from eventstore.postgres import SESSION_LOST, Connection, Pool, append_in_transaction
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

    def cash_book(self, account: AccountRef) -> BookKey:
        """See `app.purse.Purse`."""
        return BookKey("player_cash", account.account, account.currency)

    async def place(
        self, groups: Sequence[HoldGroup], deadline: float, heard: Heard | None = None
    ) -> Sequence[Outcome]:
        """See `app.purse.Purse`. `unknown` only when the database could not be reached in time.

        Then nothing may be held or all of it; asking again with the same `bet_id` tells.
        """
        outcomes: list[Outcome] = []
        try:
            async with asyncio.timeout_at(deadline):
                for first in range(0, len(groups), _MOST_AT_ONCE):
                    placed = await self._place_apart(groups[first : first + _MOST_AT_ONCE])
                    outcomes += placed
                    if heard is not None:
                        for place, outcome in enumerate(placed, start=first):
                            heard(place, outcome)
        except (TimeoutError, *_AGAIN):
            pass
        return outcomes + [UNKNOWN] * (len(groups) - len(outcomes))

    async def release(self, connection: Connection, holds: Sequence[FreedHold]) -> None:
        """Nothing is outside."""

    async def settle(self, connection: Connection, settled: Sequence[SettledPlayer]) -> None:
        """Nothing is outside."""

    async def credit(self, connection: Connection, items: Sequence[Credit]) -> None:
        """Nothing is outside."""

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
