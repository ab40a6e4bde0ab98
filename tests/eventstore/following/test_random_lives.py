"""Followers, people and accidents at once, seeded: each event has had its effect once in the end."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from eventstore import Expect, RecordedEvent
from eventstore.following import (
    Applied,
    Applier,
    Gap,
    Page,
    list_parked,
    request_retry,
    skip_parked,
)
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, Pool, open_pool
from tests.eventstore.following.effects import (
    FOLLOWER,
    QUICK,
    SOURCE,
    Refused,
    applier,
    effects_of,
    page_of,
    pages_of,
    record,
)
from tests.eventstore.samples import events, stream_of_shard

SHARDS = (3, 7, 40)
STREAMS = [stream_of_shard(shard, prefix) for shard in SHARDS for prefix in ("round-", "table-", "account-")]
STEPS = 60
DEADLINE_S = 120
PATIENT = replace(QUICK, attempts=2, away_tries=100, batch_max=9)


@dataclass
class World:
    """What all who act in it share."""

    log: MemoryEventStore
    poison: set[str] = field(default_factory=set)
    skipped: set[tuple[str, int]] = field(default_factory=set)

    async def handle(self, connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        for one in given:
            if one.stream in self.poison and one.stream_position % 4 == 0:
                raise Refused(one.stream)

    async def grow(self, rng: random.Random) -> None:
        await self.log.append(rng.choice(STREAMS), events(rng.randint(1, 5)), expected=Expect.ANY)

    async def page(self, rng: random.Random, follower: Applier, shard: int) -> Page:
        """A page that overlaps with what is known, or fits, or leaves a gap."""
        known = (await follower.positions([shard]))[shard].position
        head = (await self.log.shard_heads())[shard]
        after = min(head, max(0, known + rng.choice((-7, -2, 0, 0, 0, 0, 1, 3))))
        return await page_of(self.log, shard, after, limit=rng.randint(1, 25))


async def follow(world: World, pool: Pool, rng: random.Random) -> None:
    """An owner; there are several."""
    follower = applier(pool, world.handle, policy=PATIENT)
    for _ in range(STEPS):
        await world.grow(rng)
        shards = rng.sample(SHARDS, rng.randint(1, len(SHARDS)))
        pages = [await world.page(rng, follower, shard) for shard in shards]
        with contextlib.suppress(Gap):
            await follower.apply(pages)
        if rng.random() < 0.2:
            await follower.retry_parked()


async def tend(world: World, pool: Pool, rng: random.Random) -> None:
    """A person: mends, breaks, asks for retries, skips."""
    for _ in range(STEPS):
        world.poison = set(rng.sample(STREAMS, rng.randint(0, 3)))
        async with pool.acquire() as connection:
            await request_retry(connection, FOLLOWER, SOURCE, rng.choice([None, *STREAMS]))
            parked = await list_parked(connection)
            if parked and rng.random() < 0.1:
                with contextlib.suppress(LookupError):
                    event = await skip_parked(
                        connection,
                        FOLLOWER,
                        SOURCE,
                        rng.choice(parked).stream,
                        skipped_by="x",
                        why="x",
                        retry=rng.random() < 0.5,
                    )
                    world.skipped.add((event.stream, event.stream_position))


async def harm(pool: Pool, rng: random.Random) -> None:
    """Accidents: connections of the owners are lost."""
    for _ in range(STEPS):
        if rng.random() < 0.3:
            await pool.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'owner' AND datname = current_database()"
                " ORDER BY pid LIMIT 1 OFFSET $1",
                rng.randint(0, 3),
            )
        await pool.fetchval("SELECT 1")


@pytest.mark.parametrize("seed", range(4))
async def test_each_event_once_and_in_order(
    effects: Pool, database: str, other: MemoryEventStore, seed: int
) -> None:
    world = World(other)
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="owner", min_size=1, max_size=4) as pool,
    ):
        await asyncio.gather(
            follow(world, pool, random.Random(f"{seed} first")),
            follow(world, pool, random.Random(f"{seed} second")),
            tend(world, effects, random.Random(f"{seed} person")),
            harm(effects, random.Random(f"{seed} accident")),
        )
        world.poison = set()
        last = applier(pool, world.handle, policy=PATIENT)
        async with effects.acquire() as connection:
            await request_retry(connection, FOLLOWER, SOURCE)
        await last.retry_parked()
        positions = await last.positions(SHARDS)
        await last.apply(await pages_of(other, {shard: one.position for shard, one in positions.items()}))
        assert await last.apply(await pages_of(other)) == Applied(duplicates=sum(await other.shard_heads()))
    done: dict[str, list[int]] = {stream: [] for stream in STREAMS}
    for stream, position in await effects_of(effects):
        done[stream].append(position)
    for stream in STREAMS:
        log = range(1, (await other.stream_head(stream)).position + 1)
        assert done[stream] == [position for position in log if (stream, position) not in world.skipped]
    left = await effects.fetchrow(
        "SELECT (SELECT count(*) FROM eventstore.parked_streams),"
        " (SELECT count(*) FROM eventstore.parked_events),"
        " (SELECT sum(parked) FROM eventstore.positions), (SELECT count(*) FROM eventstore.skipped_events)"
    )
    assert left is not None
    assert tuple(left) == (0, 0, 0, len(world.skipped))
