"""Waking subscribers: one NOTIFY for many commits, sent after them, from a connection of its own.

Inside the append it would serialise all commits of the server: NOTIFY takes a lock of the whole database up
to the commit. Nothing depends on a wake-up arriving; whoever waits also polls.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from contextvars import Context
from typing import Final

import asyncpg

from eventstore.events import Appended
from eventstore.faults import reach
from eventstore.postgres.connections import SESSION_LOST, Connection, Pool

CHANNEL: Final = "eventstore_appended"
"""The payload is the numbers of the shards appended to, with commas between."""

_UNREACHABLE: Final = (asyncpg.PostgresError, *SESSION_LOST)


class Notifier:
    """Tells other processes which shards have new events, at most every `interval_s` seconds."""

    def __init__(self, pool: Pool, *, interval_s: float = 0.005, call_timeout_s: float = 5.0) -> None:
        self._pool = pool
        self._interval_s = interval_s
        self._call_timeout_s = call_timeout_s
        self._shards: set[int] = set()
        self._task: asyncio.Task[None] | None = None
        self.lost = 0
        """Wake-ups that could not be sent: a metric. The sleepers find out by polling."""

    def stored(self, appended: Sequence[Appended]) -> None:
        """These were stored: the first call wakes at once, the following ones together."""
        self._shards.update(one.shard for one in appended)
        self._start()

    async def close(self) -> None:
        """Send what is still to be sent."""
        while self._task is not None:
            await self._task

    def _start(self) -> None:
        if self._task is None and self._shards:
            self._task = asyncio.create_task(self._send(), name="eventstore notifier", context=Context())

    async def _send(self) -> None:
        # Lives as long as there is something to send; then it gives the connection back.
        try:
            async with asyncio.timeout(self._call_timeout_s):
                connection = await self._pool.acquire()
            try:
                while self._shards:
                    shards, self._shards = sorted(self._shards), set()
                    await connection.execute(
                        "SELECT pg_notify($1, $2)",
                        CHANNEL,
                        ",".join(map(str, shards)),
                        timeout=self._call_timeout_s,
                    )
                    reach("notify.sent")
                    await asyncio.sleep(self._interval_s)
            finally:
                await self._pool.release(connection)
        except _UNREACHABLE:
            self.lost += 1
            self._shards.clear()
        finally:
            self._task = None
            self._start()  # for what came while the connection was being given back


class Listener:
    """Wakes the subscribers of this process. One connection for all of them, for as long as there are any."""

    def __init__(self, pool: Pool, *, reconnect_pause_s: float = 1.0) -> None:
        self._pool = pool
        self._reconnect_pause_s = reconnect_pause_s
        self._sleepers: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()
        """Set while a connection listens; a wake-up of a later commit is not missed."""

    @contextlib.contextmanager
    def sleeper(self) -> Iterator[asyncio.Event]:
        """An event that is set whenever something may have been appended."""
        woken = asyncio.Event()
        self._sleepers.add(woken)
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="eventstore listener", context=Context())
        try:
            yield woken
        finally:
            self._sleepers.discard(woken)

    async def close(self) -> None:
        """Stop listening."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(*_UNREACHABLE):
                async with self._pool.acquire() as connection:
                    await self._until_lost(connection)
            await asyncio.sleep(self._reconnect_pause_s)

    async def _until_lost(self, connection: Connection) -> None:
        lost = asyncio.Event()

        def wake(*_: object) -> None:
            for woken in self._sleepers:
                woken.set()

        def end(*_: object) -> None:
            lost.set()

        connection.add_termination_listener(end)
        await connection.add_listener(CHANNEL, wake)
        try:
            self.listening.set()
            wake()  # what came before this is not announced any more
            await lost.wait()
        finally:
            self.listening.clear()
            if not connection.is_closed():
                connection.remove_termination_listener(end)
                await connection.remove_listener(CHANNEL, wake)
