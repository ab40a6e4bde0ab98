"""The alarm: who holds a shard."""

from __future__ import annotations

import asyncio

from eventstore.postgres import Pool, PostgresEventStore, shard_holders
from tests.eventstore.held import shard_held, until_waiting
from tests.eventstore.samples import events, stream_of_shard

DEADLINE_S = 30


async def test_nobody_holds_a_shard(pool: Pool, postgres_store: PostgresEventStore) -> None:
    await postgres_store.append("table-1", events(1), expected=0)
    async with pool.acquire() as connection:
        assert await shard_holders(connection, held_for_s=0) == ()


async def test_the_holder_is_named_with_its_shard_and_those_that_wait(
    pool: Pool, postgres_store: PostgresEventStore, database: str
) -> None:
    async with asyncio.timeout(DEADLINE_S), shard_held(database, 5, 9, application_name="culprit") as other:
        waiting = asyncio.ensure_future(postgres_store.append(stream_of_shard(9), events(1), expected=0))
        await until_waiting(other)
        async with pool.acquire() as connection:
            (holder,) = await shard_holders(connection, held_for_s=0)
            assert await shard_holders(connection, held_for_s=3_600) == ()
        assert holder.application_name == "culprit"
        assert holder.state == "idle in transaction"
        assert holder.shards == (9,)
        assert holder.waiting == 1
        assert holder.held_s >= 0
        assert holder.pid == await other.fetchval("SELECT pg_backend_pid()")
    await waiting
