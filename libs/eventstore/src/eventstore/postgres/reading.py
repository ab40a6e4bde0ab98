"""Reading the log. Each read is one statement, hence one snapshot.

And opens no more partitions than it must.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from eventstore.checking import check_page, check_shard
from eventstore.errors import HistoryDetached, LogBroken
from eventstore.events import (
    EVERYTHING,
    PAGE_BYTES,
    EventFilter,
    RecordedEvent,
    ShardPage,
    StreamHead,
    through_of,
)
from eventstore.postgres.connections import Connection
from eventstore.streams import first_prev_hash

_COLUMNS: Final = (
    "e.stream, e.stream_position, e.shard, e.shard_position, e.event_id, e.type, e.content, e.prev_hash,"
    " e.content_hash, e.hash, e.recorded_at"
)

# Every page begins with a row's head, which is there even when the page is empty. Its periods let the
# executor leave out the partitions before and after; `ORDER BY period` lets it read one after the other
# instead of merging them.
_FORWARD: Final = f"""
WITH head AS MATERIALIZED (
    SELECT position, first_period, period FROM eventstore.stream_heads WHERE stream = $1
)
SELECT head.position, {_COLUMNS} FROM head LEFT JOIN (
    SELECT e.* FROM eventstore.events AS e
     WHERE e.stream = $1 AND e.stream_position > $2 AND e.stream_position <= $2::bigint + $3::bigint
       AND e.period >= (SELECT first_period FROM head) AND e.period <= (SELECT period FROM head)
     ORDER BY e.period, e.stream_position
) AS e ON true
"""  # noqa: S608 - nothing but constants is put in

_CONTENTS: Final = """
WITH head AS MATERIALIZED (
    SELECT position, first_period, period FROM eventstore.stream_heads WHERE stream = $1
)
SELECT head.position, e.content FROM head LEFT JOIN (
    SELECT e.content FROM eventstore.events AS e
     WHERE e.stream = $1 AND e.stream_position > $2 AND e.stream_position <= $2::bigint + $3::bigint
       AND e.period >= (SELECT first_period FROM head) AND e.period <= (SELECT period FROM head)
     ORDER BY e.period, e.stream_position
) AS e ON true
"""

_BACKWARD: Final = f"""
WITH head AS MATERIALIZED (
    SELECT position, first_period, period, least(coalesce($2::bigint, position + 1), position + 1) AS before
      FROM eventstore.stream_heads WHERE stream = $1
)
SELECT head.position, {_COLUMNS} FROM head LEFT JOIN (
    SELECT e.* FROM eventstore.events AS e
     WHERE e.stream = $1 AND e.stream_position < (SELECT before FROM head)
       AND e.stream_position >= (SELECT before FROM head) - $3::bigint
       AND e.period >= (SELECT first_period FROM head) AND e.period <= (SELECT period FROM head)
     ORDER BY e.period DESC, e.stream_position DESC
) AS e ON true
"""  # noqa: S608 - as above

_SHARD: Final = f"""
WITH head AS MATERIALIZED (SELECT position FROM eventstore.shard_heads WHERE shard = $1),
     first AS MATERIALIZED (SELECT coalesce(max(period), 0) AS period FROM eventstore.shard_periods
                             WHERE shard = $1 AND first_position <= $2::bigint + 1)
