"""Why the store could not do what it was asked. Each has a stable `slug`, for metrics and for edges.

They are raised, where a domain's refusals are values: an answer that nobody looked at must not pass for
"stored".
"""

from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from eventstore.events import Expected


class EventStoreError(Exception):
    """Anything that this library raises on purpose.

    `stored` is False where it is certain that nothing was stored.
    """

    slug: ClassVar[str] = "event_store_error"
    stored: ClassVar[bool | None] = False


class InvalidAppend(EventStoreError, ValueError):
    """What was to be appended can never be: a name, size or number is out of bounds. Nothing was sent."""

    slug = "invalid_append"


class VersionConflict(EventStoreError):
    """The stream was not where the append expected it. Nothing of the append was stored."""

    slug = "version_conflict"

    def __init__(self, stream: str, expected: Expected, found: int) -> None:
        self.stream = stream
        self.expected = expected
        self.found = found
        text = expected if isinstance(expected, int) else expected.value
        super().__init__(f"stream {stream}: expected {text}, found position {found}")


class EventIdReused(EventStoreError):
    """An event id of the append is stored already, for something else. Nothing of the append was stored."""

    slug = "event_id_reused"

    def __init__(self, stream: str, event_id: UUID) -> None:
        self.stream = stream
        self.event_id = event_id
        super().__init__(
            f"stream {stream}: event id {event_id} is stored already, with other content or elsewhere"
        )


class Overloaded(EventStoreError):
    """The appender's queue is full. Nothing was stored; try later, or refuse your own caller."""

    slug = "overloaded"


class AppenderClosed(EventStoreError):
    """The appender is stopping or stopped. Nothing was stored."""

    slug = "appender_closed"


class DeadlineExceeded(EventStoreError, TimeoutError):
    """The caller's time was over before the append was begun. Nothing was stored, and nothing will be."""

    slug = "deadline_exceeded"


class ShardBusy(EventStoreError):
    """Someone held the shard for longer than `lock_timeout`. Nothing was stored.

    `shard_holders` tells who it is.
    """

    slug = "shard_busy"


class AppendFailed(EventStoreError):
    """The database refused the append for a reason of its own (see `__cause__`). Nothing was stored."""

    slug = "append_failed"


class OutcomeUnknown(EventStoreError):
    """Whether the events are stored could not be found out in time.

    Look for their ids before deciding anything.

    Sending the very same append again is always safe: it finds what has been stored.
    """

    slug = "outcome_unknown"
    stored: ClassVar[bool | None] = None

    def __init__(self, event_ids: Sequence[UUID], why: str) -> None:
        self.event_ids = tuple(event_ids)
        super().__init__(f"{why}; the outcome of {len(self.event_ids)} events is not known")


class HistoryDetached(EventStoreError):
    """Events that were asked for are in a month that has been detached from this database."""

    slug = "history_detached"


class LogBroken(EventStoreError):
    """Positions that must be gapless have a gap. Never expected: the log was tampered with.

    Or restored badly.
    """

    slug = "log_broken"


class UnknownKey(EventStoreError):
    """A private part was encrypted with a key that the keyring does not hold."""

    slug = "unknown_key"


class PrivatePartUnreadable(EventStoreError):
    """A private part does not decrypt: wrong key, changed bytes, or moved from another event."""

    slug = "private_part_unreadable"
