"""Parked streams, seen by people and by whoever sends dead letters: lists, retry, skip."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eventstore.events import RecordedEvent
from eventstore.following.parking import EVENT_COLUMNS, unpark_if_empty
from eventstore.following.positions import lock_positions
from eventstore.following.skips import check_audit
from eventstore.postgres.connections import Connection

_LIST: Final = """
SELECT s.*, (SELECT count(*) FROM eventstore.parked_events AS e
              WHERE e.follower = s.follower AND e.source = s.source AND e.stream = s.stream) AS events
  FROM eventstore.parked_streams AS s
 WHERE ($1::text IS NULL OR s.follower = $1) AND ($2::text IS NULL OR s.source = $2)
 ORDER BY s.follower, s.source, s.since, s.stream LIMIT $3
"""
_RETRY: Final = """
UPDATE eventstore.parked_streams SET retry_requested_at = clock_timestamp()
 WHERE follower = $1 AND source = $2 AND ($3::text IS NULL OR stream = $3)
"""
_SHARD: Final = """
SELECT shard, error FROM eventstore.parked_streams WHERE follower = $1 AND source = $2 AND stream = $3
"""
_FIRST: Final = """
SELECT min(stream_position) FROM eventstore.parked_events WHERE follower = $1 AND source = $2 AND stream = $3
"""
_SKIP: Final = f"""
WITH first AS (
    DELETE FROM eventstore.parked_events AS e
     WHERE e.follower = $1 AND e.source = $2 AND e.stream = $3
       AND e.stream_position = (SELECT min(m.stream_position) FROM eventstore.parked_events AS m
                                 WHERE m.follower = $1 AND m.source = $2 AND m.stream = $3)
    RETURNING e.*
), noted AS (
    INSERT INTO eventstore.skipped_events
           (follower, source, stream, stream_position, shard, shard_position, event_id, type, hash, error,
            skipped_by, why)
    SELECT f.follower, f.source, f.stream, f.stream_position, f.shard, f.shard_position, f.event_id, f.type,
           f.hash, $4, $5, $6
      FROM first AS f
)
SELECT {EVENT_COLUMNS} FROM first
"""  # noqa: S608 - nothing but constants is put in
_EVENT: Final = ", ".join(f"e.{column}" for column in EVENT_COLUMNS.split(", "))
_DEAD_LETTERS: Final = f"""
SELECT s.attempts, s.reason, s.error, s.since, s.failed_at, {_EVENT}
  FROM eventstore.parked_streams AS s
  JOIN eventstore.parked_events AS e
    ON e.follower = s.follower AND e.source = s.source AND e.stream = s.stream
   AND e.stream_position = s.failed_position
 WHERE s.follower = $1 AND s.source = $2 AND s.dead_letter_sent_at IS NULL
 ORDER BY s.failed_at LIMIT $3
"""  # noqa: S608 - as above
_SENT: Final = """
UPDATE eventstore.parked_streams AS s SET dead_letter_sent_at = clock_timestamp()
  FROM unnest($3::text[], $4::bigint[]) AS u (stream, failed_position)
 WHERE s.follower = $1 AND s.source = $2 AND s.stream = u.stream AND s.failed_position = u.failed_position
"""


class OtherEventParked(LookupError):
    """A stream waits at another event than the one that was to be left out."""


@dataclass(frozen=True, slots=True)
class ParkedStream:
    """A stream whose event could not be applied, and what waits behind it."""

    follower: str
    source: str
    stream: str
    shard: int
    failed_position: int
    """Stream position of the event that failed."""
    events: int
    """Kept events, the failed one included."""
    attempts: int
    reason: str
    error: str
    since: dt.datetime
    retry_requested_at: dt.datetime | None
    dead_letter_sent_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that failed, to be copied to where people look for such."""

    event: RecordedEvent
    attempts: int
    reason: str
    error: str
    since: dt.datetime
    failed_at: dt.datetime


async def list_parked(
    connection: Connection, follower: str | None = None, source: str | None = None, *, limit: int = 1_000
) -> tuple[ParkedStream, ...]:
    """Parked streams, those of one follower or source or all, the oldest first."""
    rows = await connection.fetch(_LIST, follower, source, limit)
    return tuple(
        ParkedStream(
            row["follower"],
            row["source"],
            row["stream"],
            row["shard"],
            row["failed_position"],
            row["events"],
            row["attempts"],
            row["reason"],
            row["error"],
            row["since"],
            row["retry_requested_at"],
            row["dead_letter_sent_at"],
        )
        for row in rows
    )


async def request_retry(connection: Connection, follower: str, source: str, stream: str | None = None) -> int:
    """Ask the running follower to try a parked stream again, or all of them; returns how many there are.

    It does so in order, within seconds (`Applier.retry_parked`); what fails again stays parked.
    """
    done: str = await connection.execute(_RETRY, follower, source, stream)
    return int(done.removeprefix("UPDATE "))


async def skip_parked(  # noqa: PLR0913 - who, why and what: an audited act
    connection: Connection,
    follower: str,
    source: str,
    stream: str,
    *,
    skipped_by: str,
    why: str,
    retry: bool = True,
    position: int | None = None,
) -> RecordedEvent:
    """Leave out the first kept event of a parked stream, and note who decided that and why.

    `position`: only if it is the event at this stream position, so that the same wish twice leaves out one.
    With `retry` the follower tries the events behind it. Returns the event. Raises LookupError when the
    stream is not parked, OtherEventParked when it waits at another event.
    """
    check_audit(skipped_by, why)
    async with connection.transaction():
        shard = await connection.fetchval(_SHARD, follower, source, stream)
        if shard is not None:
            await lock_positions(connection, follower, source, [shard])
            # Only now: the follower may have emptied it before we had the lock.
            error = await connection.fetchval(_SHARD, follower, source, stream, column=1)
            first = await connection.fetchval(_FIRST, follower, source, stream)
            if position is not None and first is not None and first != position:
                raise OtherEventParked(f"{stream} waits at {first}, not at {position}")
            row = await connection.fetchrow(_SKIP, follower, source, stream, error or "", skipped_by, why)
            if row is not None:
                if not await unpark_if_empty(connection, follower, source, stream, shard) and retry:
                    await request_retry(connection, follower, source, stream)
                return RecordedEvent._make(row)
    raise LookupError(f"{follower} of {source} has not parked {stream}")


async def dead_letters(
    connection: Connection, follower: str, source: str, *, limit: int = 100
) -> tuple[DeadLetter, ...]:
    """Events that failed and of which no dead letter has been sent, the oldest first."""
    rows = await connection.fetch(_DEAD_LETTERS, follower, source, limit)
    return tuple(DeadLetter(RecordedEvent._make(row[5:]), *row[:5]) for row in rows)


async def note_dead_letters_sent(
    connection: Connection, follower: str, source: str, sent: Sequence[DeadLetter]
) -> None:
    """Note that these were sent, after they were: so each is sent at least once."""
    await connection.execute(
        _SENT,
        follower,
        source,
        [one.event.stream for one in sent],
        [one.event.stream_position for one in sent],
    )
