"""Keeping a projection up to date."""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import asyncpg

from eventstore.events import RecordedEvent
from eventstore.following import (
    OWN,
    Applier,
    DatabaseAway,
    FollowerStopped,
    FollowingError,
    Gap,
    LiveFollower,
    Observer,
    Policy,
)
from eventstore.following.failures import passes
from eventstore.following.policy import DEFAULT_POLICY
from eventstore.port import PAGE_EVENTS, Reader
from eventstore.postgres.connections import SESSION_LOST, Connection, Pool
from eventstore.projections.projection import Projection
from eventstore.projections.tables import check_version
from eventstore.streams import SHARDS

ALL_SHARDS: Final = tuple(range(SHARDS))


@dataclass(frozen=True, slots=True)
class Running:
    """How a projection is run."""

    policy: Policy = DEFAULT_POLICY
    page: int = PAGE_EVENTS
    """Most events that are read at once."""
    look_interval_s: float = 1.0
    """How often requested retries are looked for, and, while it is stopped, whether it was resumed."""
    tries: int = 20
    """Times that it begins anew, without any progress in between, before it gives up."""


DEFAULT_RUNNING = Running()


async def handle_in(
    projection: Projection, schema: str, connection: Connection, events: Sequence[RecordedEvent]
) -> None:
    """The handler of a projection whose tables are in this schema."""
    await check_version(connection, projection, schema)
    await projection.handle(connection, schema, events)


async def run_projection(
    store: Reader,
    pool: Pool,
    projection: Projection,
    *,
    shards: Collection[int] = ALL_SHARDS,
    running: Running = DEFAULT_RUNNING,
    observer: Observer | None = None,
) -> None:
    """Apply what is in the log and what comes, until cancelled, which is safe at any moment.

    The tables are there (`prepare_projection`). Several may run at once, in any number of processes: nothing
    has its effect twice, but the work is done in vain; a lease keeps all but one waiting. A follower that was
    stopped waits to be resumed. Raises ProjectionOutdated when the tables were exchanged for another
    version's, LogBroken, HistoryDetached, or what keeps happening without progress.
    """
    handler = partial(handle_in, projection, projection.name)
    applier = Applier(pool, projection.name, OWN, handler, policy=running.policy, observer=observer)
    live = LiveFollower(
        store,
        applier,
        shards=shards,
        events_max=running.policy.batch_max,
        look_interval_s=running.look_interval_s,
        wanted=projection.wanted,
        page=running.page,
    )
    tried = 0
    while True:
        try:
            with contextlib.suppress(FollowerStopped):
                await live.follow()
        except (DatabaseAway, Gap, asyncpg.PostgresError, *SESSION_LOST) as error:
            # The database was away; or a position was set back by hand, and the subscription is ahead of it.
            tried = 1 if live.progressed else tried + 1
            if tried >= running.tries or not (isinstance(error, FollowingError) or passes(error)):
                raise
            await asyncio.sleep(running.policy.pause_s(tried))
        live.progressed = False
