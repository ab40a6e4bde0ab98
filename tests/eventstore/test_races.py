"""Readers while hundreds of appends are held open between insert and commit, and end in any order."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import pytest

from eventstore import SHARDS, Expect, ShardPage, StreamAppend, shard_of
from eventstore.postgres import (
    Pool,
    PostgresEventStore,
    SessionLimits,
    StoreSettings,
    append_in_transaction,
    open_pool,
)
from tests.eventstore.samples import assert_chained, events, stream_of_shard

WRITERS = 16
APPENDS = 400
DEADLINE_S = 120
PATIENT = SessionLimits(lock_timeout_ms=60_000, statement_timeout_ms=60_000, transaction_timeout_ms=60_000)
# Few shards, so that writers meet; several streams in each, and appends to two shards at once.
STREAMS = [stream_of_shard(shard, f"{kind}-") for shard in range(6) for kind in ("round", "table", "account")]


async def write(pool: Pool, chance: random.Random, committed: dict[UUID, str]) -> None:
    """One transaction: append, dawdle for a few round trips, commit or roll back."""
    names = chance.sample(STREAMS, chance.choice([1, 1, 2]))
    appends = [StreamAppend(name, Expect.ANY, events(chance.randint(1, 4))) for name in names]
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await append_in_transaction(connection, appends)
        for _ in range(chance.randint(0, 6)):
            await connection.execute("SELECT 1")
        if chance.random() < 0.25:
            await transaction.rollback()
            return
        await transaction.commit()
    committed.update({event.event_id: one.stream for one in appends for event in one.events})


async def follow(store: PostgresEventStore, seen: dict[int, list[ShardPage]]) -> None:
    """Subscribe to every shard, for ever."""
    async with store.subscribe(dict.fromkeys(range(SHARDS), 0), page=7) as pages:
        async for page in pages:
            seen[page.shard].append(page)


async def poll(store: PostgresEventStore, polled: dict[int, list[int]], done: asyncio.Event) -> None:
    """The simplest reader there is: "greater than the last one seen", as fast as it can."""
    while not done.is_set():
        for shard, positions in polled.items():
            page = await store.read_shard(shard, after=positions[-1] if positions else 0, limit=50)
            positions += [one.shard_position for one in page.events]


async def until_seen(store: PostgresEventStore, seen: dict[int, list[ShardPage]]) -> tuple[int, ...]:
    """Wait until the subscription has come to the heads."""
    heads = await store.shard_heads()
    while any(head > (seen[shard][-1].through if seen[shard] else 0) for shard, head in enumerate(heads)):
        await store.shard_heads()
    return heads


@pytest.mark.parametrize("seed", [1, 2])
async def test_nothing_is_missed_or_twice_or_out_of_order(database: str, seed: int) -> None:
    chance = random.Random(seed)
    committed: dict[UUID, str] = {}
    seen: dict[int, list[ShardPage]] = {shard: [] for shard in range(SHARDS)}
    polled: dict[int, list[int]] = {shard: [] for shard in range(6)}
    done = asyncio.Event()
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="writers", max_size=WRITERS, limits=PATIENT) as writers,
        await open_pool(database, application_name="readers", limits=PATIENT) as readers,
        PostgresEventStore(readers, settings=StoreSettings(poll_interval_s=0.01)) as store,
    ):
        following = asyncio.ensure_future(follow(store, seen))
        polling = asyncio.ensure_future(poll(store, polled, done))
        plans = [random.Random(chance.random()) for _ in range(APPENDS)]
        await asyncio.gather(*(write(writers, one, committed) for one in plans))
        heads = await until_seen(store, seen)
        done.set()
        await polling
        following.cancel()
        for name in STREAMS:
            log = [one async for one in store.iterate_stream(name, page=50)]
            assert_chained(log)
            assert {one.event_id for one in log} == {
                eid for eid, stream in committed.items() if stream == name
            }
    for shard, pages in seen.items():
        got = [one for page in pages for one in page.events]
        assert [one.shard_position for one in got] == list(range(1, heads[shard] + 1))
        assert {one.event_id for one in got} == {
            eid for eid, stream in committed.items() if shard_of(stream) == shard
        }
    for positions in polled.values():
        assert positions == list(range(1, len(positions) + 1))
    assert sum(heads) == len(committed) > APPENDS