SELECT head.position, {_COLUMNS} FROM head LEFT JOIN (
    SELECT f.* FROM (
        SELECT e.*, sum(octet_length(e.content)) OVER (ORDER BY e.period, e.shard_position
                                                       ROWS UNBOUNDED PRECEDING)
                    - octet_length(e.content) AS bytes_before
          FROM eventstore.events AS e
         WHERE e.shard = $1 AND e.shard_position > $2::bigint AND e.shard_position <= $2::bigint + $3::bigint
           AND e.period >= (SELECT period FROM first)
           AND ($4::text[] IS NULL OR split_part(e.stream, '-', 1) = ANY ($4::text[]))
           AND ($5::text[] IS NULL OR e.type = ANY ($5::text[]))
    ) AS f WHERE f.bytes_before < $6::bigint
     ORDER BY f.period, f.shard_position
) AS e ON true
"""  # noqa: S608 - as above

# The same of several shards in one question, each up to a position that is known to be there.
_SHARDS: Final = f"""
WITH asked AS MATERIALIZED (
    SELECT u.turn, u.shard, u.after, u.through,
           coalesce((SELECT max(s.period) FROM eventstore.shard_periods AS s
                      WHERE s.shard = u.shard AND s.first_position <= u.after + 1), 0) AS period
      FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
           AS u (shard, after, through, turn)
)
SELECT {_COLUMNS} FROM asked AS a CROSS JOIN LATERAL (
    SELECT f.* FROM (
        SELECT e.*, sum(octet_length(e.content)) OVER (ORDER BY e.period, e.shard_position
                                                       ROWS UNBOUNDED PRECEDING)
                    - octet_length(e.content) AS bytes_before
          FROM eventstore.events AS e
         WHERE e.shard = a.shard AND e.shard_position > a.after AND e.shard_position <= a.through
           AND e.period >= a.period
           AND ($4::text[] IS NULL OR split_part(e.stream, '-', 1) = ANY ($4::text[]))
           AND ($5::text[] IS NULL OR e.type = ANY ($5::text[]))
    ) AS f WHERE f.bytes_before < $6::bigint
) AS e
 ORDER BY a.turn, e.period, e.shard_position
"""  # noqa: S608 - as above

_DETACHED: Final = """
SELECT u.shard FROM unnest($1::smallint[], $2::bigint[]) AS u (shard, after)
 WHERE EXISTS (
    SELECT FROM eventstore.shard_periods AS s JOIN eventstore.periods AS p USING (period)
     WHERE s.shard = u.shard AND p.detached_at IS NOT NULL
       AND u.after < coalesce((SELECT min(n.first_position) FROM eventstore.shard_periods AS n
                                WHERE n.shard = s.shard AND n.period > s.period),
                              9223372036854775807) - 1
)
 ORDER BY u.shard LIMIT 1
"""

# LATERAL and OFFSET 0: a look into the index for each id. Otherwise a plan made while a month is new reads
# all of it for every search, until the next ANALYZE.
_FIND: Final = f"""
SELECT {_COLUMNS} FROM (SELECT DISTINCT unnest($1::uuid[])) AS wanted (id)
 CROSS JOIN eventstore.earliest_period($1::uuid[]) AS earliest (period)
 CROSS JOIN LATERAL (
    SELECT e.* FROM eventstore.events AS e
     WHERE e.event_id = wanted.id AND e.period >= earliest.period OFFSET 0
) AS e
 ORDER BY e.shard, e.period, e.shard_position
