from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from eventstore import RecordedEvent, StreamAppend
from eventstore.following import Handler
from eventstore.postgres import Connection
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import Seen, World, recording, running
from tests.messaging.waiting import until

STREAMS = [stream_of_shard(shard) for shard in range(64)]


async def test_consumers_of_a_group_share_the_shards(world: World) -> None:
    one, other = world.consumer(recording("one")), world.consumer(recording("other"), seen=Seen())
    async with running(one, other):
        await until(lambda: (one.status.shards, other.status.shards) == (32, 32))
        await world.source.append_to_all(STREAMS, 2)
        await world.source.publish()
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    rows = await world.pool.fetch("SELECT DISTINCT shard, by FROM public.effects")
    assert len(rows) == 64
    assert {row["by"] for row in rows} == {"one", "other"}


async def test_shards_move_under_load_without_a_lost_or_doubled_effect(world: World) -> None:
    """Three members come and go while events are published all the time."""
    done = asyncio.Event()

    async def publish() -> None:
        while not done.is_set():
            await world.source.append_to_all(STREAMS[::5])
            await world.source.publish()

    publishing = asyncio.create_task(publish())
    try:
        first = world.consumer(recording("first"))
        async with running(first):
            await until(lambda: first.status.shards == 64)
            for turn in range(2):
                names = {f"{n}-{turn}" for n in "23"}
                async with running(*(world.consumer(recording(name), seen=Seen()) for name in names)):
                    await until(partial(_have_had_effects, world, names))
                await until(lambda: first.status.shards == 64)
            done.set()
            await publishing
            await until(world.all_applied)
    finally:
        done.set()
        await publishing
    await world.assert_once_and_in_order()


async def test_a_batch_that_outlasts_the_revocation_has_no_second_effect(world: World) -> None:
    """The old owner is still at it when the new one gets the same events."""
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def held(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend] | None:
        entered.set()
        await go_on.wait()
        return await recording("held")(connection, events)

    await world.source.append_to_all(STREAMS, 2)
    await world.source.publish()
    slow, quick = (
        world.consumer(held, rebalance_timeout_ms=500),
        world.consumer(recording("quick"), seen=Seen()),
    )
    async with running(slow):
        await entered.wait()
        async with running(quick):
            await until(lambda: quick.status.shards == 32)
            go_on.set()
            await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_shards_of_a_member_that_vanished_go_on_with_others(world: World) -> None:
    await world.source.append_to_all(STREAMS)
    await world.source.publish()
    vanishing, staying = world.consumer(recording("vanishing")), world.consumer(seen=Seen())
    gone = asyncio.create_task(vanishing.run())
    try:
        await until(world.all_applied)
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
    await world.source.append_to_all(STREAMS)
    await world.source.publish()
    async with running(staying):
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_both_may_apply_the_same_at_once(world: World) -> None:
    """Two groups, one follower: as when a member that was thought dead is not. The database decides."""
    slow = _slow()
    one = world.consumer(slow, group="one")
    other = world.consumer(slow, group="other", seen=Seen())
    async with running(one, other):
        for _ in range(5):
            await world.source.append_to_all(STREAMS, 2)
            await world.source.publish()
            await until(world.all_applied)
    await world.assert_once_and_in_order()


async def _have_had_effects(world: World, names: set[str]) -> bool:
    return names <= {row["by"] for row in await world.pool.fetch("SELECT DISTINCT by FROM public.effects")}


def _slow() -> Handler:
    async def handle(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        await connection.execute("SELECT pg_sleep(0.005)")
        return await recording()(connection, events)

    return handle
