"""What webhooks need of rounds that have not ended: their players of operators, by round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from eventstore.postgres import Connection
from upcard_gateway.app.webhook_facts import Settled, Staked
from upcard_gateway.app.webhooks import KeptResult

# A player whom no operator sent is the house's own: nobody is told.
_STAKED: Final = """
INSERT INTO gateway.webhook_rounds AS kept (round, player, operator, currency, placed)
SELECT noted.round, noted.player, players.operator, noted.currency, noted.change
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS noted (round, player, currency, change)
  JOIN gateway.players AS players USING (player)
 WHERE noted.currency IS NOT NULL
    ON CONFLICT (round, player) DO UPDATE SET placed = kept.placed + excluded.placed
"""

_TAKEN_BACK: Final = """
UPDATE gateway.webhook_rounds AS kept SET placed = kept.placed + noted.change
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS noted (round, player, change)
 WHERE kept.round = noted.round AND kept.player = noted.player
"""

_SETTLED: Final = """
INSERT INTO gateway.webhook_rounds AS kept (
    round, player, operator, currency, revision, staked, returned, net, boxes
)
SELECT noted.round, noted.player, players.operator, noted.currency, noted.revision, noted.staked,
       noted.returned, noted.net, noted.boxes
  FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::jsonb[]) AS noted (round, player, currency, revision, staked, returned, net, boxes)
  JOIN gateway.players AS players USING (player)
    ON CONFLICT (round, player) DO UPDATE
       SET currency = excluded.currency, revision = excluded.revision, staked = excluded.staked,
           returned = excluded.returned, net = excluded.net, boxes = excluded.boxes
"""

_TAKE: Final = """
WITH taken AS (DELETE FROM gateway.webhook_rounds WHERE round = ANY ($1::text[]) RETURNING *)
SELECT * FROM taken ORDER BY round, player
"""

_OPERATORS: Final = "SELECT player, operator FROM gateway.players WHERE player = ANY ($1::text[])"

_PRUNE: Final = """
DELETE FROM gateway.webhook_rounds WHERE (round, player) IN (
    SELECT round, player FROM gateway.webhook_rounds
     WHERE noted_at < now() - make_interval(days => $1) ORDER BY noted_at LIMIT $2
)
"""


class PostgresRoundBook:
    """A `RoundBook` in the gateway's database. A round's events come one after the other, in its shard."""

    async def note(
        self, connection: Connection, staked: Sequence[Staked], settled: Sequence[Settled]
    ) -> None:
        """See `RoundBook`."""
        placed = [one for one in staked if one.currency is not None]
        taken = [one for one in staked if one.currency is None]
        if placed:
            await connection.execute(
                _STAKED,
                [one.round for one in placed],
                [one.player for one in placed],
                [one.currency for one in placed],
                [one.change for one in placed],
            )
        if taken:
            await connection.execute(
                _TAKEN_BACK,
                [one.round for one in taken],
                [one.player for one in taken],
                [one.change for one in taken],
            )
        if settled:
            await connection.execute(
                _SETTLED,
                [one.round for one in settled],
                [one.player for one in settled],
                [one.currency for one in settled],
                [one.revision for one in settled],
                [one.staked for one in settled],
                [one.returned for one in settled],
                [one.net for one in settled],
                [json.dumps(one.boxes) for one in settled],
            )

    async def take(self, connection: Connection, rounds: Sequence[str]) -> Sequence[KeptResult]:
        """See `RoundBook`."""
        return [
            KeptResult(
                row["round"],
                row["player"],
                row["operator"],
                row["currency"],
                row["placed"],
                row["revision"],
                row["staked"],
                row["returned"],
                row["net"],
                json.loads(row["boxes"]),
            )
            for row in await connection.fetch(_TAKE, rounds)
        ]

    async def operators_of(self, connection: Connection, players: Sequence[str]) -> Mapping[str, str]:
        """See `RoundBook`."""
        return {row["player"]: row["operator"] for row in await connection.fetch(_OPERATORS, players)}


async def prune_rounds(connection: Connection, kept_days: int, most: int) -> int:
    """Forget up to so many players in rounds that never ended; how many there were."""
    status = await connection.execute(_PRUNE, kept_days, most)
    return int(status.rpartition(" ")[2])
