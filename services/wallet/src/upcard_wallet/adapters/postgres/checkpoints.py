"""Statement checkpoints: what accounts had at the ends of days. Opening balances are summed from there.

Correct whatever is missing: a checkpoint is made once its day is final, of the one before it and everything
posted since. So it may run late, anywhere, several times at once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from eventstore.postgres import Connection

FINAL_AFTER_S: Final = 600.0
"""How long after its end a day counts as final: longer than any transaction lasts, by far."""

# `date_trunc` by name of the zone: the end of the day in which it was recorded.
_NOTE: Final = """
INSERT INTO wallet.statement_checkpoints (account, until)
SELECT DISTINCT t.account, date_trunc('day', t.recorded_at, 'UTC') + interval '24 hours'
  FROM wallet.transactions AS t
 WHERE t.transaction = ANY ($1::uuid[]) AND t.account IS NOT NULL
 ORDER BY 1, 2
ON CONFLICT (account, until) DO NOTHING
"""

_MAKE: Final = """
WITH due AS (
    SELECT account, until FROM wallet.statement_checkpoints
     WHERE sums IS NULL AND until <= clock_timestamp() - make_interval(secs => $1)
     ORDER BY until, account LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE wallet.statement_checkpoints AS c
   SET sums = (SELECT coalesce(jsonb_object_agg(s.kind, s.amount), '{}')
                 FROM wallet.sums_until(due.account, due.until) AS s)
  FROM due
 WHERE (c.account, c.until) = (due.account, due.until)
"""


async def note_days(connection: Connection, transactions: Collection[UUID]) -> None:
    """Note which accounts need a checkpoint, and of which days."""
    if transactions:
        await connection.execute(_NOTE, list(transactions))


async def make_checkpoints(connection: Connection, most: int, *, final_after_s: float = FINAL_AFTER_S) -> int:
    """Make up to `most` checkpoints of days that are final, the earliest first; how many there were."""
    status = await connection.execute(_MAKE, final_after_s, most)
    return int(status.rpartition(" ")[2])
