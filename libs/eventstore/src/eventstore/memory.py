"""The in-memory twin: the whole port without a database, for tests of what stands upon a store.

It passes the very same contract tests as Postgres. It is not durable, and belongs to one event loop.
"""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from uuid import UUID

from eventstore.checking import check_appends, check_page, check_shard
from eventstore.errors import EventIdReused, InvalidAppend, LogBroken, VersionConflict
from eventstore.events import (
    EVERYTHING,
    PAGE_BYTES,
    Appended,
    EventFilter,
    Expect,
    Expected,
    NewEvent,
    RecordedEvent,
    ShardPage,
    StreamAppend,
    StreamHead,
    through_of,
)
from eventstore.port import DEFAULT_TIMEOUT_S, PAGE_EVENTS
from eventstore.private import Keyring
from eventstore.streams import SHARDS, category_of, content_hash_of, first_prev_hash, hash_of, shard_of


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class MemoryEventStore:
    """An `EventStore` and a `PrivateReader` in memory. `now` gives `recorded_at`."""

    def __init__(self, *, keyring: Keyring | None = None, now: Callable[[], dt.datetime] = _now) -> None:
        self._keyring = keyring
        self._now = now
        self._streams: dict[str, list[RecordedEvent]] = {}
        self._shards: list[list[RecordedEvent]] = [[] for _ in range(SHARDS)]
        self._by_id: dict[UUID, RecordedEvent] = {}
        self._private: dict[tuple[str, int], tuple[str, bytes]] = {}
        self._sleepers: set[asyncio.Event] = set()

    async def append(
        self,
        stream: str,
        events: Sequence[NewEvent],
        *,
        expected: Expected,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Appended:
        """See `port.Appender`."""
        (appended,) = await self.append_all([StreamAppend(stream, expected, events)], timeout_s=timeout_s)
        return appended

    async def append_all(
        self,
        appends: Sequence[StreamAppend],
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,  # noqa: ARG002 - nothing here can take long
    ) -> tuple[Appended, ...]:
        """See `port.Appender`."""
        check_appends(appends)
        if self._keyring is None and any(
            event.private is not None for one in appends for event in one.events
        ):
            raise InvalidAppend("a private part needs a keyring, and this store has none")
        already = [self._already(one) for one in appends]
        stored = tuple(one for one in already if one is not None)
        if len(stored) == len(appends):
            return stored
        for one, known in zip(appends, already, strict=True):
            found = len(self._streams.get(one.stream, ()))
            if known is None and not _met(one.expected, found):
                raise VersionConflict(one.stream, one.expected, found)
        if stored:
            clash = appends[already.index(stored[0])]
            raise EventIdReused(clash.stream, clash.events[0].event_id)
        appended = tuple(self._store(one) for one in appends)
        for woken in self._sleepers:
            woken.set()
        return appended

    async def read_stream(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        check_page(after, limit)
        return tuple(self._streams.get(stream, [])[after : after + limit])

    async def read_stream_backward(
        self, stream: str, *, before: int | None = None, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        check_page(before or 0, limit)
        events = self._streams.get(stream, [])
        end = len(events) if before is None else min(before - 1, len(events))
        return tuple(reversed(events[max(0, end - limit) : max(0, end)]))

    async def iterate_stream(
        self,
        stream: str,
        *,
        after: int = 0,
        page: int = PAGE_EVENTS,
    ) -> AsyncIterator[RecordedEvent]:
        """See `port.Reader`."""
        while events := await self.read_stream(stream, after=after, limit=page):
            for event in events:
                yield event
            after = events[-1].stream_position

    async def read_contents(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[bytes, ...]:
        """See `port.Reader`."""
        return tuple(event.content for event in await self.read_stream(stream, after=after, limit=limit))

    async def iterate_contents(
        self, stream: str, *, after: int = 0, page: int = PAGE_EVENTS
    ) -> AsyncIterator[tuple[bytes, ...]]:
        """See `port.Reader`."""
        while contents := await self.read_contents(stream, after=after, limit=page):
            yield contents
            after += page

    async def stream_head(self, stream: str) -> StreamHead:
        """See `port.Reader`."""
        events = self._streams.get(stream, [])
        return StreamHead(stream, len(events), events[-1].hash if events else first_prev_hash(stream))

    async def read_shard(
        self, shard: int, *, after: int = 0, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> ShardPage:
        """See `port.Reader`."""
        check_page(after, limit)
        check_shard(shard)
        events = self._shards[shard]
        page = events[after : after + limit]
        matching: list[RecordedEvent] = []
        size_bytes = 0
        for event in page:
            if size_bytes >= PAGE_BYTES:
                break
            if wanted.matches(category_of(event.stream), event.type):
                matching.append(event)
                size_bytes += len(event.content)
        through = through_of(matching, max(after, min(after + limit, len(events))))
        return ShardPage(shard, tuple(matching), through, len(events))

    async def shard_heads(self) -> tuple[int, ...]:
        """See `port.Reader`."""
        return tuple(map(len, self._shards))

    async def find_events(self, event_ids: Sequence[UUID]) -> tuple[RecordedEvent, ...]:
        """See `port.Reader`."""
        found = {self._by_id[event_id] for event_id in event_ids if event_id in self._by_id}
        return tuple(sorted(found, key=lambda event: (event.shard, event.shard_position)))

    @contextlib.asynccontextmanager
    async def subscribe(
        self,
        after: Mapping[int, int],
        *,
        page: int = PAGE_EVENTS,
        wanted: EventFilter = EVERYTHING,
        gather_s: float = 0.0,  # noqa: ARG002 - reading costs nothing here
    ) -> AsyncIterator[AsyncIterator[ShardPage]]:
        """See `port.Reader`."""
        woken = asyncio.Event()
        self._sleepers.add(woken)
        pages = self._pages(woken, dict(after), page, wanted)
        try:
            yield pages
        finally:
            self._sleepers.discard(woken)
            await pages.aclose()

    async def read_private(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> dict[int, bytes]:
        """See `port.PrivateReader`."""
        places = sorted(place for place in self._private if place[0] == stream and place[1] > after)[:limit]
        if self._keyring is None:
            return {}
        return {
            position: self._keyring.decrypt(*self._private[name, position], name, position)
            for name, position in places
        }

    async def _pages(
        self, woken: asyncio.Event, positions: dict[int, int], limit: int, wanted: EventFilter
    ) -> AsyncGenerator[ShardPage, None]:
        while True:
            woken.clear()
            moved = False
            for shard, position in positions.items():
                page = await self.read_shard(shard, after=position, limit=limit, wanted=wanted)
                if page.head < position:
                    raise LogBroken(f"shard {shard}: position {position} is beyond its head {page.head}")
                if page.through > position:
                    positions[shard] = page.through
                    moved = True
                    yield page
            if not moved:
                await woken.wait()

    def _already(self, one: StreamAppend) -> Appended | None:
        known = [self._by_id.get(event.event_id) for event in one.events]
        met = [event for event in known if event is not None]
        if not met:
            return None
        first, last = met[0], met[-1]
        for step, (event, stored) in enumerate(zip(one.events, known, strict=True)):
            if (
                stored is None
                or stored.stream != one.stream
                or stored.content != event.content
                or stored.stream_position != first.stream_position + step
                or stored.shard_position != first.shard_position + step
            ):
                raise EventIdReused(one.stream, first.event_id)
        return Appended(
            one.stream,
            first.stream_position,
            last.stream_position,
            first.shard,
            first.shard_position,
            last.hash,
            already=True,
        )

    def _store(self, one: StreamAppend) -> Appended:
        shard = shard_of(one.stream)
        events = self._streams.setdefault(one.stream, [])
        in_shard = self._shards[shard]
        now = self._now()
        prev_hash = events[-1].hash if events else first_prev_hash(one.stream)
        first, first_in_shard = len(events) + 1, len(in_shard) + 1
        for new in one.events:
            position = len(events) + 1
            content_hash = content_hash_of(new.content)
            event = RecordedEvent(
                one.stream,
                position,
                shard,
                len(in_shard) + 1,
                new.event_id,
                new.type,
                new.content,
                prev_hash,
                content_hash,
                hash_of(prev_hash, position, content_hash),
                now,
            )
            prev_hash = event.hash
            events.append(event)
            in_shard.append(event)
            self._by_id[new.event_id] = event
            if new.private is not None and self._keyring is not None:
                self._private[one.stream, position] = self._keyring.encrypt(new.private, one.stream, position)
        return Appended(one.stream, first, len(events), shard, first_in_shard, prev_hash)


def _met(expected: Expected, found: int) -> bool:
    if isinstance(expected, int):
        return found == expected
    return expected is Expect.ANY or (found > 0) == (expected is Expect.EXISTS)
