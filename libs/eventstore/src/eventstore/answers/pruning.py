"""Old answers leave, a few at a time."""

import datetime as dt
from typing import Final

from eventstore.postgres.connections import Connection

SHORTEST_KEEPING: Final = dt.timedelta(days=7)
"""Answers are promised to be kept for this long."""

BATCH: Final = 1_000
"""Most answers that go in one transaction, and so how many rows it locks."""

_PRUNE: Final = """
DELETE FROM eventstore.answers AS a USING (
    SELECT caller, method, request_id FROM eventstore.answers
     WHERE created_at < clock_timestamp() - $1::interval
     ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
) AS old
 WHERE a.caller = old.caller AND a.method = old.method AND a.request_id = old.request_id
"""


async def prune_answers(
    connection: Connection, *, older_than: dt.timedelta = SHORTEST_KEEPING, max_batches: int = 100
) -> int:
    """Remove answers older than this by the database's clock; how many have gone. Run it every hour.

    Outside a transaction: each batch is one of its own. With `max_batches` a backlog is worked off over
    several runs. Raises ValueError for less than 7 days.
    """
    if older_than < SHORTEST_KEEPING:
        raise ValueError(f"answers are kept for {SHORTEST_KEEPING.days} days or longer, not {older_than}")
    gone = 0
    for _ in range(max_batches):
        status = await connection.execute(_PRUNE, older_than, BATCH)
        count = int(status.removeprefix("DELETE "))
        gone += count
        if count < BATCH:
            break
    return gone
