"""The epoch: which history of the log this is. A restore from backup begins a new one."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from eventstore.postgres.connections import Connection
from eventstore.streams import SHARDS

# Locked against another one who begins an epoch, not against readers. Nobody appends during a restore; if
# someone does, each shard's position and hash are still those of one moment: it is one statement. The number
# is the minute of its beginning, not a count: restored twice to before an earlier restore, a log that counted
# would give the same number to two histories.
_BEGIN: Final = """
INSERT INTO eventstore.epochs (epoch, reason, positions, hashes)
SELECT (SELECT greatest(max(epoch) + 1, (extract(epoch FROM clock_timestamp()) / 60)::integer)
          FROM eventstore.epochs), $1,
       array_agg(s.position ORDER BY s.shard), array_agg(e.hash ORDER BY s.shard)
  FROM eventstore.shard_heads AS s
  LEFT JOIN eventstore.events AS e
         ON e.shard = s.shard AND e.period = s.period AND e.shard_position = s.position
RETURNING epoch
"""

_EPOCHS: Final = """
SELECT epoch, began_at, reason, began_by, positions, hashes FROM eventstore.epochs ORDER BY epoch
"""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One history: when and why it began, by which role, and where the 64 shards ended at that time.

    `hashes`: of each shard's last event; None where there was none, or where its month had been detached.
    """

    epoch: int
    began_at: dt.datetime
    reason: str
    began_by: str
    positions: tuple[int, ...]
    hashes: tuple[bytes | None, ...]


async def current_epoch(connection: Connection) -> int:
    """The number of the history that is being written, from 1."""
    epoch: int = await connection.fetchval("SELECT max(epoch) FROM eventstore.epochs")
    return epoch


async def begin_epoch(connection: Connection, reason: str) -> int:
    """Begin a new epoch, as the owner, after a restore and before anyone appends; its number.

    `reason` says what happened, for whoever reads the list in years. Consumers see the new number and compare
    their positions and hashes with this log's, instead of taking a restored log for the one that they know.
    """
    if not 0 < len(reason) <= 1_000 or not reason.isprintable():
        raise ValueError("a reason is 1 to 1,000 printable characters")
    async with connection.transaction():
        await connection.execute("LOCK TABLE eventstore.epochs IN SHARE ROW EXCLUSIVE MODE")
        epoch: int = await connection.fetchval(_BEGIN, reason)
    return epoch


async def epochs(connection: Connection) -> tuple[Epoch, ...]:
    """All epochs, the first one first: the audit of restores."""
    found = tuple(
        Epoch(number, began_at, reason, began_by, tuple(positions), tuple(hashes))
        for number, began_at, reason, began_by, positions, hashes in await connection.fetch(_EPOCHS)
    )
    assert all(len(one.positions) == SHARDS for one in found), "the table's constraint says so"  # noqa: S101 - an invariant
    return found
