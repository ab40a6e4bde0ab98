"""The event store on Postgres: everything of the port, put together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from eventstore.events import (
    EVERYTHING,
    Appended,
    EventFilter,
    Expected,
    NewEvent,
    RecordedEvent,
    ShardPage,
    StreamAppend,
    StreamHead,
)
from eventstore.port import DEFAULT_TIMEOUT_S, PAGE_EVENTS
from eventstore.postgres import reading
from eventstore.postgres.batch_sender import Retrying
from eventstore.postgres.connections import Pool
from eventstore.postgres.group_appender import (
    DEFAULT_APPENDER_LIMITS,
    DEFAULT_RETRYING,
    AppenderLimits,
    GroupAppender,
)
from eventstore.postgres.subscription import subscribe
from eventstore.postgres.wake_up import Listener, Notifier
from eventstore.private import Keyring


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How a store behaves; see each part."""

    appender: AppenderLimits = DEFAULT_APPENDER_LIMITS
    retrying: Retrying = DEFAULT_RETRYING
    poll_interval_s: float = 1.0
    """Longest that a subscription sleeps when no wake-up comes."""
    notify_interval_s: float = 0.005
    """Shortest time between two wake-ups: 200 a second at most."""


DEFAULT_SETTINGS = StoreSettings()


class PostgresEventStore:
    """An `EventStore` over a pool whose sessions have limits (`open_pool`). Use it as a context manager.

    The pool's role needs membership in `eventstore_service`. `keyring` is only for a store whose appends
    have private parts; reading them is another object's (`PostgresPrivateReader`).
    """

    def __init__(
        self, pool: Pool, *, keyring: Keyring | None = None, settings: StoreSettings = DEFAULT_SETTINGS
    ) -> None:
        self._pool = pool
        self._settings = settings
        self._notifier = Notifier(pool, interval_s=settings.notify_interval_s)
        self._listener = Listener(pool)
        self._appender = GroupAppender(
            pool,
            on_stored=self._notifier.stored,
            keyring=keyring,
            limits=settings.appender,
            retrying=settings.retrying,
        )

    async def close(self) -> None:
        """Answer whoever waits, then give all connections back. The pool stays the caller's."""
        await self._appender.close()
        await self._notifier.close()
        await self._listener.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def append(
        self,
        stream: str,
        events: Sequence[NewEvent],
        *,
        expected: Expected,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Appended:
        """See `port.Appender`."""
        return await self._appender.append(stream, events, expected=expected, timeout_s=timeout_s)

    async def append_all(
        self, appends: Sequence[StreamAppend], *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> tuple[Appended, ...]:
        """See `port.Appender`."""
        return await self._appender.append_all(appends, timeout_s=timeout_s)

    @property
    def waiting(self) -> int:
        """Callers that wait for their append's answer: a metric."""
        return self._appender.waiting

    @property
    def lost_wake_ups(self) -> int:
        """Wake-ups that could not be sent; subscribers found the events by polling: a metric."""
        return self._notifier.lost

    def announce(self, appended: Sequence[Appended]) -> None:
        """Wake the subscribers of all processes: after the commit of an `append_in_transaction`."""
        self._notifier.stored(appended)

    async def read_stream(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.read_stream(connection, stream, after, limit)

    async def read_stream_backward(
        self, stream: str, *, before: int | None = None, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.read_stream_backward(connection, stream, before, limit)

    async def iterate_stream(
        self, stream: str, *, after: int = 0, page: int = PAGE_EVENTS
    ) -> AsyncIterator[RecordedEvent]:
        """See `port.Reader`."""
        while True:
            events = await self.read_stream(stream, after=after, limit=page)
            for event in events:
                yield event
            if len(events) < page:
                return
            after = events[-1].stream_position

    async def read_contents(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[bytes, ...]:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.read_contents(connection, stream, after, limit)

    async def iterate_contents(
        self, stream: str, *, after: int = 0, page: int = PAGE_EVENTS
    ) -> AsyncIterator[tuple[bytes, ...]]:
        """See `port.Reader`."""
        ahead = asyncio.ensure_future(self.read_contents(stream, after=after, limit=page))
        try:
            while contents := await ahead:
                if len(contents) < page:
                    yield contents
                    return
                # The server works on the next page while the caller decodes this one.
                after += page
                ahead = asyncio.ensure_future(self.read_contents(stream, after=after, limit=page))
                await asyncio.sleep(0)
                yield contents
        finally:
            # A page that nobody asks for any more; nor for why it could not be read.
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)

    async def stream_head(self, stream: str) -> StreamHead:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.stream_head(connection, stream)

    async def read_shard(
        self, shard: int, *, after: int = 0, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> ShardPage:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.read_shard(connection, shard, after, limit, wanted)

    async def shard_heads(self) -> tuple[int, ...]:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.shard_heads(connection)

    async def find_events(self, event_ids: Sequence[UUID]) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        async with self._pool.acquire() as connection:
            return await reading.find_events(connection, event_ids)

    def subscribe(
        self,
        after: Mapping[int, int],
        *,
        page: int = PAGE_EVENTS,
        wanted: EventFilter = EVERYTHING,
        gather_s: float = 0.0,
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[ShardPage]]:
        """See `port.Reader`."""
        return subscribe(
            self._pool,
            self._listener,
            after,
            page=page,
            wanted=wanted,
            poll_interval_s=self._settings.poll_interval_s,
            gather_s=gather_s,
        )


class PostgresPrivateReader:
    """Reads private parts. Its pool's role needs membership in `eventstore_private`; no other role can."""

    def __init__(self, pool: Pool, keyring: Keyring) -> None:
        self._pool = pool
        self._keyring = keyring

    async def read_private(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> dict[int, bytes]:
        """See `port.PrivateReader`."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(
                "SELECT stream_position, key_id, ciphertext FROM eventstore.private_parts"
                " WHERE stream = $1 AND stream_position > $2"
                " AND period >= (SELECT first_period FROM eventstore.stream_heads WHERE stream = $1)"
                " AND period <= (SELECT period FROM eventstore.stream_heads WHERE stream = $1)"
                " ORDER BY period, stream_position LIMIT $3",
                stream,
                after,
                limit,
            )
        return {
            position: self._keyring.decrypt(key_id, ciphertext, stream, position)
            for position, key_id, ciphertext in rows
        }
