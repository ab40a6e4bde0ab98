"""The mirror: every event of table, wallet and bonus, byte for byte, in this database's own log.

The services' streams have names of their own (no category belongs to two of them), so a stream is copied to a
stream of the same name, at the same positions, with the same hashes: the append chains it again and would
not reach the same hash with other bytes. Everything else that history does reads this log and nothing else,
so views are rebuilt and rounds replayed without anybody's help, years after Kafka has forgotten them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from eventstore import NewEvent, RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from eventstore.streams import category_of, first_prev_hash

CATEGORIES: Final[Mapping[str, frozenset[str]]] = {
    "table": frozenset({"table", "round"}),
    "wallet": frozenset({"account"}),
    "bonus": frozenset({"bonus", "jackpot", "freebet"}),
}
"""Whose streams are whose: what each service may write."""

_HEADS: Final = "SELECT stream, position, hash FROM eventstore.stream_heads WHERE stream = ANY ($1::text[])"
_KNOWN: Final = """
SELECT u.stream, u.position
  FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS u (stream, position, hash)
 WHERE NOT EXISTS (SELECT FROM eventstore.events AS e
                    WHERE e.stream = u.stream AND e.stream_position = u.position AND e.hash = u.hash)
"""


class MirrorBroken(Exception):
    """An event does not follow what is here: the source's history is another one, or not the source's at all.

    Its stream is parked, and the alarm of parked streams rings: somebody has to compare both logs.
    """

    slug = "mirror_broken"


def mirror_handler(source: str) -> Handler:
    """A handler of `eventstore.following` for the log of this service. Raises KeyError for an unknown one."""
    categories = CATEGORIES[source]

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend]:
        for event in events:
            if category_of(event.stream) not in categories:
                raise MirrorBroken(f"{event.stream} is no stream of {source}")
        return await _appends(connection, events)

    return handle


async def _appends(connection: Connection, events: Sequence[RecordedEvent]) -> list[StreamAppend]:
    by_stream: dict[str, list[RecordedEvent]] = {}
    for event in events:
        by_stream.setdefault(event.stream, []).append(event)
    heads = {
        row["stream"]: (int(row["position"]), bytes(row["hash"]))
        for row in await connection.fetch(_HEADS, list(by_stream))
    }
    known: list[RecordedEvent] = []
    appends: list[StreamAppend] = []
    for stream, all_of_it in by_stream.items():
        position, last_hash = heads.get(stream, (0, first_prev_hash(stream)))
        new = [event for event in all_of_it if event.stream_position > position]
        known += all_of_it[: len(all_of_it) - len(new)]
        if new:
            _check_follows(new, position, last_hash)
            appends.append(StreamAppend(stream, position, [_copy(event) for event in new]))
    await _check_known(connection, known)
    return appends


def _check_follows(new: Iterable[RecordedEvent], position: int, last_hash: bytes) -> None:
    for event in new:
        position += 1
        if event.stream_position != position or event.prev_hash != last_hash:
            raise MirrorBroken(f"{event.stream} at {event.stream_position} does not follow what is here")
        last_hash = event.hash


async def _check_known(connection: Connection, events: Sequence[RecordedEvent]) -> None:
    """A position was set back: what comes again has to be what is here."""
    if not events:
        return
    other = await connection.fetch(
        _KNOWN,
        [event.stream for event in events],
        [event.stream_position for event in events],
        [event.hash for event in events],
    )
    if other:
        raise MirrorBroken(f"{other[0]['stream']} at {other[0]['position']} is another event here")


def _copy(event: RecordedEvent) -> NewEvent:
    return NewEvent(event.event_id, event.type, event.content)
