"""The feed over a log that is at hand: what a service serves, and a `Feed` where there is no network."""

from collections.abc import Sequence
from typing import Final, Protocol

from eventstore import EventFilter, RecordedEvent
from eventstore.coordination.epoch import current_epoch
from eventstore.events import EVERYTHING
from eventstore.following import Page, SourceHead
from eventstore.port import Reader
from eventstore.postgres import Pool
from messaging.feed.port import LARGEST_PAGE_EVENTS, PAGE_BYTES, PAGE_EVENTS

_FIRST_LOOK_EVENTS: Final = 50
"""Events read before anything is known of their sizes: 50 MB at the very worst."""

_BESIDE_BYTES: Final = 700
"""What an event has beside its content, in bytes: names, positions, hashes. On the high side."""

_HEADS: Final = """
SELECT s.shard, s.position, e.hash, (SELECT max(epoch) FROM eventstore.epochs)
  FROM eventstore.shard_heads AS s
  LEFT JOIN eventstore.events AS e
         ON e.shard = s.shard AND e.period = s.period AND e.shard_position = s.position
 ORDER BY s.shard
"""


class Ends(Protocol):
    """What a feed has to know of a log beside its events."""

    async def epoch(self) -> int:
        """The number of the log's epoch."""
        ...

    async def heads(self) -> dict[int, SourceHead]:
        """Where each shard ends, with the hash of its last event (None where its month was detached)."""
        ...


class PostgresEnds:
    """Ends of a log in PostgreSQL, of the primary: a replica that lags looks like a log that lost events."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def epoch(self) -> int:
        """See `Ends`."""
        async with self._pool.acquire() as connection:
            return await current_epoch(connection)

    async def heads(self) -> dict[int, SourceHead]:
        """See `Ends`: one statement, so one moment."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_HEADS)
        return {shard: SourceHead(position, digest, epoch) for shard, position, digest, epoch in rows}


class ReaderEnds:
    """Ends of any log that can be read, for tests: a read a shard. The epoch is what it is told."""

    def __init__(self, reader: Reader, *, epoch: int = 1) -> None:
        self._reader = reader
        self.number = epoch

    async def epoch(self) -> int:
        """See `Ends`."""
        return self.number

    async def heads(self) -> dict[int, SourceHead]:
        """See `Ends`."""
        found: dict[int, SourceHead] = {}
        for shard, position in enumerate(await self._reader.shard_heads()):
            last = await self._reader.read_shard(shard, after=max(0, position - 1), limit=1)
            digest = last.events[0].hash if last.events else None
            found[shard] = SourceHead(position, digest, self.number)
        return found


class LogFeed:
    """A `Feed` of a log at hand. Raises what the log's reader raises, and ValueError for a wrong question."""

    def __init__(self, service: str, reader: Reader, ends: Ends, *, page_bytes: int = PAGE_BYTES) -> None:
        self.service = service
        self._reader = reader
        self._ends = ends
        self._page_bytes = page_bytes

    async def read_shard(
        self, shard: int, *, after: int, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> Page:
        """See `Feed`."""
        _check_limit(limit)
        # Asked for first: should the log be restored meanwhile, the page is of an epoch that is over, which
        # costs its reader a page, and not of one that it does not belong to.
        epoch = await self._ends.epoch()
        events: list[RecordedEvent] = []
        size_bytes, at, look = 0, after, _FIRST_LOOK_EVENTS
        while True:
            read = await self._reader.read_shard(
                shard, after=at, limit=min(look, after + limit - at), wanted=wanted
            )
            for event in read.events:
                size_bytes += len(event.content) + _BESIDE_BYTES
                if events and size_bytes > self._page_bytes:
                    last = events[-1].shard_position
                    return Page(shard, after, last, tuple(events), epoch, read.head)
                events.append(event)
            at = read.through
            if at >= min(after + limit, read.head):
                return Page(shard, after, at, tuple(events), epoch, read.head)
            look = self._next_look(size_bytes, len(events))

    async def read_stream(
        self, stream: str, *, after: int, limit: int = PAGE_EVENTS
    ) -> tuple[Sequence[RecordedEvent], int, int]:
        """The next events of a stream, the stream's last position, and the log's epoch."""
        _check_limit(limit)
        epoch = await self._ends.epoch()
        events: list[RecordedEvent] = []
        size_bytes = 0
        while len(events) < limit:
            look = min(_FIRST_LOOK_EVENTS, limit - len(events))
            read = await self._reader.read_stream(stream, after=after + len(events), limit=look)
            for event in read:
                size_bytes += len(event.content) + _BESIDE_BYTES
                if events and size_bytes > self._page_bytes:
                    break
                events.append(event)
            if len(read) < look or size_bytes > self._page_bytes:
                break
        head = await self._reader.stream_head(stream)
        return events, head.position, epoch

    async def heads(self) -> dict[int, SourceHead]:
        """See `Feed`."""
        return await self._ends.heads()

    async def event_at(self, shard: int, position: int) -> tuple[RecordedEvent | None, int, int]:
        """The event at a position of a shard if it is there, the shard's head, and the log's epoch."""
        epoch = await self._ends.epoch()
        if position < 1:
            raise ValueError(f"a position of an event is 1 or more, not {position}")
        read = await self._reader.read_shard(shard, after=position - 1, limit=1)
        return (read.events[0] if read.events else None), read.head, epoch

    async def hash_at(self, shard: int, position: int) -> bytes | None:
        """See `Feed`."""
        event, _, _ = await self.event_at(shard, position)
        return None if event is None else event.hash

    async def epoch(self) -> int:
        """The log's epoch."""
        return await self._ends.epoch()

    def _next_look(self, size_bytes: int, count: int) -> int:
        # As many as would fit if they were as large as those so far. Where none was wanted yet, far ahead.
        if not count:
            return LARGEST_PAGE_EVENTS
        room_bytes = self._page_bytes - size_bytes
        return max(1, min(LARGEST_PAGE_EVENTS, room_bytes * count // size_bytes + 1))


def _check_limit(limit: int) -> None:
    if not 0 < limit <= LARGEST_PAGE_EVENTS:
        raise ValueError(f"a page looks at 1 to {LARGEST_PAGE_EVENTS} events, not {limit}")
