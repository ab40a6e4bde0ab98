"""Who holds a shard: the alarm's figures and names."""

from dataclasses import dataclass
from typing import Final

from eventstore.postgres.connections import Connection

# Row locks are not in pg_locks, but whoever holds one also holds its table in these modes up to the
# transaction's end. Which shard it is shows where someone waits: the first waiter holds the row's place
# (`tuple`).
_HOLDERS: Final = """
WITH holders AS (
    SELECT l.pid
      FROM pg_locks AS l
     WHERE l.relation = 'eventstore.shard_heads'::regclass AND l.granted
       AND l.mode IN ('RowShareLock', 'RowExclusiveLock')
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY l.pid
), waiters AS (
    SELECT w.pid, pg_blocking_pids(w.pid) AS blockers, h.shard
      FROM pg_locks AS w
      LEFT JOIN pg_locks AS t ON t.pid = w.pid AND t.locktype = 'tuple'
                             AND t.relation = 'eventstore.shard_heads'::regclass
      LEFT JOIN eventstore.shard_heads AS h ON h.ctid = format('(%s,%s)', t.page, t.tuple)::tid
     WHERE NOT w.granted
)
SELECT a.pid, a.application_name, coalesce(host(a.client_addr), 'socket') AS client,
       coalesce(a.state, '?') AS state,
       extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS held_s,
       coalesce(left(a.query, 200), '') AS query,
       (SELECT count(DISTINCT w.pid) FROM waiters AS w WHERE a.pid = ANY (w.blockers)) AS waiting,
       coalesce((SELECT array_agg(DISTINCT w.shard ORDER BY w.shard) FROM waiters AS w
                  WHERE a.pid = ANY (w.blockers) AND w.shard IS NOT NULL), '{}') AS shards
  FROM holders JOIN pg_stat_activity AS a USING (pid)
 WHERE a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
   AND clock_timestamp() - a.xact_start >= make_interval(secs => $1::float8)
   AND NOT EXISTS (SELECT FROM waiters AS w WHERE w.pid = a.pid)
 ORDER BY a.xact_start
"""


@dataclass(frozen=True, slots=True)
class ShardHolder:
    """A session that holds shards, and since when. `query` is what it runs or ran last, if we may see it."""

    pid: int
    application_name: str
    client: str
    state: str
    held_s: float
    query: str
    waiting: int
    """Sessions that wait for it."""
    shards: tuple[int, ...]
    """The shards they wait for."""


async def shard_holders(connection: Connection, *, held_for_s: float = 1.0) -> tuple[ShardHolder, ...]:
    """Sessions that have held any shard for longer than this, in seconds, oldest first: none is the rule.

    An append holds its shards for milliseconds. The longest `held_s` is the metric to alarm on. Names and
    queries of other roles' sessions show only to members of `pg_monitor`.
    """
    rows = await connection.fetch(_HOLDERS, held_for_s)
    return tuple(
        ShardHolder(
            row["pid"],
            row["application_name"],
            row["client"],
            row["state"],
            row["held_s"],
            row["query"],
            row["waiting"],
            tuple(row["shards"]),
        )
        for row in rows
    )
