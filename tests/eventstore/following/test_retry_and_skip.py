"""What people do about parked streams, and how the follower carries it out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from eventstore import Expect, RecordedEvent, StreamAppend
from eventstore.following import (
    Applied,
    Applier,
    dead_letters,
    list_parked,
    note_dead_letters_sent,
    request_retry,
    reset_position,
    skip_parked,
)
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, Pool, PostgresEventStore
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
from tests.eventstore.held import until_waiting
from tests.eventstore.samples import events, stream_of_shard

STREAM = stream_of_shard(7)
OTHER = stream_of_shard(9)


async def parked(pool: Pool, other: MemoryEventStore, count: int, *poison: tuple[str, int]) -> None:
    """Streams with so many events, parked where they are poisonous."""
    for stream in sorted({stream for stream, _ in poison}):
        await other.append(stream, events(count), expected=0)
    await applier(pool, Poisoned(poison)).apply(await pages_of(other))


async def test_nothing_is_tried_that_nobody_asked_for(effects: Pool, other: MemoryEventStore) -> None:
    await parked(effects, other, 3, (STREAM, 2))
    assert await applier(effects).retry_parked() == 0
    assert await effects_of(effects) == [(STREAM, 1)]


async def test_a_retry_applies_the_kept_events_in_order_and_the_stream_goes_on(
    effects: Pool, other: MemoryEventStore
) -> None:
    await parked(effects, other, 3, (STREAM, 2))
    seen = Seen()
    follower = applier(effects, observer=seen)
    async with effects.acquire() as connection:
        assert await request_retry(connection, FOLLOWER, SOURCE, STREAM) == 1
        assert await follower.retry_parked([8]) == 0, "another owner's shards"
        assert await follower.retry_parked([7]) == 2
        assert await list_parked(connection) == ()
    await other.append(STREAM, events(1), expected=3)
    assert await follower.apply([await page_of(other, 7, 3)]) == Applied(applied=1)
    assert await effects_of(effects) == [(STREAM, position) for position in (1, 2, 3, 4)]
    assert (await follower.positions([7]))[7].parked == 0
    assert ("unparked", STREAM) in seen.notes


async def test_all_streams_of_a_follower_and_of_no_other(effects: Pool, other: MemoryEventStore) -> None:
    await parked(effects, other, 2, (STREAM, 1), (OTHER, 2))
    async with effects.acquire() as connection:
        assert await request_retry(connection, "someone", SOURCE) == 0
        assert await request_retry(connection, FOLLOWER, SOURCE) == 2
    assert await applier(effects).retry_parked() == 3
    assert sorted(await effects_of(effects)) == sorted([(OTHER, 1), (OTHER, 2), (STREAM, 1), (STREAM, 2)])


async def test_what_fails_again_stays_and_what_was_before_it_is_done(
    effects: Pool, other: MemoryEventStore
) -> None:
    await parked(effects, other, 1200, (STREAM, 2))
    async with effects.acquire() as connection:
        await note_dead_letters_sent(
            connection, FOLLOWER, SOURCE, await dead_letters(connection, FOLLOWER, SOURCE)
        )
        handler = Poisoned({(STREAM, 777)})
        follower = applier(effects, handler)
        await follower.apply([await page_of(other, 7, 500, limit=1000)])
        await request_retry(connection, FOLLOWER, SOURCE)
        assert await follower.retry_parked() == 775
        assert len(handler.calls) <= 2 + 2 * 9 + 2
        (stream,) = await list_parked(connection)
        assert (stream.failed_position, stream.events, stream.attempts) == (777, 424, 1)
        assert stream.retry_requested_at is None
        (letter,) = await dead_letters(connection, FOLLOWER, SOURCE)
        assert letter.event.stream_position == 777, "another event than the one that was told"
        # The same one again: counted, and not told again.
        await note_dead_letters_sent(connection, FOLLOWER, SOURCE, [letter])
        await request_retry(connection, FOLLOWER, SOURCE)
        assert await follower.retry_parked() == 0
        (stream,) = await list_parked(connection)
        assert (stream.failed_position, stream.attempts) == (777, 2)
        assert await dead_letters(connection, FOLLOWER, SOURCE) == ()
    assert await effects_of(effects) == [(STREAM, position) for position in range(1, 777)]


async def test_a_retry_appends_what_it_leads_to(
    effects: Pool, other: MemoryEventStore, postgres_store: PostgresEventStore
) -> None:
    await parked(effects, other, 2, (STREAM, 1))

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> list[StreamAppend]:
        await record(connection, given)
        return [StreamAppend("answer-1", Expect.ANY, events(len(given)))]

    async with effects.acquire() as connection:
        await request_retry(connection, FOLLOWER, SOURCE)
    follower = Applier(effects, FOLLOWER, SOURCE, handler, policy=QUICK, store=postgres_store)
    assert await follower.retry_parked() == 2
    assert (await postgres_store.stream_head("answer-1")).position == 2


async def test_two_owners_carry_a_retry_out_once(effects: Pool, other: MemoryEventStore) -> None:
    await parked(effects, other, 3, (STREAM, 1))
    second: list[asyncio.Future[int]] = []

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        second.append(asyncio.ensure_future(applier(effects).retry_parked()))
        async with effects.acquire() as looking:
            await until_waiting(looking)  # for the position that we hold

    async with effects.acquire() as connection:
        await request_retry(connection, FOLLOWER, SOURCE)
    assert await applier(effects, handler).retry_parked() == 3
    assert await second[0] == 0
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 2), (STREAM, 3)]


async def test_a_skipped_event_is_noted_and_the_rest_is_tried(effects: Pool, other: MemoryEventStore) -> None:
    await parked(effects, other, 3, (STREAM, 1))
    follower = applier(effects)
    async with effects.acquire() as connection:
        skipped = await skip_parked(
            connection, FOLLOWER, SOURCE, STREAM, skipped_by="staff:7", why="made by a defect"
        )
        assert skipped == (await other.read_stream(STREAM))[0]
        assert await follower.retry_parked() == 2
        (row,) = await connection.fetch("SELECT * FROM eventstore.skipped_events")
        with pytest.raises(LookupError):
            await skip_parked(connection, FOLLOWER, SOURCE, STREAM, skipped_by="staff:7", why="again")
    assert (row["stream"], row["stream_position"], row["event_id"]) == (STREAM, 1, skipped.event_id)
    assert (row["skipped_by"], row["why"]) == ("staff:7", "made by a defect")
    assert row["error"] == f"Refused: {STREAM} at 1"
    assert await effects_of(effects) == [(STREAM, 2), (STREAM, 3)]


async def test_skipping_the_last_kept_event_ends_the_parking(effects: Pool, other: MemoryEventStore) -> None:
    await parked(effects, other, 1, (STREAM, 1))
    async with effects.acquire() as connection:
        await skip_parked(connection, FOLLOWER, SOURCE, STREAM, skipped_by="staff:7", why="x", retry=False)
        assert await list_parked(connection) == ()
    await other.append(STREAM, events(1), expected=1)
    assert await applier(effects).apply([await page_of(other, 7, 1)]) == Applied(applied=1)


@pytest.mark.parametrize(("by", "why"), [("", "x"), (" ", "x"), ("x", ""), ("x", "a\nb"), ("x" * 201, "x")])
async def test_nobody_skips_without_a_name_and_a_reason(effects: Pool, by: str, why: str) -> None:
    async with effects.acquire() as connection:
        with pytest.raises(ValueError, match="printable characters"):
            await skip_parked(connection, FOLLOWER, SOURCE, STREAM, skipped_by=by, why=why)


async def test_a_position_that_is_set_back_forgets_what_comes_again(
    effects: Pool, other: MemoryEventStore
) -> None:
    await parked(effects, other, 4, (STREAM, 3))
    follower = applier(effects)
    async with effects.acquire() as connection:
        assert await reset_position(connection, FOLLOWER, SOURCE, 7, 3) == 4
        assert len(await list_parked(connection)) == 1, "its failed event does not come again"
        assert await follower.apply([await page_of(other, 7, 3)]) == Applied(held=1)
        assert await reset_position(connection, FOLLOWER, SOURCE, 7, 0) == 4
        assert await list_parked(connection) == ()
        with pytest.raises(LookupError):
            await reset_position(connection, "nobody", SOURCE, 7, 0)
    assert await follower.apply([await page_of(other, 7)]) == Applied(applied=4)
    assert [position for _, position in await effects_of(effects)] == [1, 2, 1, 2, 3, 4]
