"""Exchanging a projection's tables for those that were built beside them, in one transaction."""

import asyncio
from functools import partial
from typing import Final

import asyncpg

from eventstore.following import OWN, HandlerUnfit, Page, Policy
from eventstore.following.application import Application
from eventstore.following.positions import lock_positions
from eventstore.following.transactions import Progress
from eventstore.postgres.connections import Connection
from eventstore.postgres.reading import read_shard
from eventstore.projections.projection import REBUILD, REPLACED, Projection
from eventstore.projections.runner import ALL_SHARDS, handle_in

_DROP_TRIES: Final = 5
_DROP_PAUSE_S: Final = 0.2

# Ascending, as every applier takes them.
_LOCK_LIVE: Final = """
SELECT shard, position FROM eventstore.positions WHERE follower = $1 AND source = $2 ORDER BY shard FOR UPDATE
"""
_FORGET: Final = (
    "DELETE FROM eventstore.parked_events WHERE follower = $1 AND source = $2",
    "DELETE FROM eventstore.parked_streams WHERE follower = $1 AND source = $2",
    "DELETE FROM eventstore.stopped_followers WHERE follower = $1 AND source = $2",
    "DELETE FROM eventstore.positions WHERE follower = $1 AND source = $2",
)
# Kept events go with their streams.
_RENAME: Final = (
    "UPDATE eventstore.parked_streams SET follower = $3 WHERE follower = $1 AND source = $2",
    "UPDATE eventstore.stopped_followers SET follower = $3 WHERE follower = $1 AND source = $2",
    "UPDATE eventstore.positions SET follower = $3 WHERE follower = $1 AND source = $2",
)


class NotCaughtUp(Exception):
    """What was built is too far behind the live projection to be exchanged now: catch up, and try again."""


async def forget_follower(connection: Connection, name: str) -> None:
    """Remove everything that is noted about a projection, but for the events that were skipped."""
    for statement in _FORGET:
        await connection.execute(statement, name, OWN)
    await connection.execute("DELETE FROM eventstore.projections WHERE name = $1", name)


async def swap(
    connection: Connection,
    projection: Projection,
    policy: Policy,
    *,
    events_max: int,
    lock_timeout_ms: int,
) -> int:
    """Put what was built in the live one's place, with its positions; returns the sum of these.

    While it lasts the live one waits, so it applies at most so many events to catch up with it. Raises
    NotCaughtUp, or what asyncpg raises of locks: nothing has changed then.
    """
    name, built = projection.name, projection.name + REBUILD
    async with connection.transaction():
        await connection.execute("SELECT set_config('lock_timeout', $1, true)", f"{lock_timeout_ms}ms")
        live = {row["shard"]: row["position"] for row in await connection.fetch(_LOCK_LIVE, name, OWN)}
        await _catch_up_with(connection, projection, policy, live, events_max)
        await forget_follower(connection, name)
        for statement in _RENAME:
            await connection.execute(statement, built, OWN, name)
        await connection.execute(
            "UPDATE eventstore.projections SET name = $2, built_at = clock_timestamp() WHERE name = $1",
            built,
            name,
        )
        if await connection.fetchval("SELECT to_regnamespace($1) IS NOT NULL", name):
            await connection.execute(f'ALTER SCHEMA "{name}" RENAME TO "{name}{REPLACED}"')
        await connection.execute(f'ALTER SCHEMA "{built}" RENAME TO "{name}"')
        through: int = await connection.fetchval(
            "SELECT sum(position)::bigint FROM eventstore.positions WHERE follower = $1 AND source = $2",
            name,
            OWN,
        )
    return through


async def drop_old(connection: Connection, name: str, lock_timeout_ms: int) -> bool:
    """Drop the tables that were replaced; False when others still read them, after some tries."""
    for tried in range(_DROP_TRIES):
        if tried:
            await asyncio.sleep(_DROP_PAUSE_S)
        try:
            async with connection.transaction():
                await connection.execute(
                    "SELECT set_config('lock_timeout', $1, true)", f"{lock_timeout_ms}ms"
                )
                await connection.execute(f'DROP SCHEMA IF EXISTS "{name}{REPLACED}" CASCADE')
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            continue
        return True
    return False


async def _catch_up_with(
    connection: Connection,
    projection: Projection,
    policy: Policy,
    live: dict[int, int],
    events_max: int,
) -> None:
    built = projection.name + REBUILD
    known = await lock_positions(connection, built, OWN, ALL_SHARDS)
    behind = {
        shard: position - known[shard].position
        for shard, position in live.items()
        if position > known[shard].position
    }
    if sum(behind.values()) > events_max:
        raise NotCaughtUp(f"{built} is {sum(behind.values())} events behind {projection.name}")
    pages = []
    for shard, events in sorted(behind.items()):
        after = known[shard].position
        page = await read_shard(connection, shard, after, events, projection.wanted)
        if page.through < after + events:  # a page is bounded in bytes too
            raise NotCaughtUp(f"{built} is too many bytes behind {projection.name} in shard {shard}")
        pages.append(Page.of_shard(page, after=after))
    if not pages:
        return
    application = Application(
        built, OWN, partial(handle_in, projection, built), None, policy.parked_events_max
    )
    try:
        await application.apply(tuple(pages), connection, Progress())
    except HandlerUnfit:
        raise
    except Exception as error:
        # An event at fault is found and parked where there is time for it.
        raise NotCaughtUp(f"{built}: {error!r}") from error
