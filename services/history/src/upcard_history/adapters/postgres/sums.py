"""Sums over the views, each one statement."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Final

from eventstore.postgres import Pool
from upcard_history.app.sums import AtStake, PlayerTotal, TableInPlay

_IN_PLAY: Final = """
SELECT r.round, r.table_id, r.number, r.ruleset, r.opened_at, w.kind, w.box, w.opened_at AS window_opened_at,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(s.currency, s.players, s.amount) ORDER BY s.currency),
                        '[]')
          FROM (SELECT p.currency, count(DISTINCT b.player) AS players, sum(b.amount)::bigint AS amount
                  FROM rounds_view.bets AS b JOIN rounds_view.players AS p USING (round, player)
                 WHERE b.round = r.round AND NOT b.hidden GROUP BY p.currency) AS s) AS at_stake
  FROM rounds_view.rounds AS r
  LEFT JOIN LATERAL (SELECT * FROM rounds_view.windows AS w
                      WHERE w.round = r.round AND w.closed_at IS NULL
                      ORDER BY w.position DESC LIMIT 1) AS w ON true
 WHERE r.ended_at IS NULL AND r.round > $1 ORDER BY r.round LIMIT $2
"""
_TOTALS: Final = """
SELECT p.currency,
       count(*) FILTER (WHERE r.state = 'settled') AS rounds,
       count(*) FILTER (WHERE r.state = 'settled' AND p.returned > p.staked) AS won,
       coalesce(sum(p.staked) FILTER (WHERE r.state = 'settled'), 0)::bigint AS staked,
       coalesce(sum(p.returned) FILTER (WHERE r.state = 'settled'), 0)::bigint AS returned,
       count(*) FILTER (WHERE r.state = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE r.state = 'open') AS open
  FROM rounds_view.players AS p JOIN rounds_view.rounds AS r USING (round)
 WHERE p.player = $1 AND p.opened_at >= $2 AND p.opened_at < $3 AND (p.staked > 0 OR p.revision > 0)
 GROUP BY p.currency ORDER BY p.currency
"""


class PostgresSums:
    """`Sums` on the views."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def tables_in_play(self, *, after: str, limit: int) -> Sequence[TableInPlay]:
        """See `Sums`."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_IN_PLAY, after, limit)
        return tuple(
            TableInPlay(
                row["round"],
                row["table_id"],
                row["number"],
                row["ruleset"],
                row["opened_at"],
                row["kind"],
                row["box"],
                row["window_opened_at"],
                tuple(AtStake(*sums) for sums in json.loads(row["at_stake"])),
            )
            for row in rows
        )

    async def player_totals(
        self, player: str, since: dt.datetime, until: dt.datetime
    ) -> Sequence[PlayerTotal]:
        """See `Sums`."""
        async with self._pool.acquire() as connection:
            rows = await connection.fetch(_TOTALS, player, since, until)
        return tuple(PlayerTotal(*row) for row in rows)
