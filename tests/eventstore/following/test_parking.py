"""An event that cannot be applied: it is found, its stream waits, everything else goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from eventstore import RecordedEvent
from eventstore.following import (
    Applied,
    FollowerStopped,
    dead_letters,
    list_parked,
    list_stopped,
    note_dead_letters_sent,
    request_retry,
    resume,
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
    record,
)
from tests.eventstore.samples import events, stream_of_shard, streams_of_shard

STREAM = stream_of_shard(7)


@pytest.mark.parametrize("place", [1, 250, 251, 499, 500])
async def test_one_of_500_is_found_by_halving(effects: Pool, other: MemoryEventStore, place: int) -> None:
    streams = [name for _, name in zip(range(500), streams_of_shard(7), strict=False)]
    for name in streams:
        await other.append(name, events(1), expected=0)
    culprit = streams[place - 1]
    handler = Poisoned({(culprit, 1)})
    seen = Seen()
    applied = await applier(effects, handler, observer=seen).apply([await page_of(other, 7)])
    assert applied == Applied(applied=499, parked=(culprit,))
    # Whole, then two a level at most, then the attempts of the one alone.
    assert len(handler.calls) <= 1 + 2 * math.ceil(math.log2(500)) + QUICK.attempts
    assert handler.calls.count(1) >= QUICK.attempts
    assert [stream for stream, _ in await effects_of(effects)] == [one for one in streams if one != culprit]
    async with effects.acquire() as connection:
        (parked,) = await list_parked(connection)
    assert (parked.stream, parked.failed_position, parked.events, parked.attempts) == (culprit, 1, 1, 3)
    assert (parked.reason, parked.error) == ("Refused", f"Refused: {culprit} at 1")
    assert ("parked", culprit) in seen.notes


async def test_later_events_of_a_parked_stream_are_kept_and_others_go_on(
    effects: Pool, other: MemoryEventStore
) -> None:
    neighbour = stream_of_shard(7, "table-")
    for position in range(4):
        await other.append(STREAM, events(1), expected=position)
        await other.append(neighbour, events(1), expected=position)
    follower = applier(effects, Poisoned({(STREAM, 2)}))
    first = await page_of(other, 7)
    assert await follower.apply([first]) == Applied(applied=5, held=2, parked=(STREAM,))
    assert await effects_of(effects) == [
        (STREAM, 1),
        *((neighbour, position) for position in (1, 2, 3, 4)),
    ]
    await other.append(STREAM, events(2), expected=4)
    assert await follower.apply([await page_of(other, 7, 8)]) == Applied(held=2)
    async with effects.acquire() as connection:
        (parked,) = await list_parked(connection, FOLLOWER, SOURCE)
        assert (parked.events, parked.failed_position) == (5, 2)
        kept = await connection.fetch("SELECT * FROM eventstore.parked_events ORDER BY stream_position")
    log = [one for one in await other.read_stream(STREAM) if one.stream_position > 1]
    assert [RecordedEvent(*(row[name] for name in RecordedEvent._fields)) for row in kept] == log
    at = (await follower.positions([7]))[7]
    assert (at.position, at.parked) == (10, 1)


async def test_several_at_fault_in_one_batch(effects: Pool, other: MemoryEventStore) -> None:
    streams = [stream_of_shard(shard) for shard in range(10)]
    for name in streams:
        await other.append(name, events(10), expected=0)
    poison = {(streams[2], 10), (streams[3], 1), (streams[9], 5)}
    applied = await applier(effects, Poisoned(poison)).apply(await pages_of(other))
    assert applied == Applied(
        applied=7 * 10 + 9 + 0 + 4, held=9 + 5, parked=(streams[2], streams[3], streams[9])
    )


async def test_an_event_that_succeeds_in_the_end_is_not_parked(
    effects: Pool, other: MemoryEventStore
) -> None:
    failures = [1, 1]

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        if failures:
            failures.pop()
            raise ValueError("not yet")

    await other.append(STREAM, events(1), expected=0)
    seen = Seen()
    assert await applier(effects, handler, observer=seen).apply([await page_of(other, 7)]) == Applied(
        applied=1
    )
    assert seen.notes == [("retried", "failed"), ("retried", "failed")]
    assert await effects_of(effects) == [(STREAM, 1)]


async def test_what_fails_in_the_commit_is_an_event_s_fault_too(
    effects: Pool, other: MemoryEventStore
) -> None:
    await effects.execute(
        "ALTER TABLE public.effects ADD UNIQUE (stream_position) DEFERRABLE INITIALLY DEFERRED"
    )
    await other.append(STREAM, events(1), expected=0)
    await other.append(stream_of_shard(8), events(2), expected=0)
    applied = await applier(effects).apply(await pages_of(other))
    assert applied == Applied(applied=1, held=1, parked=(stream_of_shard(8),))
    async with effects.acquire() as connection:
        (parked,) = await list_parked(connection)
    assert parked.reason == "UniqueViolationError"


async def test_an_error_that_the_handler_swallows_is_found_all_the_same(
    effects: Pool, other: MemoryEventStore
) -> None:
    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        assert given
        try:
            await connection.execute("SELECT 1 / 0")
        except Exception:  # noqa: BLE001 - what a careless handler does
            return

    await other.append(STREAM, events(1), expected=0)
    follower = applier(effects, handler)
    applied = await follower.apply([await page_of(other, 7)])
    assert applied == Applied(parked=(STREAM,)), "the server rolls such a transaction back at its commit"
    assert (await follower.positions([7]))[7].parked == 1


async def test_so_many_parked_streams_are_no_event_s_fault(effects: Pool, other: MemoryEventStore) -> None:
    streams = [stream_of_shard(shard) for shard in range(4)]
    for name in streams:
        await other.append(name, events(1), expected=0)
    few = replace(QUICK, parked_streams_max=2)
    follower = applier(effects, Poisoned({(name, 1) for name in streams}), policy=few)
    with pytest.raises(FollowerStopped):
        await follower.apply(await pages_of(other))
    async with effects.acquire() as connection:
        assert len(await list_parked(connection)) == 2
        (stop,) = await list_stopped(connection)
    assert (stop.kind, stop.stream) == ("failed", streams[2])


async def test_so_many_kept_events_stop_the_follower_until_some_are_gone(
    effects: Pool, other: MemoryEventStore
) -> None:
    neighbour = stream_of_shard(7, "table-")
    await other.append(STREAM, events(4), expected=0)
    await other.append(neighbour, events(2), expected=0)
    await other.append(STREAM, events(2), expected=4)
    follower = applier(effects, Poisoned({(STREAM, 1)}), policy=replace(QUICK, parked_events_max=4))
    with pytest.raises(FollowerStopped):
        await follower.apply([await page_of(other, 7)])
    assert await effects_of(effects) == [(neighbour, 1), (neighbour, 2)]
    async with effects.acquire() as connection:
        (stop,) = await list_stopped(connection)
        assert (stop.stream, stop.stream_position, stop.reason) == (STREAM, 5, "too_many_kept")
        assert (await list_parked(connection))[0].events == 4
        # A person has the events applied that wait, and lets it go on.
        await request_retry(connection, FOLLOWER, SOURCE)
        mended = applier(effects)
        assert await mended.retry_parked() == 4
        await resume(connection, FOLLOWER, SOURCE)
    assert await mended.apply([await page_of(other, 7)]) == Applied(applied=2, duplicates=6)


async def test_an_error_that_cannot_be_written_down_as_it_is(effects: Pool, other: MemoryEventStore) -> None:
    async def handler(_: Connection, given: Sequence[RecordedEvent]) -> None:
        assert given
        raise ValueError("\0 \ud800 " + "x" * 5000)

    await other.append(STREAM, events(1), expected=0)
    assert (await applier(effects, handler).apply([await page_of(other, 7)])).parked == (STREAM,)
    async with effects.acquire() as connection:
        (parked,) = await list_parked(connection)
    assert parked.error.startswith("ValueError: \N{REPLACEMENT CHARACTER} ? xxx")
    assert len(parked.error) == 2000


async def test_dead_letters_are_told_until_they_are_noted_as_sent(
    effects: Pool, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    await applier(effects, Poisoned({(STREAM, 2)})).apply([await page_of(other, 7)])
    async with effects.acquire() as connection:
        letters = await dead_letters(connection, FOLLOWER, SOURCE)
        assert [one.event for one in letters] == [(await other.read_stream(STREAM))[1]]
        assert (letters[0].attempts, letters[0].reason) == (3, "Refused")
        assert await dead_letters(connection, FOLLOWER, SOURCE) == letters
        await note_dead_letters_sent(connection, FOLLOWER, SOURCE, letters)
        assert await dead_letters(connection, FOLLOWER, SOURCE) == ()
