"""Sending one batch until every caller in it has an answer: retries, splitting.

And outcomes that are not known.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.errors import AppendFailed, EventStoreError, OutcomeUnknown, ShardBusy
from eventstore.events import Appended
from eventstore.faults import reach
from eventstore.postgres.append_call import Busy, append_requests
from eventstore.postgres.connections import SESSION_LOST, Connection, Pool
from eventstore.postgres.pending import Pending
from eventstore.private import Keyring

# After one of these nobody knows whether the statement was committed. Every other error of the server means
# that it was rolled back: the statement is a transaction of its own, and its answer comes after the commit.
_LOST: Final = (
    asyncpg.PostgresConnectionError,  # class 08
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    *SESSION_LOST,
)

# The server rolled it back to get two transactions out of each other's way.
_ROLLED_BACK_BLAMELESS: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


@dataclass(frozen=True, slots=True)
class Retrying:
    """How a lost connection is got over. The pauses double; each is shortened by up to half, at random."""

    tries: int = 8
    first_pause_s: float = 0.05
    longest_pause_s: float = 2.0
    call_timeout_s: float = 15.0
    """Longest wait for one answer of the database; more than its own `statement_timeout`."""

    def pause_s(self, tried: int) -> float:
        """Pause after so many tries, in seconds."""
        longest = min(self.first_pause_s * 2.0 ** (tried - 1), self.longest_pause_s)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads the retries of many processes


OnStored = Callable[[Sequence[Appended]], None]


class BatchSender:
    """Keeps one connection and sends batches over it, one at a time."""

    def __init__(self, pool: Pool, keyring: Keyring | None, retrying: Retrying, on_stored: OnStored) -> None:
        self._pool = pool
        self._keyring = keyring
        self._retrying = retrying
        self._on_stored = on_stored
        self._connection: Connection | None = None
        self._releasing: set[asyncio.Future[None]] = set()

    async def send(self, batch: Sequence[Pending], *, wait_for_shards: bool) -> list[tuple[Pending, Busy]]:
        """Answer every caller of the batch, but those whose shard is busy: these are given back."""
        return await self._send(batch, _How(wait_for_shards, look_up_all=False))

    async def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._pool.release(connection)  # type: ignore[arg-type]  # it came from the pool

    async def _send(self, batch: Sequence[Pending], how: "_How") -> list[tuple[Pending, Busy]]:
        tried = 0
        while waiting := [pending for pending in batch if not pending.answer.done()]:
            tried += 1
            try:
                return await self._try(waiting, how)
            except _LOST as error:
                reach("append.unknown")
                for pending in waiting:
                    pending.lost = pending.sent
                self._drop_connection()
                await self._pause_or_fail(tried, waiting, error)
            except _ROLLED_BACK_BLAMELESS as error:
                await self._pause_or_fail(tried, waiting, error)
            except (asyncpg.PostgresError, EventStoreError) as error:
                if isinstance(error, asyncpg.UniqueViolationError) and not how.look_up_all:
                    # An id that is stored already met an expectation that came true all the same: look first.
                    how = _How(how.wait_for_shards, look_up_all=True)
                elif _concerns_all(error, waiting):
                    for pending in waiting:
                        pending.fail(_refused(error))
                else:
                    return await self._split(waiting, how)
        return []

    async def _pause_or_fail(self, tried: int, waiting: Sequence[Pending], error: Exception) -> None:
        if tried < self._retrying.tries:
            await asyncio.sleep(self._retrying.pause_s(tried))
            return
        for pending in waiting:
            pending.fail(_gave_up(pending, error))

    async def _split(self, batch: Sequence[Pending], how: "_How") -> list[tuple[Pending, Busy]]:
        # One of them spoils it for all, and the error does not say which: halve until it stands alone. Halves
        # keep the order, so a caller that follows another on its stream still does.
        half = len(batch) // 2
        return await self._send(batch[:half], how) + await self._send(batch[half:], how)

    async def _try(self, batch: Sequence[Pending], how: "_How") -> list[tuple[Pending, Busy]]:
        reach("append.before_send")
        async with asyncio.timeout(self._retrying.call_timeout_s):
            connection = self._connection
            if connection is None:
                connection = self._connection = await self._pool.acquire()
                # Meanwhile some may have gone; from here on what a caller is told depends on `sent`.
                batch = [pending for pending in batch if not pending.answer.done()]
            for pending in batch:
                pending.sent = True
            verdicts = await append_requests(
                connection,
                [pending.request for pending in batch],
                self._keyring,
                wait_for_shards=how.wait_for_shards,
                look_up_all=how.look_up_all,
            )
        reach("append.after_commit")
        busy: list[tuple[Pending, Busy]] = []
        stored: list[Appended] = []
        for pending, verdict in zip(batch, verdicts, strict=True):
            if isinstance(verdict, tuple):
                pending.succeed(verdict)
                stored.extend(verdict)
            elif isinstance(verdict, Busy):
                pending.sent = pending.lost  # this try stored nothing; one that was lost may have
                busy.append((pending, verdict))
            else:
                pending.fail(verdict)
        reach("append.told")
        if stored:
            self._on_stored(stored)
        return busy

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Not closed politely: that would wait for a server that may never answer. When asyncpg has seen
            # the loss itself, the pool has taken the connection back already.
            with contextlib.suppress(asyncpg.InterfaceError):
                connection.terminate()
            released = self._pool.release(connection)  # type: ignore[arg-type]  # it came from the pool
            releasing = asyncio.ensure_future(released)
            self._releasing.add(releasing)
            releasing.add_done_callback(self._releasing.discard)


@dataclass(frozen=True, slots=True)
class _How:
    """The two switches of `append_requests`."""

    wait_for_shards: bool
    look_up_all: bool


def _concerns_all(error: Exception, waiting: Sequence[Pending]) -> bool:
    # A shard that could not be had is the same for all who need only that one.
    if isinstance(error, asyncpg.LockNotAvailableError) and len({p.shards for p in waiting}) == 1:
        return True
    return len(waiting) == 1


def _gave_up(pending: Pending, error: Exception) -> EventStoreError:
    if pending.sent:
        return _caused(OutcomeUnknown(pending.event_ids, f"the connection was lost ({error!r})"), error)
    return _caused(AppendFailed(f"the database cannot be reached ({error!r})"), error)


def _refused(error: Exception) -> EventStoreError:
    if isinstance(error, EventStoreError):
        return error
    if isinstance(error, asyncpg.LockNotAvailableError):
        return _caused(ShardBusy(f"the shard is held by someone: {error}"), error)
    return _caused(AppendFailed(f"the database refused: {error}"), error)


def _caused(error: EventStoreError, cause: Exception) -> EventStoreError:
    error.__cause__ = cause
    return error
