"""The last act of a transaction: its events, each stream once."""

from collections.abc import Sequence

from eventstore.events import Appended, NewEvent, StreamAppend
from eventstore.postgres import append_in_transaction
from eventstore.postgres.connections import Connection


def merged(appends: Sequence[StreamAppend]) -> list[StreamAppend]:
    """The same events, each stream once: the first's expectation, all its events in their order."""
    events: dict[str, list[NewEvent]] = {}
    first: dict[str, StreamAppend] = {}
    for one in appends:
        first.setdefault(one.stream, one)
        events.setdefault(one.stream, []).extend(one.events)
    return [StreamAppend(stream, one.expected, events[stream]) for stream, one in first.items()]


async def store(connection: Connection, *appends: Sequence[StreamAppend]) -> Sequence[Appended]:
    """Store what there is; nothing happens when there is nothing."""
    every = merged([one for some in appends for one in some])
    return await append_in_transaction(connection, every) if every else ()
