from __future__ import annotations

import pytest

from eventstore import Expect, NewEvent, RecordedEvent
from eventstore.following import Applier, ForkSeen, all_positions, list_stopped, resume
from eventstore.memory import MemoryEventStore
from messaging.feed import FeedHistoryDetached, ReaderEnds
from tests.eventstore.samples import event, stream_of_shard
from tests.messaging.consumer.world import FOLLOWER, SERVICE, World, recording, running
from tests.messaging.waiting import until

FORKED, OTHER = stream_of_shard(4), stream_of_shard(5)


async def another_log(world: World, *, keep: int, then: int, epoch: int) -> MemoryEventStore:
    """The source's log as it is after a fail-over or a restore: shard 4 has lost its end and gone on."""
    kept = (await world.source.log.read_stream(FORKED))[:keep]
    others = await world.source.log.read_stream(OTHER)
    log = MemoryEventStore()
    for stream, recorded in ((FORKED, kept), (OTHER, others)):
        if recorded:
            await log.append(stream, [_again(one) for one in recorded], expected=Expect.NONE)
    if then:
        await log.append(FORKED, [event(b"another") for _ in range(then)], expected=Expect.ANY)
    world.source.log = log
    world.source.ends = ReaderEnds(log, epoch=epoch)
    world.source.published = list(await log.shard_heads())
    return log


def _again(one: RecordedEvent) -> NewEvent:
    return NewEvent(one.event_id, one.type, one.content)


async def test_a_known_position_with_another_hash_stops_its_shard_alone(world: World) -> None:
    await world.source.append(FORKED, 5)
    await world.source.append(OTHER, 5)
    await world.source.publish()
    consumer = world.consumer(heads_interval_s=0.1, hashes_interval_s=1_000)
    async with running(consumer):
        await until(world.all_applied)
        await another_log(world, keep=4, then=3, epoch=1)
        events = await world.source.events(4, 4)
        await world.source.send(events)
        await until(lambda: consumer.status.stopped == (4,))
        await world.source.append(OTHER, 3)
        await world.source.publish(shards={5})
        await until(lambda: _applied(world, 5, 8))
    assert await _positions(world) == {4: 5, 5: 8}
    assert [shard for shard, _ in world.seen.of("forked")] == [4]


async def test_a_fork_is_seen_though_kafka_brings_nothing(world: World) -> None:
    """A source that lost its end, and is now shorter than what was applied."""
    await world.source.append(FORKED, 5)
    await world.source.publish()
    consumer = world.consumer()
    async with running(consumer):
        await until(world.all_applied)
        await another_log(world, keep=3, then=0, epoch=1)
        await until(lambda: consumer.status.stopped == (4,))
    async with world.pool.acquire() as connection:
        (stop,) = await list_stopped(connection)
    assert (stop.follower, stop.source, stop.shard, stop.kind) == (FOLLOWER, SERVICE, 4, "forked")


async def test_a_fork_that_has_grown_past_our_position_is_seen_by_its_hash(world: World) -> None:
    await world.source.append(FORKED, 5)
    await world.source.publish()
    consumer = world.consumer(hashes_interval_s=0.3)
    async with running(consumer):
        await until(world.all_applied)
        await another_log(world, keep=3, then=9, epoch=1)
        await until(lambda: consumer.status.stopped == (4,))
    assert await _positions(world) == {4: 5}


async def test_what_comes_over_the_feed_is_of_our_history_or_nothing(world: World) -> None:
    """The source lost its end and has gone on past our position; heads were not compared yet."""
    await world.source.append(FORKED, 5)
    await world.source.publish()
    consumer = world.consumer(heads_interval_s=1_000)
    async with running(consumer):
        await until(world.all_applied)
        await another_log(world, keep=3, then=9, epoch=1)
        await world.source.send((await world.source.events(4))[8:])
        await until(lambda: consumer.status.stopped == (4,))
    assert await _positions(world) == {4: 5}


async def test_a_forked_shard_stays_stopped_over_a_restart_until_someone_resumes_it(world: World) -> None:
    await world.source.append(FORKED, 5)
    await world.source.publish()
    before = world.source.log
    async with running(world.consumer()):
        await until(world.all_applied)
        await another_log(world, keep=3, then=0, epoch=1)
        await until(lambda: world.seen.of("forked"))
    world.source.log, world.source.ends = before, ReaderEnds(before)
    await world.source.append(FORKED, 2)
    await world.source.append(OTHER, 2)
    world.source.published = [0] * 64
    await world.source.publish()
    consumer = world.consumer()
    async with running(consumer):
        await until(lambda: _applied(world, 5, 2))
        await until(lambda: consumer.status.stopped == (4,))
        assert await _positions(world) == {4: 5, 5: 2}
        async with world.pool.acquire() as connection:
            assert await resume(connection, FOLLOWER, SERVICE, 4) == 1
        await until(world.all_applied)
        assert consumer.status.stopped == ()
    await world.assert_once_and_in_order()


async def test_a_stop_that_another_instance_noted_is_seen_here_too(world: World) -> None:
    await world.source.append(FORKED, 2)
    await world.source.publish()
    consumer = world.consumer()
    async with running(consumer):
        await until(world.all_applied)
        applier = Applier(world.pool, FOLLOWER, SERVICE, recording())
        await applier.note_fork(ForkSeen(4, 2, b"ours", b"theirs"))
        await until(lambda: consumer.status.stopped == (4,))
    assert [shard for shard, _ in world.seen.of("forked")] == [4]


