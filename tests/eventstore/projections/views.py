"""A projection: how many events each stream has, and in which order they came."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field, replace

from eventstore import EventFilter, RecordedEvent
from eventstore.following import Observer, Policy
from eventstore.postgres import Connection, Pool, PostgresEventStore
from eventstore.projections import Projection, Running, projection_status, run_projection

NAME = "streams_view"
QUICK = Running(policy=Policy(attempts=2, first_pause_s=0.001, longest_pause_s=0.01), look_interval_s=0.02)
DEADLINE_S = 60


async def create(connection: Connection, schema: str) -> None:
    # No key on purpose: a row that comes twice is to be seen.
    await connection.execute(
        f"CREATE TABLE {schema}.seen (id bigint GENERATED ALWAYS AS IDENTITY, stream text, position bigint)"
    )


async def handle(connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
    await connection.execute(
        f"INSERT INTO {schema}.seen (stream, position) SELECT * FROM unnest($1::text[], $2::bigint[])",  # noqa: S608 - the schema's name is checked
        [one.stream for one in events],
        [one.stream_position for one in events],
    )


PROJECTION = Projection(NAME, 1, create, handle)
ONLY_OPENED = replace(PROJECTION, version=2, wanted=EventFilter(types=frozenset({"Opened"})))


@dataclass
class Poisonous:
    """A handler that fails at some events while they are poisonous."""

    poison: set[tuple[str, int]] = field(default_factory=set)
    sizes: list[int] = field(default_factory=list)

    async def __call__(self, connection: Connection, schema: str, events: Sequence[RecordedEvent]) -> None:
        self.sizes.append(len(events))
        await handle(connection, schema, events)
        for one in events:
            if (one.stream, one.stream_position) in self.poison:
                raise ValueError(f"{one.stream} at {one.stream_position}")


async def seen(pool: Pool, schema: str = NAME) -> dict[str, list[int]]:
    """The positions of each stream in the order in which they came."""
    rows = await pool.fetch(f"SELECT stream, position FROM {schema}.seen ORDER BY id")  # noqa: S608 - as above
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(row["stream"], []).append(row["position"])
    return found


@contextlib.asynccontextmanager
async def running(
    pool: Pool,
    store: PostgresEventStore,
    projection: Projection = PROJECTION,
    *,
    how: Running = QUICK,
    observer: Observer | None = None,
    shards: Collection[int] = tuple(range(64)),
) -> AsyncIterator[asyncio.Task[None]]:
    """The projection runs for as long as this lasts."""
    task = asyncio.create_task(
        run_projection(store, pool, projection, shards=shards, running=how, observer=observer)
    )
    try:
        yield task
    finally:
        if not task.done():  # else the test has seen why
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until_no_lag(pool: Pool, task: asyncio.Task[None] | None = None) -> None:
    """Wait until the projection has seen everything in the log; raises what its runner has raised."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            if task is not None and task.done():
                task.result()
            async with pool.acquire() as connection:
                (status,) = [one for one in await projection_status(connection) if one.name == NAME]
            if status.lag == 0:
                return
