from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from eventstore import EventFilter, RecordedEvent, StreamAppend, shard_of
from eventstore.following import HandlerUnfit, all_positions
from eventstore.postgres import Connection
from messaging.envelope import headers_of, key_of
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import FOLLOWER, SERVICE, World, recording, running
from tests.messaging.waiting import until

STREAMS = [f"round-t1.{n}" for n in range(1, 21)]


async def test_what_is_published_has_its_effect_once_and_in_order(world: World) -> None:
    await world.source.append_to_all(STREAMS, 10)
    await world.source.publish()
    # Heads are not compared meanwhile: a machine that is slow enough would have the feed asked.
    async with running(world.consumer(heads_interval_s=1_000)):
        await until(world.all_applied)
        for _ in range(3):
            await world.source.append_to_all(STREAMS, 3)
            await world.source.publish()
            await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.source.feed.pages == []
    assert world.seen.of("gap") == world.seen.of("tail") == []


async def test_what_is_published_again_has_no_second_effect(world: World) -> None:
    await world.source.append_to_all(STREAMS, 5)
    await world.source.publish()
    async with running(world.consumer(heads_interval_s=1_000)):
        await until(world.all_applied)
        world.source.published = [0] * 64
        await world.source.append(STREAMS[0])
        await world.source.publish()
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.source.feed.pages == []


