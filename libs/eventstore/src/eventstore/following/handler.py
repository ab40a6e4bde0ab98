"""What a follower does with events: the one thing that its user writes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from eventstore.events import Appended, RecordedEvent, StreamAppend
from eventstore.postgres.connections import Connection

Handler: TypeAlias = Callable[[Connection, Sequence[RecordedEvent]], Awaitable[Sequence[StreamAppend] | None]]
"""Gives events their effect, inside the transaction that moves the position; up to `batch_max` at once.

Shard by shard, in the order of each. It may be called again with the same events, or with a part of them,
after a rollback: everything it does must be on this connection. What it returns is appended to the log of
this database, in the same transaction and last. It neither commits nor rolls back. Any exception fails the
batch, which is then halved to find the event that is at fault.
"""


class Announcer(Protocol):
    """Whatever wakes the subscribers of this database's log: a `PostgresEventStore`."""

    def announce(self, appended: Sequence[Appended]) -> None:
        """These were stored."""
        ...
