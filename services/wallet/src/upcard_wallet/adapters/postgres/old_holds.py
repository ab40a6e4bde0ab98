"""Commands whose holds are old, and when their table's owner is asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from upcard_wallet.app.old_holds import OldCommand
from upcard_wallet.app.ports import Hold

# An index of open holds alone is read: as many as there are players in rounds, not as many as there were.
_CLAIM: Final = """
WITH old AS (
    SELECT h.round, h.player, h.bet_id, min(h.changed_at) AS since
      FROM wallet.holds AS h LEFT JOIN wallet.hold_questions AS q USING (round, player, bet_id)
     WHERE h.state = 'held' AND h.changed_at <= clock_timestamp() - make_interval(secs => $1)
       AND (q.due_at IS NULL OR q.due_at <= clock_timestamp())
     GROUP BY h.round, h.player, h.bet_id ORDER BY since LIMIT $2
), claimed AS (
    INSERT INTO wallet.hold_questions AS q (round, player, bet_id, due_at)
    SELECT round, player, bet_id, clock_timestamp() + make_interval(secs => $3) FROM old ORDER BY 1, 2, 3
    ON CONFLICT (round, player, bet_id) DO UPDATE SET due_at = excluded.due_at, asked = q.asked + 1
     WHERE q.due_at <= clock_timestamp()
    RETURNING round, player, bet_id, asked
)
SELECT c.asked, a.currency, h.hold, h.round, h.player, h.account, h.bet_id, h.box, h.wager, h.amount,
       h.funding, h.state, h.reason
  FROM claimed AS c JOIN wallet.holds AS h USING (round, player, bet_id)
  JOIN wallet.accounts AS a USING (account)
 WHERE h.state = 'held' ORDER BY h.changed_at, h.hold
"""

_AGAIN: Final = """
UPDATE wallet.hold_questions AS q SET due_at = clock_timestamp() + make_interval(secs => u.pause_s)
  FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[])
       AS u (round, player, bet_id, pause_s)
 WHERE (q.round, q.player, q.bet_id) = (u.round, u.player, u.bet_id)
"""

_FORGET: Final = """
WITH over AS (
    SELECT q.round, q.player, q.bet_id FROM wallet.hold_questions AS q
     WHERE NOT EXISTS (SELECT FROM wallet.holds AS h
                        WHERE h.round = q.round AND h.player = q.player AND h.bet_id = q.bet_id
                          AND h.state = 'held')
     LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM wallet.hold_questions AS q USING over
 WHERE (q.round, q.player, q.bet_id) = (over.round, over.player, over.bet_id)
"""


class QuestionTables:
    """Implements `app.old_holds.Questions`."""

    async def claim(
        self, connection: Connection, older_than_s: float, limit: int, claim_s: float
    ) -> Sequence[OldCommand]:
        """See `Questions`."""
        found: dict[tuple[str, str, str], list[asyncpg.Record]] = {}
        for row in await connection.fetch(_CLAIM, older_than_s, limit, claim_s):
            found.setdefault((row["round"], row["player"], row["bet_id"]), []).append(row)
        return [
            OldCommand(
                round_name,
                player,
                rows[0]["currency"],
                bet_id,
                tuple(Hold(*tuple(row)[2:]) for row in rows),
                rows[0]["asked"],
            )
            for (round_name, player, bet_id), rows in found.items()
        ]

    async def again_in(self, connection: Connection, commands: Sequence[tuple[OldCommand, float]]) -> None:
        """See `Questions`."""
        if commands:
            await connection.execute(
                _AGAIN,
                [command.round for command, _ in commands],
                [command.player for command, _ in commands],
                [command.bet_id for command, _ in commands],
                [pause_s for _, pause_s in commands],
            )

    async def forget(self, connection: Connection, limit: int) -> int:
        """See `Questions`."""
        status = await connection.execute(_FORGET, limit)
        return int(status.rpartition(" ")[2])
