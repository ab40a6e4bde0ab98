"""Followers that stand still until a person has looked."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

import asyncpg

from eventstore.events import RecordedEvent
from eventstore.following.errors import ForkSeen
from eventstore.following.failures import reason_of, text_of
from eventstore.following.pages import OWN
from eventstore.following.planning import Planned
from eventstore.following.positions import lock_positions, move_positions
from eventstore.following.recent import extended
from eventstore.following.skips import check_audit
from eventstore.postgres.connections import Connection

FAILED: Final = "failed"
FORKED: Final = "forked"

_NOTE: Final = """
INSERT INTO eventstore.stopped_followers
       (follower, source, shard, kind, shard_position, stream, stream_position, event_id, type, hash,
        attempts, reason, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT DO NOTHING
"""
_LIST: Final = """
SELECT * FROM eventstore.stopped_followers
 WHERE ($1::text IS NULL OR follower = $1) AND ($2::text IS NULL OR source = $2)
 ORDER BY follower, source, shard
"""
_RESUME: Final = """
DELETE FROM eventstore.stopped_followers
 WHERE follower = $1 AND source = $2 AND ($3::integer IS NULL OR shard = $3)
"""
_SKIPPED: Final = """
INSERT INTO eventstore.skipped_events
       (follower, source, stream, stream_position, shard, shard_position, event_id, type, hash, error,
        skipped_by, why)
SELECT s.follower, s.source, s.stream, s.stream_position, s.shard, s.shard_position, s.event_id, s.type,
       s.hash, s.error, $4, $5
  FROM eventstore.stopped_followers AS s
 WHERE s.follower = $1 AND s.source = $2 AND s.shard = $3 AND s.kind = 'failed'
"""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and where a follower stands still. `stream` and what follows: of the event that failed."""

    follower: str
    source: str
    shard: int
    kind: str
    """`failed`: an event could not be applied, all shards stand. `forked`: the shard's history is another."""
    shard_position: int
    since: dt.datetime
    attempts: int
    reason: str
    error: str
    stream: str | None
    stream_position: int | None
    type: str | None


async def note_failed(
    connection: Connection,
    follower: str,
    source: str,
    event: RecordedEvent,
    attempts: int,
    error: BaseException,
) -> None:
    """Note that a follower stands still because of an event."""
    await connection.execute(
        _NOTE,
        follower,
        source,
        event.shard,
        FAILED,
        event.shard_position,
        event.stream,
        event.stream_position,
        event.event_id,
        event.type,
        event.hash,
        attempts,
        reason_of(error),
        text_of(error),
    )


async def note_forked(connection: Connection, follower: str, source: str, fork: ForkSeen) -> None:
    """Note that a shard stands still because its history is another one."""
    await connection.execute(
        _NOTE,
        follower,
        source,
        fork.shard,
        FORKED,
        fork.position,
        None,
        None,
        None,
        None,
        fork.found,
        0,
        fork.slug,
        text_of(fork),
    )


async def list_stopped(
    connection: Connection, follower: str | None = None, source: str | None = None
) -> tuple[Stop, ...]:
    """All that stands still, or what of one follower or source does."""
    return tuple(_stop(row) for row in await connection.fetch(_LIST, follower, source))


async def resume(connection: Connection, follower: str, source: str, shard: int | None = None) -> int:
    """Let a follower go on, in one shard or in all; returns how many stops there were.

    It tries the very same event again, or compares hashes again: what stopped it should have been mended, or
    the position set (`reset_position`).
    """
    done: str = await connection.execute(_RESUME, follower, source, shard)
    return int(done.removeprefix("DELETE "))


async def skip_stopped(
    connection: Connection, follower: str, source: str, shard: int, *, skipped_by: str, why: str
) -> Stop:
    """Leave out the event that a follower failed at, note who decided that and why, and let it go on.

    Raises LookupError when no event of this shard stopped it, or the follower has got past it since.
    """
    check_audit(skipped_by, why)
    async with connection.transaction():
        known = (await lock_positions(connection, follower, source, [shard]))[shard]
        stops = await connection.fetch(_LIST + " FOR UPDATE", follower, source)
        row = next((one for one in stops if one["shard"] == shard and one["kind"] == FAILED), None)
        if row is None or row["shard_position"] <= known.position:
            raise LookupError(f"{follower} of {source} is not stopped by an event of shard {shard}")
        await connection.execute(_SKIPPED, follower, source, shard, skipped_by, why)
        # Between its position and the event there is nothing that is wanted: a single event was tried last.
        through = row["shard_position"]
        recent = extended(known.recent, known.position, (), through) if source != OWN else b""
        move = Planned(shard, (), through, row["hash"], recent, known.epoch)
        await move_positions(connection, follower, source, [move])
        await resume(connection, follower, source, shard)
    return _stop(row)


def _stop(row: asyncpg.Record) -> Stop:
    return Stop(
        row["follower"],
        row["source"],
        row["shard"],
        row["kind"],
        row["shard_position"],
        row["since"],
        row["attempts"],
        row["reason"],
        row["error"],
        row["stream"],
        row["stream_position"],
        row["type"],
    )
