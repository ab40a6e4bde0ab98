"""Jackpots and their tables; what rounds did to them is in `pools`, their fences in `fences`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

import asyncpg

from eventstore.postgres import Connection
from upcard_bonus.adapters.postgres.fences import FenceTables
from upcard_bonus.adapters.postgres.pools import PoolTables
from upcard_bonus.app.ports import KeptJackpot, TableTaken
from upcard_bonus.domain.jackpot import Jackpot
from upcard_bonus.domain.jackpot_events import JackpotSettings, SecretSize

_JACKPOTS: Final = """
SELECT j.jackpot, j.operator, j.currency, j.pool, j.remainder, j.cycle, j.seed, j.contribution_ppm,
       j.must_hit_by, j.reseed, j.commitment, j.size_above, j.size_up_to, j.rounds,
       ARRAY(SELECT t.table_id FROM bonus.jackpot_tables AS t WHERE t.jackpot = j.jackpot ORDER BY t.place)
         AS tables,
       EXISTS (SELECT FROM bonus.waiting_rounds AS w WHERE w.jackpot = j.jackpot) AS waiting,
       ARRAY(SELECT f.round FROM bonus.fences AS f WHERE f.jackpot = j.jackpot ORDER BY f.round) AS fences
  FROM bonus.jackpots AS j
"""

_ADD: Final = """
INSERT INTO bonus.jackpots (jackpot, operator, currency, pool, remainder, cycle, seed, contribution_ppm,
                            must_hit_by, reseed, commitment, size_above, size_up_to)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (jackpot) DO NOTHING
"""

# First the locks, then what they protect: whoever was waited for may have changed the fences.
_LOCK: Final = "SELECT FROM bonus.jackpots WHERE jackpot = ANY ($1::text[]) ORDER BY jackpot FOR UPDATE"

_KEPT: Final = f"{_JACKPOTS} WHERE j.jackpot = ANY ($1::text[])"

_FIND: Final = f"{_JACKPOTS} WHERE j.jackpot = $1"

_LIST: Final = f"""
{_JACKPOTS}
 WHERE j.jackpot > $1 AND ($2::text IS NULL OR j.operator = $2)
   AND ($3::text IS NULL
        OR j.jackpot IN (SELECT o.jackpot FROM bonus.jackpot_tables AS o WHERE o.table_id = $3))
 ORDER BY j.jackpot LIMIT $4
"""  # noqa: S608 - constants of this file alone

_SAVE: Final = """
UPDATE bonus.jackpots AS j
   SET pool = u.pool, remainder = u.remainder, cycle = u.cycle, seed = u.seed,
       contribution_ppm = u.contribution_ppm, must_hit_by = u.must_hit_by, reseed = u.reseed,
       commitment = u.commitment, size_above = u.size_above, size_up_to = u.size_up_to, rounds = u.rounds
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[],
              $7::bigint[], $8::boolean[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[])
    AS u (jackpot, pool, remainder, cycle, seed, contribution_ppm, must_hit_by, reseed, commitment,
          size_above, size_up_to, rounds)
 WHERE j.jackpot = u.jackpot
"""

_DROP_TABLES: Final = "DELETE FROM bonus.jackpot_tables WHERE jackpot = $1"

_ADD_TABLES: Final = """
INSERT INTO bonus.jackpot_tables (table_id, currency, jackpot, place)
SELECT table_id, $2, $1, place FROM unnest($3::text[]) WITH ORDINALITY AS u (table_id, place)
 ORDER BY table_id COLLATE "C"
"""

_OF_TABLES: Final = """
SELECT table_id, array_agg(jackpot ORDER BY jackpot) AS jackpots
  FROM bonus.jackpot_tables WHERE table_id = ANY ($1::text[]) GROUP BY table_id
"""


class JackpotTables(PoolTables, FenceTables):
    """Implements `app.ports.Jackpots`."""

    async def add(self, connection: Connection, state: Jackpot) -> bool:
        """See `Jackpots`."""
        try:
            async with connection.transaction():
                settings, size = state.settings, state.size
                status = await connection.execute(
                    _ADD,
                    state.jackpot,
                    state.operator,
                    state.currency,
                    state.pool,
                    state.remainder,
                    state.cycle,
                    settings.seed,
                    settings.contribution_ppm,
                    settings.must_hit_by,
                    settings.reseed,
                    *_size(size),
                )
                if status == "INSERT 0 1":
                    await self._add_tables(connection, state)
                    return True
                return False
        except asyncpg.UniqueViolationError:
            raise TableTaken(state.jackpot) from None

    async def lock(self, connection: Connection, names: Collection[str]) -> dict[str, KeptJackpot]:
        """See `Jackpots`."""
        if not names:
            return {}
        wanted = list(names)
        await connection.execute(_LOCK, wanted)
        rows = await connection.fetch(_KEPT, wanted)
        return {row["jackpot"]: KeptJackpot(_of(row), row["rounds"], row["waiting"]) for row in rows}

    async def find(self, connection: Connection, name: str) -> Jackpot | None:
        """See `Jackpots`."""
        row = await connection.fetchrow(_FIND, name)
        return None if row is None else _of(row)

    async def list(
        self, connection: Connection, *, operator: str | None, table: str | None, after: str, limit: int
    ) -> Sequence[Jackpot]:
        """See `Jackpots`."""
        return [_of(row) for row in await connection.fetch(_LIST, after, operator, table, limit)]

    async def save(self, connection: Connection, kept: Collection[KeptJackpot]) -> None:
        """See `Jackpots`."""
        rows = [
            (
                state.jackpot,
                state.pool,
                state.remainder,
                state.cycle,
                state.settings.seed,
                state.settings.contribution_ppm,
                state.settings.must_hit_by,
                state.settings.reseed,
                *_size(state.size),
                one.rounds,
            )
            for one in kept
            for state in (one.state,)
        ]
        if rows:
            await connection.execute(_SAVE, *zip(*rows, strict=True))

    async def set_tables(self, connection: Connection, state: Jackpot) -> None:
        """See `Jackpots`."""
        try:
            async with connection.transaction():
                await connection.execute(_DROP_TABLES, state.jackpot)
                await self._add_tables(connection, state)
        except asyncpg.UniqueViolationError:
            raise TableTaken(state.jackpot) from None

    async def of_tables(
        self, connection: Connection, tables: Collection[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """See `Jackpots`."""
        rows = await connection.fetch(_OF_TABLES, list(tables)) if tables else ()
        return {row["table_id"]: tuple(row["jackpots"]) for row in rows}

    async def _add_tables(self, connection: Connection, state: Jackpot) -> None:
        await connection.execute(_ADD_TABLES, state.jackpot, state.currency, list(state.settings.tables))


def _size(size: SecretSize | None) -> tuple[str | None, int | None, int | None]:
    return (None, None, None) if size is None else (size.commitment, size.above, size.up_to)


def _of(row: asyncpg.Record) -> Jackpot:
    state = Jackpot(
        row["jackpot"],
        row["operator"],
        row["currency"],
        JackpotSettings(
            row["seed"],
            row["contribution_ppm"],
            row["must_hit_by"],
            row["reseed"],
            tuple(row["tables"]),
        ),
        row["pool"],
        row["remainder"],
        row["cycle"],
        fences=frozenset(row["fences"]),
    )
    if row["commitment"] is None:
        return state
    return replace(state, size=SecretSize(row["commitment"], row["size_above"], row["size_up_to"]))
