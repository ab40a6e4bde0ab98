"""How far each projection is, and what is wrong with it."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from eventstore.following import OWN
from eventstore.postgres.connections import Connection
from eventstore.projections.projection import REBUILD

_STATUS: Final = """
SELECT pr.name, pr.version, pr.built_at, p.applied, h.heads, p.lag, p.furthest, p.moved_at,
       (SELECT count(*) FROM eventstore.parked_streams AS s WHERE s.follower = pr.name AND s.source = $1)
           AS parked_streams,
       (SELECT count(*) FROM eventstore.parked_events AS e WHERE e.follower = pr.name AND e.source = $1)
           AS parked_events,
       (SELECT min(s.kind) FROM eventstore.stopped_followers AS s
         WHERE s.follower = pr.name AND s.source = $1) AS stopped
  FROM eventstore.projections AS pr
 CROSS JOIN (SELECT sum(position)::bigint AS heads FROM eventstore.shard_heads) AS h
 CROSS JOIN LATERAL (
    SELECT sum(coalesce(o.position, 0))::bigint AS applied,
           sum(greatest(g.position - coalesce(o.position, 0), 0))::bigint AS lag,
           max(greatest(g.position - coalesce(o.position, 0), 0)) AS furthest,
           max(o.updated_at) AS moved_at
      FROM eventstore.shard_heads AS g
      LEFT JOIN eventstore.positions AS o ON o.shard = g.shard AND o.follower = pr.name AND o.source = $1
 ) AS p
 ORDER BY pr.name
"""


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """A projection as it stands; numbers are events of the log, unwanted ones included."""

    name: str
    version: int
    rebuilding: bool
    """Whether this is the one that is being built beside a live one, or was when that was interrupted."""
    built_at: dt.datetime
    applied: int
    heads: int
    lag: int
    """Events that are still to come, over all shards."""
    furthest: int
    """Those of the shard that is furthest behind."""
    moved_at: dt.datetime | None
    """When a position last moved."""
    parked_streams: int
    parked_events: int
    stopped: str | None


async def projection_status(connection: Connection) -> tuple[ProjectionStatus, ...]:
    """All projections of this database, by name."""
    rows = await connection.fetch(_STATUS, OWN)
    return tuple(
        ProjectionStatus(
            row["name"],
            row["version"],
            row["name"].endswith(REBUILD),
            row["built_at"],
            row["applied"],
            row["heads"],
            row["lag"],
            row["furthest"],
            row["moved_at"],
            row["parked_streams"],
            row["parked_events"],
            row["stopped"],
        )
        for row in rows
    )
