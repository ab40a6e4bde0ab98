"""The port: what an event store can do. `postgres` is the real one, `memory` the twin.

Both pass the same tests.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol
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

DEFAULT_TIMEOUT_S = 10.0
"""Longest that an append waits for its answer, where the caller names no other time, in seconds."""

PAGE_EVENTS = 500
"""Events in a page where the caller names no other number."""


class Appender(Protocol):
    """Whatever appends. Positions are exclusive lower bounds everywhere: `after=0` is the beginning."""

    async def append(
        self,
        stream: str,
        events: Sequence[NewEvent],
        *,
        expected: Expected,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Appended:
        """Store the next events of a stream, durably, all or none; returns after the commit.

        The same event ids again, with the same contents, give the stored positions back (`already`). Raises
        VersionConflict, EventIdReused, InvalidAppend, Overloaded, AppenderClosed, DeadlineExceeded,
        ShardBusy, AppendFailed (in all these cases nothing was stored) or OutcomeUnknown.
        """
        ...

    async def append_all(
        self, appends: Sequence[StreamAppend], *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> tuple[Appended, ...]:
        """Store the next events of several streams, all or none. Raises what `append` raises."""
        ...


class Reader(Protocol):
    """Whatever reads. Everything read was committed; private parts are never among it."""

    async def read_stream(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """At most `limit` events of a stream after a position, forward; empty when there are no more."""
        ...

    async def read_stream_backward(
        self, stream: str, *, before: int | None = None, limit: int = PAGE_EVENTS
    ) -> tuple[RecordedEvent, ...]:
        """At most `limit` events of a stream before a position (None: from its end), newest first."""
        ...

    def iterate_stream(
        self, stream: str, *, after: int = 0, page: int = PAGE_EVENTS
    ) -> AsyncIterator[RecordedEvent]:
        """All events of a stream after a position, up to the end that it has when the last page is read.

        Holds at most one page in memory, and no connection between pages.
        """
        ...

    async def read_contents(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> tuple[bytes, ...]:
        """The contents alone of what `read_stream` gives: what a fold needs, at a third of the cost."""
        ...

    def iterate_contents(
        self, stream: str, *, after: int = 0, page: int = PAGE_EVENTS
    ) -> AsyncIterator[tuple[bytes, ...]]:
        """All contents of a stream after a position, in pages, so that a decoder takes them by the hundred.

        Holds at most two pages in memory: the next one may be read while the caller works on this one.
        """
        ...

    async def stream_head(self, stream: str) -> StreamHead:
        """The stream's end; position 0 when it has no events."""
        ...

    async def read_shard(
        self, shard: int, *, after: int = 0, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> ShardPage:
        """The wanted ones among the next `limit` events of a shard.

        The page ends early with the event that brings its contents to PAGE_BYTES or beyond.
        """
        ...

    async def shard_heads(self) -> tuple[int, ...]:
        """The last position of each of the 64 shards, in their order."""
        ...

    async def find_events(self, event_ids: Sequence[UUID]) -> tuple[RecordedEvent, ...]:
        """The stored ones of these ids, by shard and position: how an unknown outcome is resolved."""
        ...

    def subscribe(
        self,
        after: Mapping[int, int],
        *,
        page: int = PAGE_EVENTS,
        wanted: EventFilter = EVERYTHING,
        gather_s: float = 0.0,
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[ShardPage]]:
        """Pages of the shards named in `after`, each from its position: what is there, then what comes.

        For ever.

        Every event comes once and in its shard's order. A page without events tells of progress past
        unwanted ones. What is behind is read together, about `page` events at a time, and the next of it when
        it is asked for: so a slow reader holds that much. After reading all that there was, what comes within
        `gather_s` seconds is read together too; the first event after a pause never waits.
        """
        ...


class PrivateReader(Protocol):
    """Who may read private parts. A port of its own, so that hardly anything is given it."""

    async def read_private(
        self, stream: str, *, after: int = 0, limit: int = PAGE_EVENTS
    ) -> dict[int, bytes]:
        """Private parts of a stream by stream position, decrypted; events without one are left out.

        Raises UnknownKey or PrivatePartUnreadable.
        """
        ...


class EventStore(Appender, Reader, Protocol):
    """All of it but private parts."""
