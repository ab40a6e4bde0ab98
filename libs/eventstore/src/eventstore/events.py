"""What is appended and what is read: plain immutable values."""

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append.

    `event_id` should be a UUIDv7 (another version works, but finding it again costs more). `content` is
    stored as it is, byte for byte. `private` is encrypted beside it, is not covered by the chain, and is
    never returned by ordinary reads.
    """

    event_id: UUID
    type: str
    content: bytes
    private: bytes | None = field(default=None, repr=False)


class Expect(enum.Enum):
    """What may be expected of a stream where no exact position is: see `Expected`."""

    NONE = "none"
    """The stream has no events yet."""
    EXISTS = "exists"
    """It has at least one."""
    ANY = "any"
    """Whatever it has."""


Expected = int | Expect
"""A stream's position before an append. An integer is exact: the number of events that it must have."""


@dataclass(frozen=True, slots=True)
class StreamAppend:
    """The next events of one stream, to be stored if the stream is at `expected`."""

    stream: str
    expected: Expected
    events: Sequence[NewEvent]


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the events of one `StreamAppend` are stored: without a gap, in their order.

    `already` tells that an earlier try had stored them. `last_hash` is the hash of the last of them.
    """

    stream: str
    first_position: int
    last_position: int
    shard: int
    first_shard_position: int
    last_hash: bytes
    already: bool = False

    @property
    def last_shard_position(self) -> int:
        """The shard position of the last event."""
        return self.first_shard_position + self.last_position - self.first_position


class RecordedEvent(NamedTuple):
    """An event as it is in the log.

    `recorded_at` is the database's clock at the append; the content may carry the owner's. A named tuple
    and not a dataclass because hundreds of thousands are made in one read, at a third of the cost.
    """

    stream: str
    stream_position: int
    shard: int
    shard_position: int
    event_id: UUID
    type: str
    content: bytes
    prev_hash: bytes
    content_hash: bytes
    hash: bytes
    recorded_at: dt.datetime


@dataclass(frozen=True, slots=True)
class StreamHead:
    """Where a stream ends: its last position (0: no events) and its last event's hash."""

    stream: str
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events of a shard are wanted: those of these categories and types. None: all."""

    categories: frozenset[str] | None = None
    types: frozenset[str] | None = None

    def matches(self, category: str, event_type: str) -> bool:
        """Whether an event of this category and type is wanted."""
        return (self.categories is None or category in self.categories) and (
            self.types is None or event_type in self.types
        )


EVERYTHING = EventFilter()


PAGE_BYTES = 16_000_000
"""A page of a shard ends with the event that brings its contents to so many bytes."""


@dataclass(frozen=True, slots=True)
class ShardPage:
    """Part of a shard: every wanted event after the position asked for, up to and including `through`.

    `through` is where the next page begins, and what a consumer stores; it may lie beyond the last event,
    since events that are not wanted count too. `head` is the shard's last position at the time.
    """

    shard: int
    events: tuple[RecordedEvent, ...]
    through: int
    head: int


def through_of(events: Sequence[RecordedEvent], through: int, bytes_max: int = PAGE_BYTES) -> int:
    """Where a page ends: at `through`, or at its last event where its bytes were enough before that."""
    full = bool(events) and sum([len(event.content) for event in events]) >= bytes_max
    return events[-1].shard_position if full else through
