"""Rounds, stakes on B and D, results."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Final

from eventstore.postgres import Connection
from upcard_bonus.app.ports import BetKey, Result, RoundRecord
from upcard_bonus.domain.side_bets import SideBet

_FIND: Final = """
SELECT round, ruleset, jackpots, step, cards, announced, corrections
  FROM bonus.rounds WHERE round = ANY ($1::text[])
"""

# A list a round does not fit into one array: each comes as JSON.
_SAVE: Final = """
INSERT INTO bonus.rounds AS r (round, ruleset, jackpots, step, cards, announced, corrections)
SELECT round, ruleset, ARRAY(SELECT jsonb_array_elements_text(jackpots)), step, cards,
       ARRAY(SELECT jsonb_array_elements_text(announced)::integer), corrections
  FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::text[], $5::jsonb[], $6::jsonb[], $7::integer[])
    AS u (round, ruleset, jackpots, step, cards, announced, corrections)
ON CONFLICT (round) DO UPDATE SET step = excluded.step, cards = excluded.cards,
    announced = excluded.announced, corrections = excluded.corrections
"""

_BETS: Final = """
SELECT round, player, bet_id, box, wager, amount, currency
  FROM bonus.side_bets WHERE round = ANY ($1::text[])
"""

_ADD_BETS: Final = """
INSERT INTO bonus.side_bets (round, player, bet_id, box, wager, amount, currency)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[])
"""

_REMOVE_BETS: Final = """
DELETE FROM bonus.side_bets AS b
 USING unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[])
       AS u (round, player, bet_id, box, wager)
 WHERE (b.round, b.player, b.bet_id, b.box, b.wager) = (u.round, u.player, u.bet_id, u.box, u.wager)
"""

_PUT_RESULTS: Final = """
INSERT INTO bonus.results AS r (round, player, box, currency, amount, share_percent, revision)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::integer[],
                     $7::integer[])
ON CONFLICT (round, player, box) DO UPDATE SET amount = excluded.amount,
    share_percent = excluded.share_percent, revision = excluded.revision
"""

_RESULTS: Final = """
SELECT round, player, box, currency, amount, share_percent, revision
  FROM bonus.results WHERE round = ANY ($1::text[])
"""


class RoundTables:
    """Implements `app.ports.Rounds`."""

    async def find(self, connection: Connection, names: Collection[str]) -> dict[str, RoundRecord]:
        """See `Rounds`."""
        rows = await connection.fetch(_FIND, list(names)) if names else ()
        return {
            row["round"]: RoundRecord(
                row["round"],
                row["ruleset"],
                tuple(row["jackpots"]),
                row["step"],
                json.loads(row["cards"]),
                set(row["announced"]),
                row["corrections"],
            )
            for row in rows
        }

    async def save(self, connection: Connection, records: Iterable[RoundRecord]) -> None:
        """See `Rounds`."""
        rows = [
            (
                one.round,
                one.ruleset,
                json.dumps(one.jackpots),
                one.step,
                json.dumps(one.cards),
                json.dumps(sorted(one.announced)),
                one.corrections,
            )
            for one in records
        ]
        if rows:
            await connection.execute(_SAVE, *_columns(rows))

    async def bets(self, connection: Connection, names: Collection[str]) -> dict[str, list[SideBet]]:
        """See `Rounds`."""
        found: dict[str, list[SideBet]] = {}
        for name, *bet in await connection.fetch(_BETS, list(names)) if names else ():
            found.setdefault(name, []).append(SideBet(*bet))
        return found

    async def add_bets(self, connection: Connection, bets: Iterable[tuple[str, SideBet]]) -> None:
        """See `Rounds`."""
        rows = [(name, *bet) for name, bet in bets]
        if rows:
            await connection.execute(_ADD_BETS, *_columns(rows))

    async def remove_bets(self, connection: Connection, keys: Iterable[BetKey]) -> None:
        """See `Rounds`."""
        rows = list(keys)
        if rows:
            await connection.execute(_REMOVE_BETS, *_columns(rows))

    async def put_results(self, connection: Connection, results: Iterable[tuple[str, Result]]) -> None:
        """See `Rounds`."""
        rows = [(name, *result) for name, result in results]
        if rows:
            await connection.execute(_PUT_RESULTS, *_columns(rows))

    async def results(self, connection: Connection, names: Collection[str]) -> dict[str, list[Result]]:
        """See `Rounds`."""
        found: dict[str, list[Result]] = {}
        for name, *result in await connection.fetch(_RESULTS, list(names)) if names else ():
            found.setdefault(name, []).append(Result(*result))
        return found


def _columns(rows: Collection[tuple[object, ...]]) -> list[list[object]]:
    """Rows as the arrays that `unnest` takes."""
    return [list(column) for column in zip(*rows, strict=True)]