"""  # noqa: S608 - as above


async def read_stream(
    connection: Connection, stream: str, after: int, limit: int
) -> tuple[RecordedEvent, ...]:
    """See `port.Reader.read_stream`. Raises HistoryDetached, LogBroken."""
    check_page(after, limit)
    rows = await connection.fetch(_FORWARD, stream, after, limit)
    events = _events(rows)
    head = rows[0][0] if rows else 0
    if len(events) != max(0, min(limit, head - after)):
        raise await _why_missing(connection, stream, f"after {after}")
    return events


async def read_contents(connection: Connection, stream: str, after: int, limit: int) -> tuple[bytes, ...]:
    """See `port.Reader.read_contents`. Raises HistoryDetached, LogBroken."""
    check_page(after, limit)
    rows = await connection.fetch(_CONTENTS, stream, after, limit)
    contents = () if not rows or rows[0][1] is None else tuple([row[1] for row in rows])
    head = rows[0][0] if rows else 0
    if len(contents) != max(0, min(limit, head - after)):
        raise await _why_missing(connection, stream, f"after {after}")
    return contents


async def read_stream_backward(
    connection: Connection, stream: str, before: int | None, limit: int
) -> tuple[RecordedEvent, ...]:
    """See `port.Reader.read_stream_backward`. Raises HistoryDetached, LogBroken."""
    check_page(before or 0, limit)
    rows = await connection.fetch(_BACKWARD, stream, before, limit)
    events = _events(rows)
    end = rows[0][0] + 1 if rows else 1
    if len(events) != max(0, min(limit, (end if before is None else min(before, end)) - 1)):
        raise await _why_missing(connection, stream, f"before {before}")
    return events


async def stream_head(connection: Connection, stream: str) -> StreamHead:
    """See `port.Reader.stream_head`."""
    row = await connection.fetchrow(
        "SELECT position, hash FROM eventstore.stream_heads WHERE stream = $1", stream
    )
    if row is None:
        return StreamHead(stream, 0, first_prev_hash(stream))
    return StreamHead(stream, row["position"], row["hash"])


async def read_shard(
    connection: Connection, shard: int, after: int, limit: int, wanted: EventFilter = EVERYTHING
) -> ShardPage:
    """See `port.Reader.read_shard`. Raises HistoryDetached, LogBroken."""
    check_page(after, limit)
    check_shard(shard)
    rows = await connection.fetch(
        _SHARD, shard, after, limit, _list(wanted.categories), _list(wanted.types), PAGE_BYTES
    )
    head = rows[0][0]
    events = _events(rows)
    through = through_of(events, max(after, min(after + limit, head)))
    page = ShardPage(shard, events, through, head)
    await _check_complete(connection, {shard: after}, [page], wanted)
    return page


@dataclass(frozen=True, slots=True)
class Span:
    """What is to be read of a shard: after one position, up to another that it has reached; its head then."""

    shard: int
    after: int
    through: int
    head: int


async def read_shards(
    connection: Connection, spans: Sequence[Span], wanted: EventFilter = EVERYTHING
) -> tuple[ShardPage, ...]:
    """A page of each of these shards, in one question; together they have about `PAGE_BYTES` at most.

    Each has its first wanted event, whatever its size. Raises HistoryDetached, LogBroken.
    """
    if not spans:
        return ()
    bytes_max = max(1, PAGE_BYTES // len(spans))
    found: dict[int, list[RecordedEvent]] = {}
    make = RecordedEvent._make
    for row in await connection.fetch(
        _SHARDS,
        [span.shard for span in spans],
        [span.after for span in spans],
        [span.through for span in spans],
        _list(wanted.categories),
        _list(wanted.types),
        bytes_max,
    ):
        event = make(row)
        found.setdefault(event.shard, []).append(event)
    pages = []
    for span in spans:
        events = tuple(found.get(span.shard, ()))
        through = through_of(events, span.through, bytes_max)
        pages.append(ShardPage(span.shard, events, through, span.head))
    await _check_complete(connection, {span.shard: span.after for span in spans}, pages, wanted)
    return tuple(pages)


async def _check_complete(
    connection: Connection, afters: Mapping[int, int], pages: Sequence[ShardPage], wanted: EventFilter
) -> None:
    """Whether all is there; of a filtered page only a detached month can be found missing."""
    short = {
        page.shard: missing
        for page in pages
        if (missing := page.through - afters[page.shard] - len(page.events))
    }
    if not short:
        return
    detached = await connection.fetchval(_DETACHED, list(short), [afters[shard] for shard in short])
    if detached is not None:
        raise HistoryDetached(f"shard {detached}: events after {afters[detached]} are in a detached month")
    if wanted == EVERYTHING:
        shard, missing = next(iter(short.items()))
        raise LogBroken(f"shard {shard}: {missing} events missing after {afters[shard]}")


async def shard_heads(connection: Connection) -> tuple[int, ...]:
    """See `port.Reader.shard_heads`."""
    rows = await connection.fetch("SELECT position FROM eventstore.shard_heads ORDER BY shard")
    return tuple(row[0] for row in rows)


async def find_events(connection: Connection, event_ids: Sequence[UUID]) -> tuple[RecordedEvent, ...]:
    """See `port.Reader.find_events`."""
    if not event_ids:
        return ()
    make = RecordedEvent._make
    return tuple([make(row) for row in await connection.fetch(_FIND, list(event_ids))])


def _events(rows: Sequence[asyncpg.Record]) -> tuple[RecordedEvent, ...]:
    if not rows or rows[0][1] is None:
        return ()
    make = RecordedEvent._make
    return tuple([make(row[1:]) for row in rows])


def _list(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


async def _why_missing(connection: Connection, stream: str, where: str) -> Exception:
    detached = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM eventstore.stream_heads AS h JOIN eventstore.periods AS p"
        " ON p.period BETWEEN h.first_period AND h.period AND p.detached_at IS NOT NULL WHERE h.stream = $1)",
        stream,
    )
    if detached:
        return HistoryDetached(f"stream {stream}: events {where} are in a detached month")
    return LogBroken(f"stream {stream}: events missing {where}")
