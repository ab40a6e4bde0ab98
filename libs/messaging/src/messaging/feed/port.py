"""The port: another service's log, read from the service itself, where Kafka did not bring it."""

from typing import ClassVar, Final, Protocol

from eventstore import EventFilter
from eventstore.events import EVERYTHING
from eventstore.following import Page, SourceHead

PAGE_EVENTS: Final = 500
"""Events of a shard that are looked at for a page, where the caller names no other number."""

LARGEST_PAGE_EVENTS: Final = 1_000
"""Most events of a shard that are looked at for one page."""

PAGE_BYTES: Final = 3 * 1_048_576
"""Largest page in bytes, contents and all that is beside them; a single event may always be one."""


class FeedError(Exception):
    """A feed could not be read. Nothing has changed anywhere. Each has a stable `slug`."""

    slug: ClassVar[str] = "feed_error"


class FeedUnavailable(FeedError):
    """The service did not answer, or not in time: the same call may succeed later."""

    slug = "feed_unavailable"


class FeedRefused(FeedError):
    """The service answered that it will not: who asks is not let in, or what is asked for cannot be.

    A person has to look.
    """

    slug = "feed_refused"


class FeedHistoryDetached(FeedRefused):
    """What was asked for is so old that it has left the service's database."""

    slug = "history_detached"


class FeedBroken(FeedError):
    """What came is not what a log can hold: wrong hashes, positions out of order, another service's log."""

    slug = "feed_broken"


class Feed(Protocol):
    """Another service's log. Its calls only read, each within a deadline. Raises FeedError."""

    async def read_shard(
        self, shard: int, *, after: int, limit: int = PAGE_EVENTS, wanted: EventFilter = EVERYTHING
    ) -> Page:
        """The wanted ones among the next events of a shard, in pages bounded in events and bytes.

        `through` is where the next page begins; it is `after` where there is nothing more. The page knows the
        log's epoch and the shard's head.
        """
        ...

    async def heads(self) -> dict[int, SourceHead]:
        """Where each of the 64 shards ends, with the hash of the last event and the epoch."""
        ...

    async def hash_at(self, shard: int, position: int) -> bytes | None:
        """The hash of the event at a position of a shard; None where the shard ends before."""
        ...
