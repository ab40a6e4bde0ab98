"""The other policy: the follower stops, says so, and goes on when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from eventstore import RecordedEvent
from eventstore.following import (
    Applied,
    FollowerStopped,
    WhenFailing,
    list_stopped,
    resume,
    skip_stopped,
)
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, Pool
from tests.eventstore.following.effects import (
    FOLLOWER,
    QUICK,
    SOURCE,
    Poisoned,
    Seen,
    applier,
    effects_of,
    page_of,
    pages_of,
)
from tests.eventstore.held import until_waiting
from tests.eventstore.samples import events, stream_of_shard

STREAM = stream_of_shard(7)
STOP = replace(QUICK, when_failing=WhenFailing.STOP)


async def stopped(pool: Pool, other: MemoryEventStore) -> Seen:
    """A follower that has stopped at the third of five events."""
    await other.append(STREAM, events(5), expected=0)
    seen = Seen()
    handler = Poisoned({(STREAM, 3)})
    with pytest.raises(FollowerStopped) as stop:
        await applier(pool, handler, policy=STOP, observer=seen).apply([await page_of(other, 7)])
    assert (stop.value.kind, stop.value.shard) == ("failed", 7)
    assert handler.calls.count(1) >= STOP.attempts
    return seen


async def test_it_stops_before_the_event_and_says_where(effects: Pool, other: MemoryEventStore) -> None:
    seen = await stopped(effects, other)
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 2)]
    assert seen.notes[-1] == ("stopped", "7", "failed")
    async with effects.acquire() as connection:
        (stop,) = await list_stopped(connection, FOLLOWER)
    assert (stop.kind, stop.shard, stop.shard_position, stop.attempts) == ("failed", 7, 3, 3)
    assert (stop.stream, stop.stream_position, stop.type) == (STREAM, 3, "Opened")
    assert (stop.reason, stop.error) == ("Refused", f"Refused: {STREAM} at 3")


async def test_a_stop_holds_after_a_restart_and_for_all_shards(
    effects: Pool, other: MemoryEventStore
) -> None:
    await stopped(effects, other)
    await other.append(stream_of_shard(8), events(1), expected=0)
    again = applier(effects, policy=STOP)
    assert {one.stopped for one in (await again.positions([7, 8])).values()} == {"failed"}
    for page in await pages_of(other, {7: 2}):
        with pytest.raises(FollowerStopped):
            await again.apply([page])
    assert len(await effects_of(effects)) == 2


async def test_resumed_it_tries_the_same_event_again(effects: Pool, other: MemoryEventStore) -> None:
    await stopped(effects, other)
    async with effects.acquire() as connection:
        assert await resume(connection, FOLLOWER, SOURCE, 8) == 0
        assert await resume(connection, FOLLOWER, SOURCE) == 1
    assert await applier(effects, policy=STOP).apply([await page_of(other, 7, 2)]) == Applied(applied=3)
    assert [position for _, position in await effects_of(effects)] == [1, 2, 3, 4, 5]


async def test_the_event_can_be_skipped_by_someone_for_a_reason(
    effects: Pool, other: MemoryEventStore
) -> None:
    await stopped(effects, other)
    follower = applier(effects, policy=STOP)
    async with effects.acquire() as connection:
        stop = await skip_stopped(connection, FOLLOWER, SOURCE, 7, skipped_by="staff:7", why="a defect")
        assert stop.stream_position == 3
        assert await list_stopped(connection) == ()
        (row,) = await connection.fetch("SELECT * FROM eventstore.skipped_events")
        assert (row["stream_position"], row["skipped_by"], row["why"]) == (3, "staff:7", "a defect")
        with pytest.raises(LookupError):
            await skip_stopped(connection, FOLLOWER, SOURCE, 7, skipped_by="staff:7", why="a defect")
    at = (await follower.positions([7]))[7]
    assert (at.position, at.hash) == (3, (await other.read_stream(STREAM))[2].hash)
    # Handed in from before it, the skipped one is a duplicate: compared, not applied.
    assert await follower.apply([await page_of(other, 7, 2)]) == Applied(applied=2, duplicates=1)
    assert [position for _, position in await effects_of(effects)] == [1, 2, 4, 5]


async def test_an_event_that_another_owner_has_applied_stops_nobody(
    effects: Pool, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(1), expected=0)
    page = await page_of(other, 7)
    second: list[asyncio.Future[Applied]] = []

    async def handler(_: Connection, given: Sequence[RecordedEvent]) -> None:
        assert len(given) == 1
        second.append(asyncio.ensure_future(applier(effects).apply([page])))
        async with effects.acquire() as connection:
            await until_waiting(connection)  # for the position that we hold: it is next
        raise ValueError("not in this process")

    first = applier(effects, handler, policy=replace(STOP, attempts=1))
    assert await first.apply([page]) == Applied(duplicates=1)
    assert await second[0] == Applied(applied=1)
    async with effects.acquire() as connection:
        assert await list_stopped(connection) == ()
