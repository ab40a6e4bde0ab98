"""Holds, rounds, and the settlements of rounds."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Final, cast
from uuid import UUID

import asyncpg

from eventstore.postgres import Connection
from upcard_wallet.app.ports import (
    EndedRound,
    Hold,
    HoldChange,
    HoldExists,
    HoldsWanted,
    Placing,
    RoundTotals,
    Settlement,
)
from upcard_wallet.domain.holds import HoldState

CommandKey = tuple[str, str, str]
"""(round, player, bet_id)."""

# A scan over sorted rows calls the functions in that order; the condition is true of every row.
_LOCK_ROUNDS: Final = """
SELECT count(*) FROM (SELECT key, alone FROM unnest($1::bigint[], $2::boolean[]) AS u (key, alone)
                       ORDER BY key OFFSET 0) AS s
 WHERE CASE WHEN alone THEN pg_advisory_xact_lock(key)::text
            ELSE pg_advisory_xact_lock_shared(key)::text END = ''
"""

_BEGIN_PLACING: Final = "SELECT * FROM wallet.begin_placing($1, $2, $3, $4, $5, $6)"

_ENDED: Final = "SELECT round FROM wallet.rounds WHERE round = ANY ($1::text[])"

_FIND: Final = """
SELECT hold, round, player, account, bet_id, box, wager, amount, funding, state, reason
  FROM wallet.holds WHERE hold = ANY ($1::uuid[])
"""

_OF_COMMANDS: Final = """
SELECT hold, round, player, account, bet_id, box, wager, amount, funding, state, reason
  FROM wallet.holds JOIN unnest($1::text[], $2::text[], $3::text[]) AS u (round, player, bet_id)
 USING (round, player, bet_id)
"""

# Of a command that somebody is being asked for all holds are locked: they are freed together or not at all.
_LOCK: Final = """
WITH wanted AS (
    SELECT unnest($1::uuid[]) AS hold
     UNION
    SELECT h.hold FROM unnest($2::text[], $3::text[]) AS u (round, player)
      JOIN wallet.holds AS h USING (round, player) WHERE h.state = 'held'
     UNION
    (SELECT h.hold FROM wallet.holds AS h
      WHERE h.round = ANY ($4::text[]) AND h.state IN ('requested', 'held') LIMIT $5)
)
SELECT hold, round, player, account, bet_id, box, wager, amount, funding, state, reason
  FROM wallet.holds
 WHERE hold IN (
    SELECT w.hold FROM wanted AS w
     UNION
    SELECT s.hold FROM wanted AS w JOIN wallet.holds AS h USING (hold)
      JOIN wallet.holds AS s ON (s.round, s.player, s.bet_id) = (h.round, h.player, h.bet_id)
     WHERE h.state = 'requested' AND s.state = 'requested'
 )
 ORDER BY hold FOR NO KEY UPDATE
"""

_ADD: Final = """
INSERT INTO wallet.holds (hold, round, player, account, bet_id, box, wager, amount, funding, state, reason)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[],
                     $8::bigint[], $9::text[], $10::text[], $11::text[])
 ORDER BY 1
ON CONFLICT (hold) DO NOTHING
"""

_CHANGE: Final = """
UPDATE wallet.holds AS h
   SET state = u.state, reason = coalesce(u.reason, h.reason), changed_at = clock_timestamp()
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS u (hold, state, reason) WHERE h.hold = u.hold
"""

_LATEST: Final = """
SELECT s.* FROM unnest($1::text[], $2::text[]) AS u (round, player)
 CROSS JOIN LATERAL (
    SELECT round, player, revision, account, staked, returned, cause_event, result
      FROM wallet.settlements AS t
     WHERE t.round = u.round AND t.player = u.player ORDER BY t.revision DESC LIMIT 1
 ) AS s
"""

_ADD_SETTLEMENTS: Final = """
INSERT INTO wallet.settlements
       (round, player, revision, account, staked, returned, cause_event, result)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::bigint[],
                     $7::uuid[], $8::jsonb[])
