"""Holds of a round, for the table's new owner; and how old the oldest open ones are, for alarms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from eventstore.postgres import Connection
from upcard_wallet.app.ports import Hold

_OF_ROUND: Final = """
SELECT hold, round, player, account, bet_id, box, wager, amount, funding, state, reason, changed_at
  FROM wallet.holds
 WHERE round = $1 AND ($2::uuid IS NULL OR hold > $2)
   AND (NOT $3::boolean OR state IN ('requested', 'held', 'unknown'))
 ORDER BY hold LIMIT $4
"""

# A look at the first row of an index of open holds alone, however many there are.
_OLDEST: Final = """
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(changed_at)), 0)::double precision
  FROM wallet.holds WHERE state IN ('requested', 'held', 'unknown')
"""


@dataclass(frozen=True, slots=True)
class FoundHold:
    """A hold, and since when it is in its state."""

    hold: Hold
    changed_at: dt.datetime


async def holds_of_round(
    connection: Connection, round_name: str, *, open_only: bool, after: UUID | None, limit: int
) -> Sequence[FoundHold]:
    """Holds of a round after one, by id."""
    rows = await connection.fetch(_OF_ROUND, round_name, after, open_only, limit)
    return [FoundHold(Hold(*row[:-1]), row["changed_at"]) for row in rows]


async def oldest_open_hold_s(connection: Connection) -> float:
    """For how long the oldest hold that is still open has been in its state, in seconds."""
    age_s: float = await connection.fetchval(_OLDEST)
    return age_s
