from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer

from eventstore import Expect, NewEvent, RecordedEvent, StreamAppend
from eventstore.following import Policy, WhenFailing, list_parked, request_retry, resume, skip_parked
from eventstore.ids import new_event_id
from eventstore.postgres import Connection
from eventstore.streams import MAX_EVENT_BYTES
from messaging.broker import BrokerSettings
from messaging.dead_letters.letters import Failure, NoDeadLetter, read_dead_letter
from messaging.dead_letters.sender import DeadLetterSender
from messaging.faults import arm
from messaging.topics import dead_letter_topic_of
from tests.eventstore.samples import stream_of_shard, streams_of_shard
from tests.messaging.consumer.world import FOLLOWER, QUICK, SERVICE, World, recording, running
from tests.messaging.waiting import until

POISONED, FINE = (
    stream_of_shard(4),
    [name for name, _ in zip(streams_of_shard(4), range(3), strict=False)][1:],
)


@dataclass
class Poisoned:
    """A handler that fails at some events for as long as they are named here."""

    poison: set[tuple[str, int]] = field(default_factory=set)

    async def __call__(
        self, connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        for event in events:
            if (event.stream, event.stream_position) in self.poison:
                raise RuntimeError(f"cannot bear {event.type}")
        return await recording()(connection, events)


async def letters(broker: BrokerSettings, topic: str, count: int) -> list[Failure]:
    """The first dead letters of a topic."""
    consumer: Any = AIOKafkaConsumer(
        dead_letter_topic_of(topic), **broker.client_options(), auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        found: list[Failure] = []

        async def enough() -> bool:
            for records in (await consumer.getmany(timeout_ms=200)).values():
                found.extend(
                    read_dead_letter(
                        service=SERVICE,
                        partition=one.partition,
                        key=one.key,
                        value=one.value,
                        headers=one.headers,
                    )
                    for one in records
                )
            return len(found) >= count

        await until(enough)
        return found
    finally:
        await consumer.stop()


async def test_a_poisonous_event_parks_its_stream_and_a_copy_goes_to_the_dead_letters(world: World) -> None:
    handler = Poisoned({(POISONED, 2)})
    for stream in (POISONED, *FINE):
        await world.source.append(stream, 4)
    await world.source.publish()
    async with running(world.consumer(handler)):
        await until(lambda: world.seen.of("dead_letters"))
        await until(lambda: _effects(world, 9))
        (failure,) = await letters(world.broker, world.source.topic, 1)
        assert (failure.follower, failure.service) == (FOLLOWER, SERVICE)
        assert (failure.stream, failure.stream_position, failure.type) == (POISONED, 2, "Opened")
        assert (failure.attempts, "cannot bear Opened" in failure.error) == (QUICK.attempts, True)
        # Later events of its stream wait with it, others go on.
        await world.source.append(POISONED)
        await world.source.append(FINE[0])
        await world.source.publish()
        await until(lambda: _effects(world, 10))
        async with world.pool.acquire() as connection:
            (parked,) = await list_parked(connection)
            assert (parked.stream, parked.failed_position, parked.events) == (POISONED, 2, 4)
            assert parked.dead_letter_sent_at is not None
            handler.poison.clear()
            assert await request_retry(connection, FOLLOWER, SERVICE) == 1
        await until(world.all_applied)
    order = await world.pool.fetch(
        "SELECT stream_position FROM public.effects WHERE stream = $1 ORDER BY id", POISONED
    )
    assert [row[0] for row in order] == [1, 2, 3, 4, 5]


async def test_a_skipped_event_is_left_out_and_the_rest_of_its_stream_goes_on(world: World) -> None:
    await world.source.append(POISONED, 3)
    await world.source.publish()
    async with running(world.consumer(Poisoned({(POISONED, 1)}))):
        await until(lambda: world.seen.of("dead_letters"))
        async with world.pool.acquire() as connection:
            await skip_parked(
                connection, FOLLOWER, SERVICE, POISONED, skipped_by="eve", why="made by mistake"
            )
        await until(lambda: _effects(world, 2))
    rows = await world.pool.fetch("SELECT stream_position FROM public.effects ORDER BY id")
    assert [row[0] for row in rows] == [2, 3]


async def test_a_dead_letter_is_sent_again_rather_than_never(world: World) -> None:
    """The process ends after it was sent and before that was noted."""
    await world.source.append(POISONED)
    await world.source.publish()

    class Died(Exception):
        pass

    def die(point: str) -> None:
        if point == "dead_letters.sent":
            raise Died

    with arm(die), pytest.raises(Died):
        await world.consumer(Poisoned({(POISONED, 1)})).run()
    async with running(world.consumer(Poisoned({(POISONED, 1)}))):
        await until(lambda: world.seen.of("dead_letters"))
    found = await letters(world.broker, world.source.topic, 2)
    assert [one.stream_position for one in found] == [1, 1]


async def test_while_the_broker_is_away_dead_letters_wait(world: World) -> None:
    await world.source.append(POISONED)
    reachable = world.broker
    world.broker = BrokerSettings(bootstrap_servers="127.0.0.1:1", retry_backoff_ms=50)
    async with running(world.consumer(Poisoned({(POISONED, 1)}), without_broker_after_s=0.2)):
        await until(lambda: "parked" in {note[0] for note in world.seen.of("trouble")})
    sender = DeadLetterSender(world.pool, reachable, FOLLOWER, SERVICE, topic=world.source.topic)
    assert await sender.send() == 1
    assert await sender.send() == 0
    assert len(await letters(reachable, world.source.topic, 1)) == 1


async def test_by_the_other_policy_everything_stands_until_someone_resumes_it(world: World) -> None:
    handler = Poisoned({(POISONED, 2)})
    await world.source.append(POISONED, 3)
    await world.source.append(stream_of_shard(5), 3)
    await world.source.publish()
    stop = Policy(WhenFailing.STOP, attempts=2, first_pause_s=0.001, longest_pause_s=0.01)
    consumer = world.consumer(handler, policy=stop)
    async with running(consumer):
        await until(lambda: len(consumer.status.stopped) == 64)
        await world.source.append(stream_of_shard(5), 3)
        await world.source.publish()
        handler.poison.clear()
        async with world.pool.acquire() as connection:
            assert await resume(connection, FOLLOWER, SERVICE) == 1
        await until(world.all_applied)
        assert consumer.status.stopped == ()
    await world.assert_once_and_in_order()


async def test_the_largest_event_goes_all_the_way_and_as_a_dead_letter_too(world: World) -> None:
    large = [NewEvent(new_event_id(), "Large", bytes([65 + n]) * MAX_EVENT_BYTES) for n in range(4)]
    await world.source.log.append(POISONED, large, expected=Expect.NONE)
    await world.source.publish()
    async with running(world.consumer(Poisoned({(POISONED, 4)}), heads_interval_s=1_000)):
        await until(lambda: world.seen.of("dead_letters"))
        await until(lambda: _effects(world, 3))
    (failure,) = await letters(world.broker, world.source.topic, 1)
    assert (failure.stream_position, failure.type) == (4, "Large")
    assert world.source.feed.pages == []


async def test_what_is_no_dead_letter_is_said_to_be_none() -> None:
    with pytest.raises(NoDeadLetter, match="headers are missing"):
        read_dead_letter(service=SERVICE, partition=0, key=b"", value=b"", headers=[])


async def _effects(world: World, count: int) -> bool:
    return len(await world.effects()) == count
