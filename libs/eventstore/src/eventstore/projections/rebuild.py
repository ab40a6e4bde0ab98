"""Building a projection anew beside the live one, and putting it in its place."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import asyncpg

from eventstore.faults import reach
from eventstore.following import OWN, Applier, Observer, Page, Policy, resume
from eventstore.following.policy import DEFAULT_POLICY
from eventstore.port import Reader
from eventstore.postgres.connections import Connection, Pool
from eventstore.projections.projection import REBUILD, Projection, ProjectionError
from eventstore.projections.runner import ALL_SHARDS, handle_in
from eventstore.projections.swap import NotCaughtUp, drop_old, forget_follower, swap
from eventstore.projections.tables import check_version, make_tables

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('eventstore.rebuild.' || $1, 0))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtextextended('eventstore.rebuild.' || $1, 0))"

_IN_THE_WAY: Final = (
    NotCaughtUp,
    asyncpg.LockNotAvailableError,
    asyncpg.TransactionRollbackError,
    asyncpg.QueryCanceledError,
)


class RebuildRunning(ProjectionError):
    """Another process is rebuilding this projection."""

    slug = "rebuild_running"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rebuild is, in events of the log, unwanted ones included."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """How a projection is rebuilt."""

    policy: Policy = DEFAULT_POLICY
    swap_events_max: int = 500
    """Most events that are applied while the live projection waits for the exchange."""
    swap_lock_timeout_ms: int = 500
    """Longest wait for the live projection's positions, in one try."""
    swap_tries: int = 40


DEFAULT_REBUILDING = Rebuilding()


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What became of it. `old_dropped` is False where others still read the old tables: they go next time."""

    events: int
    parked: int
    old_dropped: bool


def _ignore(_: Progress) -> None:
    """Nobody watches."""


async def rebuild_projection(  # noqa: PLR0913 - the last five have defaults that fit most
    reader: Reader,
    pool: Pool,
    projection: Projection,
    *,
    rebuilding: Rebuilding = DEFAULT_REBUILDING,
    observer: Observer | None = None,
    on_progress: Callable[[Progress], None] = _ignore,
    go_on: bool = False,
    grant_to: str | None = None,
) -> Rebuilt:
    """Build a projection from the first event on, beside the live one, then exchange them in one transaction.

    The live one, if there is one, goes on meanwhile, and is never ahead of what replaces it. A process that
    runs an older version of it ends with ProjectionOutdated at its next batch. With `go_on` a rebuild that
    was interrupted is continued, by the same version of the code only. Needs the right to make schemas,
    the ownership of the live one, and a pool of at least two connections. Raises RebuildRunning,
    ProjectionOutdated (nothing to go on with), FollowerStopped (policy), DatabaseAway, HistoryDetached, or
    the last reason why they could not be exchanged.
    """
    async with pool.acquire() as connection:
        if not await connection.fetchval(_LOCK, projection.name):
            raise RebuildRunning(f"projection {projection.name} is being rebuilt by another process")
        try:
            # It goes with the session: the exchange is made by the one that holds it.
            rebuild = _Rebuild(reader, pool, projection, rebuilding, observer, on_progress)
            await rebuild.prepare(connection, grant_to, go_on=go_on)
            await rebuild.catch_up()
            events = await rebuild.exchange(connection)
            dropped = await drop_old(connection, projection.name, rebuilding.swap_lock_timeout_ms)
            parked: int = await connection.fetchval(
                "SELECT count(*) FROM eventstore.parked_streams WHERE follower = $1 AND source = $2",
                projection.name,
                OWN,
            )
            return Rebuilt(events, parked, dropped)
        finally:
            if not connection.is_closed():
                await connection.execute(_UNLOCK, projection.name)


class _Rebuild:
    """A rebuild in progress."""

    def __init__(
        self,
        reader: Reader,
        pool: Pool,
        projection: Projection,
        rebuilding: Rebuilding,
        observer: Observer | None,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._reader = reader
        self._projection = projection
        self._schema = projection.name + REBUILD
        self._rebuilding = rebuilding
        self._on_progress = on_progress
        self._applier = Applier(
            pool,
            self._schema,
            OWN,
            partial(handle_in, projection, self._schema),
            policy=rebuilding.policy,
            observer=observer,
        )

    async def prepare(self, connection: Connection, grant_to: str | None, *, go_on: bool) -> None:
        """Empty tables beside the live ones; or those of an interrupted rebuild, as they are."""
        await drop_old(connection, self._projection.name, self._rebuilding.swap_lock_timeout_ms)
        if go_on:
            await check_version(connection, self._projection, self._schema)
            await resume(connection, self._schema, OWN)
        else:
            async with connection.transaction():
                await connection.execute(f'DROP SCHEMA IF EXISTS "{self._schema}" CASCADE')
                await forget_follower(connection, self._schema)
                await make_tables(connection, self._projection, self._schema, grant_to)
        reach("rebuild.prepared")

    async def catch_up(self) -> None:
        """Apply everything up to what came during the last round, when that was short."""
        found = await self._applier.positions(ALL_SHARDS)
        positions = {shard: one.position for shard, one in found.items()}
        while True:
            heads = await self._reader.shard_heads()
            rest = sum(heads) - sum(positions.values())
            self._on_progress(Progress(sum(positions.values()), sum(heads)))
            if rest > 0:
                await self._round(positions, heads)
                self._on_progress(Progress(sum(positions.values()), sum(heads)))
            if rest <= self._rebuilding.swap_events_max // 2:
                return

    async def _round(self, positions: dict[int, int], heads: tuple[int, ...]) -> None:
        # One page of each shard that is behind, several of them in one transaction. `positions` is updated.
        batch_max = self._rebuilding.policy.batch_max
        pages: list[Page] = []
        room = batch_max
        for shard in [shard for shard, head in enumerate(heads) if positions[shard] < head]:
            found = await self._reader.read_shard(
                shard, after=positions[shard], limit=batch_max, wanted=self._projection.wanted
            )
            pages.append(Page.of_shard(found, after=positions[shard]))
            positions[shard] = found.through
            room -= len(found.events)
            if room <= 0:
                await self._applier.apply(pages)
                self._on_progress(Progress(sum(positions.values()), sum(heads)))
                pages, room = [], batch_max
        await self._applier.apply(pages)

    async def exchange(self, connection: Connection) -> int:
        """Put it in the live one's place; returns how many events of the log it has been through."""
        reach("rebuild.caught_up")
        tried = 0
        while True:
            tried += 1
            try:
                events = await swap(
                    connection,
                    self._projection,
                    self._rebuilding.policy,
                    events_max=self._rebuilding.swap_events_max,
                    lock_timeout_ms=self._rebuilding.swap_lock_timeout_ms,
                )
            except _IN_THE_WAY:
                if tried >= self._rebuilding.swap_tries:
                    raise
            else:
                reach("rebuild.swapped")
                return events
            await asyncio.sleep(self._rebuilding.policy.pause_s(tried))
            await self.catch_up()
