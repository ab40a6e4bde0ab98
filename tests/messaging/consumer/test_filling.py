from __future__ import annotations

import random
from functools import partial

import pytest

from eventstore import RecordedEvent
from eventstore.streams import shard_of
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import World, running
from tests.messaging.waiting import until

STREAMS = [f"round-t1.{n}" for n in range(1, 21)]


async def test_a_gap_is_filled_over_the_feed(world: World) -> None:
    await world.source.append(stream_of_shard(4), 10)
    await world.source.publish(leave_out={4, 5, 6})
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.seen.of("gap") == [(4, 3)]
    assert world.source.feed.pages == [(4, 2)]  # from the one that was applied last: its hash is compared


async def test_a_missing_tail_is_filled_though_nothing_ever_comes_after_it(world: World) -> None:
    await world.source.append_to_all(STREAMS, 3)
    await world.source.publish()
    await world.source.append(STREAMS[0], 2)
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.seen.of("tail") == [(shard_of(STREAMS[0]), 2)]


async def test_a_topic_that_has_nothing_of_it_costs_only_time(world: World) -> None:
    await world.source.append_to_all(STREAMS, 50)
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_a_long_hole_is_filled_page_by_page(world: World) -> None:
    stream = stream_of_shard(11)
    await world.source.append(stream, 95)
    await world.source.publish(leave_out=range(1, 95))
    async with running(world.consumer(fill_events=20)):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.source.feed.pages == [(11, at) for at in (0, 20, 40, 60, 80)]


async def test_kafka_is_listened_to_again_after_a_gap_was_filled(world: World) -> None:
    stream = stream_of_shard(4)
    await world.source.append(stream, 5)
    await world.source.publish(leave_out={2})
    async with running(world.consumer()):
        await until(world.all_applied)
        asked = len(world.source.feed.pages)
        await world.source.append(stream, 5)
        await world.source.publish()
        await until(world.all_applied)
        assert len(world.source.feed.pages) == asked
    await world.assert_once_and_in_order()


async def test_while_the_feed_is_away_the_other_shards_go_on(world: World) -> None:
    world.source.feed.away = True
    await world.source.append(stream_of_shard(4), 5)
    await world.source.publish(leave_out={2})
    consumer = world.consumer()
    async with running(consumer):
        for _ in range(3):
            await world.source.append(stream_of_shard(5), 4)
            await world.source.publish(shards={5})
            total = (await world.source.log.shard_heads())[5]
            await until(partial(_count, world, 5, total))
        assert consumer.status.filling == (4,)
        assert {one.partition for one in consumer._membership._consumer.paused()} == {4}
        assert [one for one in await world.effects() if one[0] == 4] == [(4, 1)]
        world.source.feed.away = False
        await until(world.all_applied)
        await until(lambda: not consumer._membership._consumer.paused())
    await world.assert_once_and_in_order()


async def test_events_published_out_of_order_are_put_in_order(world: World) -> None:
    await world.source.append(stream_of_shard(6), 9)
    events = await world.source.events(6)
    await world.source.send([*events[:2], *events[5:], *events[2:5], *events])
    async with running(world.consumer()):
        await until(world.all_applied)
    await world.assert_once_and_in_order()


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_lost_doubled_or_out_of_order_every_effect_is_there_once(
    world: World, seed: int
) -> None:
    chance = random.Random(seed)
    async with running(world.consumer()):
        for _ in range(4):
            await world.source.append_to_all(chance.sample(STREAMS, 8), chance.randint(1, 6))
            events: list[RecordedEvent] = []
            for shard in range(64):
                events += await world.source.events(shard, max(0, world.source.published[shard] - 3))
            chance.shuffle(events)
            await world.source.send([one for one in events for _ in range(chance.choice((0, 1, 1, 1, 2)))])
            world.source.published = list(await world.source.log.shard_heads())
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def _count(world: World, shard: int, wanted: int) -> bool:
    return sum(one[0] == shard for one in await world.effects()) == wanted
