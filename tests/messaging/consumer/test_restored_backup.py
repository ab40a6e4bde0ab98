"""The source is restored from a backup: dumped, written to, restored elsewhere, and goes on from there."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg

from eventstore.coordination import begin_epoch
from eventstore.following import all_positions
from eventstore.postgres import PostgresEventStore, open_pool
from messaging.feed import PostgresEnds
from stack.postgres.binaries import programs
from tests.eventstore.samples import assert_chained, stream_of_shard
from tests.messaging.consumer.world import World, running
from tests.messaging.waiting import until

LOST, KEPT = stream_of_shard(4), stream_of_shard(5)


async def run(program: str, *arguments: str) -> None:
    """One of PostgreSQL's programs; what it says is shown when it fails."""

    def call() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [programs(None) / program, *arguments], capture_output=True, check=False, text=True, timeout=60
        )

    done = await asyncio.to_thread(call)
    assert done.returncode == 0, done.stderr


@contextlib.asynccontextmanager
async def source_in(world: World, dsn: str) -> AsyncIterator[PostgresEventStore]:
    """The world's source has its log in this database."""
    async with (
        await open_pool(dsn, application_name="source", max_size=8) as pool,
        PostgresEventStore(pool) as log,
    ):
        world.source.log, world.source.ends = log, PostgresEnds(pool)
        yield log


async def positions(world: World) -> dict[int, int]:
    async with world.pool.acquire() as connection:
        found = await all_positions(connection)
    return {one.position.shard: one.position.position for one in found if one.position.position}


async def test_what_the_backup_lacks_is_a_fork_and_the_rest_goes_on(
    world: World, new_database: Callable[[], str], tmp_path: Path
) -> None:
    before, restored = new_database(), new_database()
    dump = str(tmp_path / "backup")
    consumer = world.consumer()
    async with source_in(world, before):
        await world.source.append(LOST, 3)
        await world.source.append(KEPT, 3)
        await run("pg_dump", "--format=custom", "--file", dump, "--dbname", before)
        await world.source.append(LOST, 2)
        await world.source.publish()
        async with running(consumer):
            await until(world.all_applied)
        assert await positions(world) == {4: 5, 5: 3}
    # The tables of the new place are made anew by the backup.
    owner = await asyncpg.connect(restored)
    await owner.execute("DROP SCHEMA eventstore CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    await run("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", "--dbname", restored, dump)
    epoch = await begin_epoch(owner, "restored from last night's backup")
    await owner.close()
    async with source_in(world, restored) as log:
        assert (await log.shard_heads())[4:6] == (3, 3)
        again = world.consumer()
        async with running(again):
            await until(lambda: again.status.stopped == (4,))
            # Other events than those that were lost, beyond where the consumer stands.
            await world.source.append(LOST, 4)
            await world.source.append(KEPT, 4)
            world.source.published = [0] * 64
            await world.source.publish()

            async def kept_goes_on() -> bool:
                return (await positions(world)).get(5) == 7

            await until(kept_goes_on)
            assert again.status.stopped == (4,)
        assert await positions(world) == {4: 5, 5: 7}
        assert_chained(await log.read_stream(LOST))
        assert_chained(await log.read_stream(KEPT))
    async with world.pool.acquire() as connection:
        epochs = {one.position.shard: one.position.epoch for one in await all_positions(connection)}
    assert epochs[5] == epoch
    assert [note[0] for note in world.seen.of("forked")] == [4]
