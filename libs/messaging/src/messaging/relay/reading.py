"""Reading the next events of all shards that are behind: one question, bounded in events and bytes."""

from collections.abc import Mapping
from typing import Final

from eventstore import HistoryDetached, LogBroken, RecordedEvent
from eventstore.postgres import Connection

BESIDE_BYTES: Final = 700
"""What a record has beside its value, in bytes: key and headers. On the high side."""

# Each shard's first partition is looked up once; the executor leaves out those before it. Bytes are counted
# in the order in which events are taken: where the turn is full, a shard's part ends, and has no hole.
_TURN: Final = """
WITH asked AS MATERIALIZED (
    SELECT u.turn, u.shard, u.after, u.through,
           coalesce((SELECT max(s.period) FROM eventstore.shard_periods AS s
                      WHERE s.shard = u.shard AND s.first_position <= u.after + 1), 0) AS period
      FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
           AS u (shard, after, through, turn)
), found AS (
    SELECT a.turn, e.*
      FROM asked AS a CROSS JOIN LATERAL (
          SELECT e.stream, e.stream_position, e.shard, e.shard_position, e.event_id, e.type, e.content,
                 e.prev_hash, e.content_hash, e.hash, e.recorded_at
            FROM eventstore.events AS e
           WHERE e.shard = a.shard AND e.shard_position > a.after AND e.shard_position <= a.through
             AND e.period >= a.period
           ORDER BY e.period, e.shard_position
      ) AS e
)
SELECT stream, stream_position, shard, shard_position, event_id, type, content, prev_hash, content_hash, hash,
       recorded_at
  FROM (SELECT f.*, sum(octet_length(f.content) + $5::integer)
                        OVER (ORDER BY f.turn, f.shard_position ROWS UNBOUNDED PRECEDING)
                    - octet_length(f.content) - $5::integer AS bytes_before
          FROM found AS f) AS f
 WHERE bytes_before < $4::bigint
 ORDER BY turn, shard_position
"""

_IS_DETACHED: Final = """
SELECT EXISTS (SELECT FROM eventstore.shard_periods AS s JOIN eventstore.periods AS p USING (period)
                WHERE s.shard = $1 AND p.detached_at IS NOT NULL)
"""

Turn = dict[int, list[RecordedEvent]]
"""Events by shard, in their order and without a gap."""


async def read_turn(
    connection: Connection, spans: Mapping[int, tuple[int, int]], max_bytes: int
) -> tuple[Turn, dict[int, Exception]]:
    """The events in these spans of shards, each (after, through), up to so many bytes in all.

    They are taken in the order of `spans`; the first event comes whatever its size. Shards whose next event
    is missing are returned with LogBroken or HistoryDetached, and hinder no others.
    """
    rows = await connection.fetch(
        _TURN,
        list(spans),
        [after for after, _ in spans.values()],
        [through for _, through in spans.values()],
        max_bytes,
        BESIDE_BYTES,
    )
    turn: Turn = {}
    make = RecordedEvent._make
    for row in rows:
        event = make(row)
        turn.setdefault(event.shard, []).append(event)
    broken: dict[int, Exception] = {}
    full = sum(len(event.content) + BESIDE_BYTES for one in turn.values() for event in one) >= max_bytes
    for shard, (after, through) in spans.items():
        events = turn.get(shard, [])
        expected = range(after + 1, after + len(events) + 1)
        gapless = [event.shard_position for event in events] == list(expected)
        complete = len(events) == through - after or full
        if not gapless or not complete:
            turn.pop(shard, None)
            broken[shard] = await _why_missing(connection, shard, after)
    return turn, broken


async def _why_missing(connection: Connection, shard: int, after: int) -> Exception:
    if await connection.fetchval(_IS_DETACHED, shard):
        return HistoryDetached(f"shard {shard}: events after {after} are in a detached month")
    return LogBroken(f"shard {shard}: events missing after {after}")
