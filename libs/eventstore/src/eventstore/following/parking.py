"""Parked streams, seen by the follower: all of this happens under the lock of the shard's position."""

from collections.abc import Collection, Sequence
from typing import Final

from eventstore.events import RecordedEvent
from eventstore.following.errors import TooManyKept
from eventstore.following.failures import reason_of, text_of
from eventstore.following.positions import count_parked
from eventstore.postgres.connections import Connection

EVENT_COLUMNS: Final = (
    "stream, stream_position, shard, shard_position, event_id, type, content, prev_hash, content_hash, hash,"
    " recorded_at"
)
"""The columns of a recorded event, in its order."""

_PARKED: Final = """
SELECT stream FROM eventstore.parked_streams WHERE follower = $1 AND source = $2 AND stream = ANY ($3::text[])
"""
# Kept already: the position was set back by hand.
_HOLD: Final = f"""
INSERT INTO eventstore.parked_events (follower, source, {EVENT_COLUMNS})
SELECT $1, $2, u.*
  FROM unnest($3::text[], $4::bigint[], $5::smallint[], $6::bigint[], $7::uuid[], $8::text[], $9::bytea[],
              $10::bytea[], $11::bytea[], $12::bytea[], $13::timestamptz[]) AS u
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - nothing but constants is put in
_PARK: Final = """
INSERT INTO eventstore.parked_streams
       (follower, source, stream, shard, failed_position, attempts, reason, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
_COUNT: Final = "SELECT count(*) FROM eventstore.parked_streams WHERE follower = $1 AND source = $2"
# No further than to the limit: a longer count would only cost more.
_KEPT: Final = """
SELECT count(*) FROM (
    SELECT FROM eventstore.parked_events WHERE follower = $1 AND source = $2 LIMIT $3
) AS kept
"""
_REQUESTED: Final = """
SELECT stream, shard FROM eventstore.parked_streams
 WHERE follower = $1 AND source = $2 AND retry_requested_at IS NOT NULL
   AND ($3::smallint[] IS NULL OR shard = ANY ($3::smallint[]))
 ORDER BY retry_requested_at LIMIT $4
"""
_STILL_REQUESTED: Final = """
SELECT retry_requested_at IS NOT NULL FROM eventstore.parked_streams
 WHERE follower = $1 AND source = $2 AND stream = $3
"""
_FIRST: Final = f"""
SELECT {EVENT_COLUMNS} FROM eventstore.parked_events
 WHERE follower = $1 AND source = $2 AND stream = $3 ORDER BY stream_position LIMIT $4
"""  # noqa: S608 - as above
_RELEASE: Final = """
DELETE FROM eventstore.parked_events
 WHERE follower = $1 AND source = $2 AND stream = $3 AND stream_position <= $4
"""
_UNPARK: Final = """
DELETE FROM eventstore.parked_streams AS s
 WHERE s.follower = $1 AND s.source = $2 AND s.stream = $3
   AND NOT EXISTS (SELECT FROM eventstore.parked_events AS e
                    WHERE e.follower = $1 AND e.source = $2 AND e.stream = $3)
"""
# Another event than before: its dead letter has not been sent. Skipped meanwhile: it is not to be noted.
_FAILED_AGAIN: Final = """
UPDATE eventstore.parked_streams
   SET attempts = CASE WHEN failed_position = $4 THEN attempts + 1 ELSE 1 END,
       dead_letter_sent_at = CASE WHEN failed_position = $4 THEN dead_letter_sent_at END,
       failed_position = $4, failed_at = clock_timestamp(), retry_requested_at = NULL, reason = $5, error = $6
 WHERE follower = $1 AND source = $2 AND stream = $3
   AND EXISTS (SELECT FROM eventstore.parked_events AS e
                WHERE e.follower = $1 AND e.source = $2 AND e.stream = $3 AND e.stream_position = $4)
"""


async def parked_among(
    connection: Connection, follower: str, source: str, streams: Collection[str]
) -> frozenset[str]:
    """Those of the streams that are parked."""
    rows = await connection.fetch(_PARKED, follower, source, list(streams))
    return frozenset(row["stream"] for row in rows)


async def hold(connection: Connection, follower: str, source: str, events: Sequence[RecordedEvent]) -> None:
    """Put events of parked streams aside."""
    await connection.execute(_HOLD, follower, source, *map(list, zip(*events, strict=True)))


async def park(
    connection: Connection,
    follower: str,
    source: str,
    event: RecordedEvent,
    attempts: int,
    error: BaseException,
) -> None:
    """Park the stream of an event that failed, and keep the event."""
    await connection.execute(
        _PARK,
        follower,
        source,
        event.stream,
        event.shard,
        event.stream_position,
        attempts,
        reason_of(error),
        text_of(error),
    )
    await hold(connection, follower, source, [event])
    await count_parked(connection, follower, source, event.shard)


async def parked_count(connection: Connection, follower: str, source: str) -> int:
    """How many streams a follower has parked, over all shards."""
    count: int = await connection.fetchval(_COUNT, follower, source)
    return count


async def check_room(
    connection: Connection, follower: str, source: str, events: Sequence[RecordedEvent], events_max: int
) -> None:
    """Raise TooManyKept when these events would be more than may be kept, over all streams."""
    kept = await connection.fetchval(_KEPT, follower, source, events_max)
    if kept + len(events) > events_max:
        raise TooManyKept(events[0], kept)


async def requested_retries(
    connection: Connection, follower: str, source: str, shards: Collection[int] | None, limit: int
) -> list[tuple[str, int]]:
    """Parked streams that are to be tried again, with their shards, the oldest request first."""
    rows = await connection.fetch(
        _REQUESTED, follower, source, None if shards is None else sorted(shards), limit
    )
    return [(row["stream"], row["shard"]) for row in rows]


async def first_parked(
    connection: Connection, follower: str, source: str, stream: str, limit: int
) -> tuple[RecordedEvent, ...]:
    """The first kept events of a stream whose retry is still asked for."""
    if not await connection.fetchval(_STILL_REQUESTED, follower, source, stream):
        return ()
    rows = await connection.fetch(_FIRST, follower, source, stream, limit)
    return tuple([RecordedEvent._make(row) for row in rows])


async def release(
    connection: Connection, follower: str, source: str, stream: str, shard: int, through: int
) -> bool:
    """Take out a stream's kept events up to a stream position; True when it is parked no longer."""
    await connection.execute(_RELEASE, follower, source, stream, through)
    return await unpark_if_empty(connection, follower, source, stream, shard)


async def unpark_if_empty(
    connection: Connection, follower: str, source: str, stream: str, shard: int
) -> bool:
    """A stream without kept events is parked no longer."""
    if await connection.execute(_UNPARK, follower, source, stream) != "DELETE 1":
        return False
    await count_parked(connection, follower, source, shard)
    return True


async def note_failed_again(
    connection: Connection, follower: str, source: str, event: RecordedEvent, error: BaseException
) -> None:
    """The retry that was asked for came to nothing: the stream stays parked, now at this event."""
    await connection.execute(
        _FAILED_AGAIN, follower, source, event.stream, event.stream_position, reason_of(error), text_of(error)
    )