"""

_END: Final = """
INSERT INTO wallet.rounds (round, end_kind, cause_event)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[]) ORDER BY 1
ON CONFLICT (round) DO NOTHING
"""

# A word that comes again changes nothing; a correction's is compared anew.
_TOTALS: Final = """
INSERT INTO wallet.round_totals AS t (round, number, totals, cause_event)
SELECT DISTINCT ON (u.round) * FROM unnest($1::text[], $2::integer[], $3::jsonb[], $4::uuid[])
       AS u (round, number, totals, cause_event)
 ORDER BY u.round, u.number DESC
ON CONFLICT (round) DO UPDATE
   SET number = excluded.number, totals = excluded.totals, cause_event = excluded.cause_event, checked = false
 WHERE t.number < excluded.number
"""

_UNFREED: Final = """
SELECT round, r.end_kind, r.cause_event FROM wallet.unfreed_rounds JOIN wallet.rounds AS r USING (round)
 ORDER BY round LIMIT $1
"""

_LEFT: Final = """
INSERT INTO wallet.unfreed_rounds (round) SELECT * FROM unnest($1::text[]) ORDER BY 1 ON CONFLICT DO NOTHING
"""

_DONE: Final = "DELETE FROM wallet.unfreed_rounds WHERE round = ANY ($1::text[])"


class HoldTables:
    """The tables `holds`, `rounds` and `settlements`: a part of the ledger."""

    async def lock_rounds(
        self, connection: Connection, *, shared: Collection[str] = (), exclusive: Collection[str] = ()
    ) -> None:
        """See `app.ports.Ledger`."""
        keys = {round_key(one): False for one in shared} | {round_key(one): True for one in exclusive}
        if keys:
            await connection.execute(_LOCK_ROUNDS, list(keys), list(keys.values()))

    async def begin_placing(
        self,
        connection: Connection,
        rounds: Collection[str],
        books: Collection[int],
        commands: Collection[CommandKey],
    ) -> Placing:
        """See `app.ports.Ledger`."""
        of_rounds, players, bet_ids = zip(*commands, strict=True) if commands else ((), (), ())
        locked, balances, ended, known = (
            await connection.fetchrow(
                _BEGIN_PLACING,
                [round_key(one) for one in set(rounds)],
                list(books),
                list(rounds),
                of_rounds,
                players,
                bet_ids,
            )
            or (None,) * 4
        )
        found: dict[CommandKey, list[Hold]] = {}
        if known:  # asked before: seldom
            for hold in (await self.find_holds(connection, known)).values():
                found.setdefault((hold.round, hold.player, hold.bet_id), []).append(hold)
        return Placing(dict(zip(locked or (), balances or (), strict=True)), set(ended or ()), found)

    async def ended(self, connection: Connection, rounds: Collection[str]) -> set[str]:
        """See `app.ports.Ledger`."""
        return {row["round"] for row in await connection.fetch(_ENDED, list(rounds))}

    async def find_holds(self, connection: Connection, holds: Collection[UUID]) -> dict[UUID, Hold]:
        """See `app.ports.Ledger`."""
        return {row["hold"]: _hold(row) for row in await connection.fetch(_FIND, list(holds))}

    async def holds_of(
        self, connection: Connection, commands: Collection[CommandKey]
    ) -> dict[CommandKey, list[Hold]]:
        """See `app.ports.Ledger`."""
        if not commands:
            return {}
        rounds, players, bet_ids = zip(*commands, strict=True)
        found: dict[CommandKey, list[Hold]] = {}
        for row in await connection.fetch(_OF_COMMANDS, rounds, players, bet_ids):
            hold = _hold(row)
            found.setdefault((hold.round, hold.player, hold.bet_id), []).append(hold)
        return found

    async def lock_holds(self, connection: Connection, wanted: HoldsWanted, limit: int) -> dict[UUID, Hold]:
        """See `app.ports.Ledger`."""
        rows = await connection.fetch(
            _LOCK,
            list(wanted.holds),
            [round_name for round_name, _ in wanted.players],
            [player for _, player in wanted.players],
            list(wanted.rounds),
            limit,
        )
        return {row["hold"]: _hold(row) for row in rows}

    async def add_holds(self, connection: Connection, holds: Sequence[Hold]) -> None:
        """See `app.ports.Ledger`."""
        if not holds:
            return
        status = await connection.execute(
            _ADD,
            [one.hold for one in holds],
            [one.round for one in holds],
            [one.player for one in holds],
            [one.account for one in holds],
            [one.bet_id for one in holds],
            [one.box for one in holds],
            [one.wager for one in holds],
            [one.amount for one in holds],
            [one.funding for one in holds],
            [one.state for one in holds],
            [one.reason for one in holds],
        )
        if status != f"INSERT 0 {len(holds)}":
            raise HoldExists

    async def change_holds(self, connection: Connection, changes: Sequence[HoldChange]) -> None:
        """See `app.ports.Ledger`."""
        if not changes:
            return
        holds, states, reasons = zip(*changes, strict=True)
        status = await connection.execute(_CHANGE, holds, states, reasons)
        if status != f"UPDATE {len(changes)}":
            raise RuntimeError(f"{len(changes)} holds were to change: {status}")

    async def latest_settlements(
        self, connection: Connection, players: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Settlement]:
        """See `app.ports.Ledger`."""
        if not players:
            return {}
        rounds, names = zip(*players, strict=True)
        rows = await connection.fetch(_LATEST, rounds, names)
        return {(row["round"], row["player"]): _settlement(row) for row in rows}

    async def add_settlements(self, connection: Connection, settlements: Sequence[Settlement]) -> None:
        """See `app.ports.Ledger`."""
        if settlements:
            await connection.execute(
                _ADD_SETTLEMENTS,
                [one.round for one in settlements],
                [one.player for one in settlements],
                [one.revision for one in settlements],
                [one.account for one in settlements],
                [one.staked for one in settlements],
                [one.returned for one in settlements],
                [one.cause_event for one in settlements],
                [json.dumps(one.result, separators=(",", ":")) for one in settlements],
            )

    async def end_rounds(self, connection: Connection, rounds: Sequence[EndedRound]) -> None:
        """See `app.ports.Ledger`."""
        if rounds:
            await connection.execute(
                _END,
                [one.round for one in rounds],
                [one.end_kind for one in rounds],
                [one.cause_event for one in rounds],
            )

    async def note_totals(self, connection: Connection, totals: Sequence[RoundTotals]) -> None:
        """See `app.ports.Ledger`."""
        if totals:
            await connection.execute(
                _TOTALS,
                [one.round for one in totals],
                [one.number for one in totals],
                [json.dumps([asdict(total) for total in one.totals]) for one in totals],
                [one.cause_event for one in totals],
            )

    async def note_unfreed(self, connection: Connection, rounds: Collection[str], *, left: bool) -> None:
        """See `app.ports.Ledger`."""
        if rounds:
            await connection.execute(_LEFT if left else _DONE, list(rounds))

    async def unfreed_rounds(self, connection: Connection, limit: int) -> dict[str, EndedRound]:
        """See `app.ports.Ledger`."""
        rows = await connection.fetch(_UNFREED, limit)
        return {row["round"]: EndedRound(row["round"], row["end_kind"], row["cause_event"]) for row in rows}


def round_key(round_name: str) -> int:
    """The number under which a round's advisory lock is taken: the same in every process, for ever."""
    digest = sha256(f"upcard.wallet.round/{round_name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _hold(row: asyncpg.Record) -> Hold:
    return Hold(
        row["hold"],
        row["round"],
        row["player"],
        row["account"],
        row["bet_id"],
        row["box"],
        row["wager"],
        row["amount"],
        row["funding"],
        cast("HoldState", row["state"]),
        row["reason"],
    )


def _settlement(row: asyncpg.Record) -> Settlement:
    return Settlement(
        row["round"],
        row["player"],
        row["revision"],
        row["account"],
        row["staked"],
        row["returned"],
        row["cause_event"],
        json.loads(row["result"]),
    )
