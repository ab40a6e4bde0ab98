"""Applying pages: once each, in order, with the position."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from eventstore import EventFilter, Expect, RecordedEvent, StreamAppend, shard_of
from eventstore.following import OWN, Applied, Applier, Gap, HandlerUnfit, Page
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, Pool, PostgresEventStore
from tests.eventstore.following.effects import (
    FOLLOWER,
    QUICK,
    Seen,
    applier,
    effects_of,
    page_of,
    pages_of,
    record,
)
from tests.eventstore.samples import event, events, stream_of_shard

STREAM = stream_of_shard(7)


async def test_events_have_their_effect_and_the_position_moves(
    effects: Pool, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(3), expected=0)
    follower = applier(effects)
    before = await follower.positions([7, 8])
    assert {shard: one.position for shard, one in before.items()} == {7: 0, 8: 0}
    assert before[7].hash is None
    assert await follower.apply([await page_of(other, 7)]) == Applied(applied=3)
    assert await effects_of(effects) == [(STREAM, 1), (STREAM, 2), (STREAM, 3)]
    at = (await follower.positions([7]))[7]
    assert (at.position, at.hash) == (3, (await other.stream_head(STREAM)).hash)


async def test_what_is_known_is_left_out(effects: Pool, other: MemoryEventStore) -> None:
    await other.append(STREAM, events(3), expected=0)
    seen = Seen()
    follower = applier(effects, observer=seen)
    first = await page_of(other, 7)
    await follower.apply([first])
    assert await follower.apply([first]) == Applied(duplicates=3)
    await other.append(STREAM, events(2), expected=3)
    assert await follower.apply([await page_of(other, 7, 1)]) == Applied(applied=2, duplicates=2)
    assert [position for _, position in await effects_of(effects)] == [1, 2, 3, 4, 5]
    assert seen.notes == [("skipped", "duplicate", "3"), ("skipped", "duplicate", "2")]


async def test_a_gap_is_told_and_nothing_is_applied(effects: Pool, other: MemoryEventStore) -> None:
    await other.append(STREAM, events(5), expected=0)
    await other.append(stream_of_shard(3), events(1), expected=0)
    follower = applier(effects)
    await follower.apply([await page_of(other, 7, limit=2)])
    with pytest.raises(Gap) as gap:
        await follower.apply([await page_of(other, 3), await page_of(other, 7, 3)])
    assert (gap.value.shard, gap.value.expected, gap.value.found) == (7, 3, 4)
    assert len(await effects_of(effects)) == 2
    await follower.apply([await page_of(other, 7, 2)])
    assert len(await effects_of(effects)) == 5


async def test_shards_go_in_one_transaction_in_ascending_order(
    effects: Pool, other: MemoryEventStore
) -> None:
    streams = [stream_of_shard(shard) for shard in (40, 3, 17)]
    for stream in streams:
        await other.append(stream, events(2), expected=0)
    transactions = []

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        transactions.append(await connection.fetchval("SELECT pg_current_xact_id()::text"))
        assert [one.shard for one in given] == [3, 3, 17, 17, 40, 40]
        await record(connection, given)

    follower = applier(effects, handler)
    assert (await follower.apply((await pages_of(other))[::-1])).applied == 6
    assert len(transactions) == 1
    found = await follower.positions([3, 17, 40])
    assert [one.position for one in found.values()] == [2, 2, 2]


async def test_more_than_a_batch_is_several_transactions(effects: Pool, other: MemoryEventStore) -> None:
    sizes = []

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        sizes.append(len(given))
        await record(connection, given)

    await other.append(STREAM, events(700), expected=0)
    await other.append(stream_of_shard(9), events(450), expected=0)
    pages = [await page_of(other, 7, limit=1000), await page_of(other, 9)]
    await applier(effects, handler).apply(pages)
    assert sizes == [500, 500, 150]
    assert len(set(await effects_of(effects))) == 1150


async def test_a_shard_named_twice_is_a_mistake(effects: Pool) -> None:
    page = Page(1, 0, 0, ())
    with pytest.raises(ValueError, match="different shards"):
        await applier(effects).apply([page, page])


async def test_nothing_is_no_transaction(effects: Pool) -> None:
    assert await applier(effects).apply([]) == Applied()


async def test_the_position_moves_past_what_is_not_wanted(effects: Pool, other: MemoryEventStore) -> None:
    kinds = ["Opened", "Closed", "Opened", "Closed"]
    for position, kind in enumerate(kinds):
        await other.append(STREAM, [event(kind=kind)], expected=position)
    wanted = EventFilter(types=frozenset({"Opened"}))
    follower = applier(effects)
    assert (await follower.apply([await page_of(other, 7, wanted=wanted)])).applied == 2
    at = (await follower.positions([7]))[7]
    assert (at.position, at.hash) == (4, None)
    await other.append(STREAM, [event(kind="Closed")], expected=4)
    assert await follower.apply([await page_of(other, 7, 4, wanted=wanted)]) == Applied()
    assert (await follower.positions([7]))[7].position == 5


async def test_a_handler_that_fails_leaves_nothing_behind(effects: Pool, other: MemoryEventStore) -> None:
    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> None:
        await record(connection, given)
        raise HandlerUnfit("older than its tables")

    await other.append(STREAM, events(3), expected=0)
    follower = applier(effects, handler)
    with pytest.raises(HandlerUnfit):
        await follower.apply([await page_of(other, 7)])
    assert await effects_of(effects) == []
    assert (await follower.positions([7]))[7].position == 0


async def test_what_a_handler_returns_is_appended_with_the_effect_and_announced(
    effects: Pool, other: MemoryEventStore, postgres_store: PostgresEventStore
) -> None:
    answer = "answer-1"
    sent = events(1)

    async def handler(connection: Connection, given: Sequence[RecordedEvent]) -> list[StreamAppend]:
        await record(connection, given)
        return [StreamAppend(answer, Expect.ANY, sent)]

    await other.append(STREAM, events(2), expected=0)
    follower = Applier(effects, FOLLOWER, "table", handler, policy=QUICK, store=postgres_store)
    async with asyncio.timeout(30), postgres_store.subscribe({shard_of(answer): 0}) as pages:
        await follower.apply([await page_of(other, 7)])
        page = await anext(pages)
    assert [one.event_id for one in page.events] == [sent[0].event_id]
    assert len(await effects_of(effects)) == 2


async def test_our_own_log(effects: Pool, postgres_store: PostgresEventStore) -> None:
    await postgres_store.append(STREAM, events(3), expected=0)
    follower = Applier(effects, FOLLOWER, OWN, record)
    page = Page.of_shard(await postgres_store.read_shard(7), after=0)
    assert (await follower.apply([page])).applied == 3
    assert await effects.fetchval("SELECT recent FROM eventstore.positions WHERE position > 0") == b""


async def test_followers_and_sources_have_positions_of_their_own(
    effects: Pool, other: MemoryEventStore
) -> None:
    await other.append(STREAM, events(2), expected=0)
    page = await page_of(other, 7)
    for follower, source in (("a", "table"), ("b", "table"), ("a", "wallet")):
        assert (await Applier(effects, follower, source, record).apply([page])).applied == 2