async def test_the_next_run_goes_on_where_the_last_one_ended(world: World) -> None:
    await world.source.append_to_all(STREAMS, 5)
    await world.source.publish()
    async with running(world.consumer()):
        await until(world.all_applied)
    calls: list[int] = []

    async def counted(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        calls.extend(event.shard_position for event in events)
        return await recording()(connection, events)

    await world.source.append_to_all(STREAMS)
    await world.source.publish()
    consumer = world.consumer(counted)
    async with running(consumer):
        await until(world.all_applied)
        await until(lambda: consumer.status.lag == 0)
        assert consumer.status.connected
        assert consumer.status.shards == 64
    assert len(calls) == len(STREAMS)
    await world.assert_once_and_in_order()


async def test_kafka_is_told_how_far_it_is(world: World) -> None:
    """Now and then, and when it stops: so a restart does not get everything again."""
    await world.source.append(stream_of_shard(4), 5)
    await world.source.append(stream_of_shard(5), 2)
    await world.source.publish()
    async with running(world.consumer(commit_interval_s=0.1)):
        await until(world.all_applied)
        await until(lambda: _committed(world, {4: 5, 5: 2}))
        await world.source.append(stream_of_shard(4), 1)
        await world.source.publish()
        await until(world.all_applied)
    async with running(world.consumer(commit_interval_s=1_000)):
        await world.source.append(stream_of_shard(5), 1)
        await world.source.publish()
        await until(world.all_applied)
    assert await _committed(world, {4: 6, 5: 3})


async def test_without_kafkas_offsets_the_database_alone_decides(world: World) -> None:
    """Another group, whose offsets Kafka does not know: everything comes again, and is known."""
    await world.source.append_to_all(STREAMS, 5)
    await world.source.publish()
    async with running(world.consumer(heads_interval_s=60.0)):
        await until(world.all_applied)
    await world.source.append_to_all(STREAMS)
    await world.source.publish()
    async with running(world.consumer(group="another", heads_interval_s=60.0)):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert world.source.feed.pages == []


async def test_what_is_not_wanted_moves_the_position_all_the_same(world: World) -> None:
    stream = stream_of_shard(7)
    for kind in ("Opened", "Bet", "Bet", "Closed", "Bet"):
        await world.source.append(stream, kind=kind)
    await world.source.publish()
    wanted = EventFilter(types=frozenset({"Opened", "Closed"}))
    async with running(world.consumer(wanted=wanted)):
        await until(lambda: _position(world, 7, 5))
    assert await world.effects() == [(7, 1), (7, 4)]


async def test_effects_and_what_follows_from_them_are_one_transaction(world: World) -> None:
    """A handler that fails after its effect leaves neither; the next try leaves one of each."""
    stream = stream_of_shard(3)
    tries: list[int] = []

    async def falters(
        connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        await recording()(connection, events)
        tries.append(len(events))
        if len(tries) == 1:
            raise RuntimeError("after the effect")
        return None

    await world.source.append(stream)
    await world.source.publish()
    async with running(world.consumer(falters)):
        await until(world.all_applied)
        await until(lambda: _position(world, 3, 1))
    assert tries == [1, 1]
    assert await world.effects() == [(3, 1)]


async def test_a_record_that_is_no_event_is_left_out_and_what_it_should_be_comes_over_the_feed(
    world: World,
) -> None:
    stream = stream_of_shard(9)
    await world.source.append(stream, 5)
    one, two, three, four, five = await world.source.events(9)
    spoilt = four._replace(content=b'{"n":"more"}')
    records = [
        (9, key_of(event), event.content, headers_of(event, SERVICE, 1)) for event in (one, two, three)
    ]
    nonsense: list[tuple[str, bytes]] = [("\u00fc", b"\xff\xfe")]
    await world.source.send_records(
        [
            *records,
            (9, b"\xff", b"\x00", nonsense),
            (9, b"", None, []),
            (9, key_of(spoilt), spoilt.content, headers_of(spoilt, SERVICE, 1)),
            (9, key_of(five), five.content, headers_of(five, SERVICE, 1)),
        ]
    )
    # Kafka is given the time that it needs: heads, which would fill from the feed, are not looked at before.
    async with running(world.consumer(heads_interval_s=60.0)):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    reasons = [str(why) for _, why in world.seen.of("garbage")]
    assert len(reasons) == 3
    assert reasons[2] == "the content has another hash than ce_contenthash says"
    assert world.seen.of("gap") == [(9, 1)]


async def test_an_event_in_a_wrong_partition_is_no_event(world: World) -> None:
    await world.source.append("round-t1.1")
    (event,) = await world.source.events(shard_of("round-t1.1"))
    wrong = (event.shard + 1) % 64
    await world.source.send_records([(wrong, key_of(event), event.content, headers_of(event, SERVICE, 1))])
    async with running(world.consumer()):
        await until(world.all_applied)  # its own shard's tail is missing
        await until(lambda: world.seen.of("garbage"))
    await world.assert_once_and_in_order()


async def test_a_slow_consumer_is_not_overrun(world: World) -> None:
    """It takes what it can bear, batch by batch; nothing is dropped meanwhile."""
    sizes: list[int] = []

    async def slow(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend] | None:
        sizes.append(len(events))
        await connection.execute("SELECT pg_sleep(0.02)")
        return await recording()(connection, events)

    await world.source.append_to_all(STREAMS, 60)
    await world.source.publish()
    # Heads are not compared meanwhile: a machine that is slower still would have the feed asked.
    async with running(world.consumer(slow, batch_records=50, heads_interval_s=1_000)):
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    assert max(sizes) <= 50
    assert world.source.feed.pages == []


async def test_a_handler_that_does_not_fit_ends_the_consumer_and_says_why(world: World) -> None:
    async def unfit(*_: object) -> None:
        raise HandlerUnfit("this process is older than its tables")

    await world.source.append(stream_of_shard(1))
    await world.source.publish()
    with pytest.raises(HandlerUnfit, match="older than its tables"):
        async with asyncio.timeout(60):
            await world.consumer(unfit).run()
    assert await world.effects() == []


async def test_stopping_ends_the_batch_that_is_under_way(world: World) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def held(connection: Connection, events: Sequence[RecordedEvent]) -> Sequence[StreamAppend] | None:
        entered.set()
        await go_on.wait()
        return await recording()(connection, events)

    await world.source.append(stream_of_shard(1), 3)
    await world.source.publish()
    consumer = world.consumer(held)
    async with running(consumer):
        await entered.wait()
        consumer.stop()
        asyncio.get_running_loop().call_later(0.05, go_on.set)
    assert await world.effects() == [(1, 1), (1, 2), (1, 3)]


async def _committed(world: World, offsets: dict[int, int]) -> bool:
    group = f"{world.source.topic}-{FOLLOWER}"
    asking: Any = AIOKafkaConsumer(**world.broker.client_options(), group_id=group, enable_auto_commit=False)
    await asking.start()
    try:
        return offsets == {
            shard: await asking.committed(TopicPartition(world.source.topic, shard)) for shard in offsets
        }
    finally:
        await asking.stop()


async def _position(world: World, shard: int, position: int) -> bool:
    async with world.pool.acquire() as connection:
        found = {one.position.shard: one.position.position for one in await all_positions(connection)}
    return found.get(shard) == position
