"""Is a view what its log makes of it? It is built anew beside the live one, up to the same positions.

Unlike a rebuild this changes nothing that anybody reads: what was built is dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eventstore import RecordedEvent
from eventstore.following import OWN, Applier, Page
from eventstore.following.positions import lock_positions
from eventstore.port import Reader
from eventstore.postgres import Connection, Pool
from eventstore.projections import ALL_SHARDS, Progress, Projection
from eventstore.projections.swap import forget_follower
from eventstore.projections.tables import check_version

CHECK: Final = "_check"
"""Appended to a view's name: what is built beside it here."""

SHOWN_MAX: Final = 20
"""Most differing rows of each table that are named."""

_BATCH: Final = 500
_NEAR: Final = 250
_ROUNDS_MAX: Final = 10_000

_POSITIONS: Final = "SELECT shard, position FROM eventstore.positions WHERE follower = $1 AND source = $2"
_TABLES: Final = """
SELECT c.relname::text AS name
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 1
"""
# Rows as often as they are there: two equal ones are not one.
_DIFFERING: Final = """
SELECT 'live only' AS side, to_jsonb(x)::text AS row
  FROM (TABLE "{live}"."{table}" EXCEPT ALL TABLE "{built}"."{table}" LIMIT $1) AS x
 UNION ALL
SELECT 'built only', to_jsonb(y)::text
  FROM (TABLE "{built}"."{table}" EXCEPT ALL TABLE "{live}"."{table}" LIMIT $1) AS y
"""
_COUNT: Final = 'SELECT count(*) FROM "{live}"."{table}"'
_PARKED: Final = "SELECT stream FROM eventstore.parked_streams WHERE follower = $1 AND source = $2 ORDER BY 1"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that only one of both has."""

    table: str
    side: str
    """`live only` or `built only`."""
    row: str
    """As JSON."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of it. `parked` are streams that only one of both has parked."""

    name: str
    events: int
    """How far both are: the sum of their positions."""
    tables: Mapping[str, int]
    """Rows of each table of the live view."""
    differences: tuple[Difference, ...]
    parked: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether both are the same, row by row."""
        return not self.differences and not self.parked


class NeverCaughtUp(Exception):
    """The live view moves on faster than another one can be built."""


def _ignore(_: Progress) -> None:
    """Nobody watches."""


async def compare_projection(
    reader: Reader,
    pool: Pool,
    projection: Projection,
    *,
    on_progress: Callable[[Progress], None] = _ignore,
) -> Comparison:
    """Build a view anew from the first event on and compare it with the live one, row by row.

    The live one goes on meanwhile and waits only while both are compared. As the owner of the views, one at
    a time for each view; the pool has two connections or more. Raises NeverCaughtUp, ProjectionOutdated, or
    what eventstore's `Applier` raises. What an interrupted one left is dropped by the next.
    """
    built = projection.name + CHECK
    async with pool.acquire() as connection:
        await check_version(connection, projection, projection.name)
        await _drop(connection, built)
        async with connection.transaction():
            await connection.execute(f'CREATE SCHEMA "{built}"')
            await projection.create(connection, built)

    async def handle(connection: Connection, events: Sequence[RecordedEvent]) -> None:
        await projection.handle(connection, built, events)

    try:
        applier = Applier(pool, built, OWN, handle)
        for _ in range(_ROUNDS_MAX):
            await _catch_up(reader, pool, applier, projection, on_progress)
            found = await _compare(reader, pool, applier, projection)
            if found is not None:
                return found
        raise NeverCaughtUp(f"{projection.name} moves on faster than it can be built anew")
    finally:
        async with pool.acquire() as connection:
            await _drop(connection, built)


async def _catch_up(
    reader: Reader,
    pool: Pool,
    applier: Applier,
    projection: Projection,
    on_progress: Callable[[Progress], None],
) -> None:
    """Apply what the live one has applied; returns when few events are left."""
    while True:
        async with pool.acquire() as connection:
            wanted = await _positions(connection, projection.name)
        found = await applier.positions(ALL_SHARDS)
        done = {shard: one.position for shard, one in found.items()}
        total = sum(wanted.values())
        on_progress(Progress(total - _rest(done, wanted), total))
        if _rest(done, wanted) <= _NEAR:
            return
        await _apply_to(reader, applier, projection, done, wanted)


async def _apply_to(
    reader: Reader,
    applier: Applier,
    projection: Projection,
    done: dict[int, int],
    wanted: Mapping[int, int],
) -> None:
    """One page of each shard that is behind; `done` is moved on."""
    for shard in sorted(wanted):
        rest = wanted[shard] - done.get(shard, 0)
        if rest <= 0:
            continue
        found = await reader.read_shard(
            shard, after=done[shard], limit=min(rest, _BATCH), wanted=projection.wanted
        )
        await applier.apply([Page.of_shard(found, after=done[shard])])
        done[shard] = found.through


async def _compare(reader: Reader, pool: Pool, applier: Applier, projection: Projection) -> Comparison | None:
    """Hold the live one, apply the rest, compare; None where it was too far ahead by then."""
    async with pool.acquire() as connection, connection.transaction():
        held = await lock_positions(connection, projection.name, OWN, ALL_SHARDS)
        wanted = {shard: one.position for shard, one in held.items()}
        found = await applier.positions(ALL_SHARDS)
        done = {shard: one.position for shard, one in found.items()}
        if _rest(done, wanted) > 2 * _NEAR:
            return None
        while _rest(done, wanted):
            await _apply_to(reader, applier, projection, done, wanted)
        return await _compared(connection, projection.name, sum(wanted.values()))


async def _compared(connection: Connection, name: str, events: int) -> Comparison:
    tables: dict[str, int] = {}
    differences: list[Difference] = []
    built = name + CHECK
    for (table,) in await connection.fetch(_TABLES, name):
        tables[table] = await connection.fetchval(_COUNT.format(live=name, table=table))
        rows = await connection.fetch(_DIFFERING.format(live=name, built=built, table=table), SHOWN_MAX)
        differences += [Difference(table, row["side"], row["row"]) for row in rows]
    parked = [
        {row["stream"] for row in await connection.fetch(_PARKED, follower, OWN)}
        for follower in (name, built)
    ]
    return Comparison(name, events, tables, tuple(differences), tuple(sorted(parked[0] ^ parked[1])))


def _rest(done: Mapping[int, int], wanted: Mapping[int, int]) -> int:
    return sum(max(0, position - done.get(shard, 0)) for shard, position in wanted.items())


async def _positions(connection: Connection, follower: str) -> dict[int, int]:
    return {row["shard"]: row["position"] for row in await connection.fetch(_POSITIONS, follower, OWN)}


async def _drop(connection: Connection, name: str) -> None:
    async with connection.transaction():
        await connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
        await forget_follower(connection, name)
