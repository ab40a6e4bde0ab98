"""What was left out on purpose: what such an act must say, and the list of them."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from eventstore.postgres.connections import Connection

_LONGEST_BY: Final = 200
_LONGEST_WHY: Final = 1_000
_LIST: Final = """
SELECT follower, source, stream, stream_position, type, error, skipped_by, why, skipped_at
  FROM eventstore.skipped_events ORDER BY id DESC LIMIT $1
"""
_OF_EVENT: Final = """
SELECT follower, source, stream, stream_position, type, error, skipped_by, why, skipped_at
  FROM eventstore.skipped_events
 WHERE follower = $1 AND source = $2 AND stream = $3 AND stream_position = $4 ORDER BY id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class SkippedEvent:
    """An event that was left out, with who decided it and why."""

    follower: str
    source: str
    stream: str
    stream_position: int
    type: str
    error: str
    skipped_by: str
    why: str
    skipped_at: dt.datetime


async def list_skipped(connection: Connection, *, limit: int = 1_000) -> tuple[SkippedEvent, ...]:
    """What was left out, the newest first."""
    return tuple(SkippedEvent(*row) for row in await connection.fetch(_LIST, limit))


async def skipped_event(
    connection: Connection, follower: str, source: str, stream: str, position: int
) -> SkippedEvent | None:
    """The note of an event that was left out; None where it was not."""
    row = await connection.fetchrow(_OF_EVENT, follower, source, stream, position)
    return None if row is None else SkippedEvent(*row)


def check_audit(skipped_by: str, why: str) -> None:
    """Raise ValueError unless someone is named, and a reason."""
    if not 0 < len(skipped_by.strip()) <= _LONGEST_BY or not skipped_by.isprintable():
        raise ValueError(f"who skips an event is 1 to {_LONGEST_BY} printable characters, not {skipped_by!r}")
    if not 0 < len(why.strip()) <= _LONGEST_WHY or not why.isprintable():
        raise ValueError(f"why an event is skipped is 1 to {_LONGEST_WHY} printable characters, not {why!r}")