async def test_a_new_epoch_with_our_history_is_followed(world: World) -> None:
    await world.source.append(FORKED, 5)
    await world.source.append(OTHER, 5)
    await world.source.publish()
    async with running(world.consumer()):
        await until(world.all_applied)
        world.source.begin_epoch(2)
        await world.source.append(FORKED, 2)
        await world.source.append(OTHER, 2)
        await world.source.publish()
        await until(world.all_applied)
    await world.assert_once_and_in_order()
    async with world.pool.acquire() as connection:
        epochs = {one.position.shard: one.position.epoch for one in await all_positions(connection)}
    assert (epochs[4], epochs[5]) == (2, 2)


async def test_a_new_epoch_with_another_history_stops_the_shard_before_anything_of_it_is_applied(
    world: World,
) -> None:
    await world.source.append(FORKED, 5)
    await world.source.append(OTHER, 5)
    await world.source.publish()
    consumer = world.consumer(heads_interval_s=1_000)
    async with running(consumer):
        await until(world.all_applied)
        await another_log(world, keep=3, then=9, epoch=2)
        await world.source.append(OTHER, 2)
        await world.source.send([*await world.source.events(4, 3), *await world.source.events(5, 5)])
        await until(lambda: consumer.status.stopped == (4,))
        await until(lambda: _applied(world, 5, 7))
    assert await _positions(world) == {4: 5, 5: 7}


async def test_what_was_published_in_an_epoch_that_is_over_is_left_out(world: World) -> None:
    """What a restored source has lost is still in Kafka; who has not seen it yet never does."""
    await world.source.append(FORKED, 3)
    await world.source.publish()
    consumer = world.consumer()
    async with running(consumer):
        await until(world.all_applied)
    await world.source.append(FORKED, 4)
    lost = await world.source.events(4, 3)
    await another_log(world, keep=3, then=2, epoch=2)
    found = await world.source.events(4, 3)
    await world.source.send(found[:1])
    await world.source.send(lost, epoch=1)
    await world.source.send(found[1:])
    async with running(world.consumer()):
        await until(world.all_applied)
        await until(lambda: _applied(world, 4, 5))
    await world.assert_once_and_in_order()
    kept = await world.pool.fetch("SELECT stream, stream_position FROM public.effects ORDER BY id")
    assert [(row["stream"], row["stream_position"]) for row in kept] == [(FORKED, n) for n in range(1, 6)]
    async with world.pool.acquire() as connection:
        hashes = {one.position.shard: one.position.hash for one in await all_positions(connection)}
    assert hashes[4] == found[-1].hash


async def test_a_feed_that_answers_from_an_epoch_that_is_over_is_not_asked_without_end(world: World) -> None:
    """A replica that has not heard of the restore yet, say."""
    await world.source.append(FORKED, 2)
    world.source.begin_epoch(2)
    await world.source.publish()
    consumer = world.consumer(heads_interval_s=1_000, fill_first_pause_s=0.01, fill_empty_tries=3)
    async with running(consumer):
        await until(world.all_applied)
        world.source.begin_epoch(1)
        await world.source.append(FORKED, 3)
        await world.source.send((await world.source.events(4, 3)), epoch=2)
        await until(lambda: len(world.source.feed.pages) >= 4)
        await until(lambda: consumer.status.filling == ())
        assert len(world.source.feed.pages) == 4
        world.source.begin_epoch(2)
        await world.source.send((await world.source.events(4, 4)), epoch=2)
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def test_where_the_source_cannot_tell_the_hash_any_more_its_ends_are_compared_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The month of our position has been detached: no fork can be proved, and tails are found as ever."""
    asked: list[int] = []

    async def detached(shard: int, position: int) -> bytes | None:
        asked.append(shard)
        raise FeedHistoryDetached(f"shard {shard} at {position}")

    monkeypatch.setattr(world.source.feed, "hash_at", detached)
    await world.source.append(FORKED, 2)
    await world.source.publish()
    async with running(world.consumer(hashes_interval_s=0.1)):
        await until(world.all_applied)
        for _ in range(3):
            await world.source.append(FORKED, 1)
            await until(world.all_applied)
    assert asked
    assert world.seen.of("forked") == []


@pytest.mark.parametrize("away", [True, False])
async def test_an_epoch_of_which_only_kafka_knows_waits(world: World, *, away: bool) -> None:
    await world.source.append(FORKED, 3)
    await world.source.publish()
    consumer = world.consumer(heads_interval_s=0.1)
    async with running(consumer):
        await until(world.all_applied)
        await world.source.append(FORKED, 2)
        world.source.feed.away = away
        await world.source.send(await world.source.events(4, 3), epoch=2)
        await until(lambda: consumer.status.filling == (4,))
        assert await _positions(world) == {4: 3}
        world.source.feed.away = False
        world.source.begin_epoch(2)
        await until(world.all_applied)
    await world.assert_once_and_in_order()


async def _positions(world: World) -> dict[int, int]:
    async with world.pool.acquire() as connection:
        found = await all_positions(connection)
    return {one.position.shard: one.position.position for one in found if one.position.position}


async def _applied(world: World, shard: int, position: int) -> bool:
    return (await _positions(world)).get(shard) == position
