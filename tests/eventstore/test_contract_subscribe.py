"""Subscriptions, as every store has them."""

from __future__ import annotations

import asyncio

import pytest

from eventstore import SHARDS, EventFilter, EventStore, LogBroken, StreamAppend
from tests.eventstore.samples import events, pages_through, stream_of_shard, streams_of_shard

DEADLINE_S = 30


async def test_what_is_there_and_then_what_comes(store: EventStore) -> None:
    stream = stream_of_shard(7)
    await store.append(stream, events(3), expected=0)
    async with asyncio.timeout(DEADLINE_S), store.subscribe({7: 0}) as pages:
        first = await anext(pages)
        assert [one.shard_position for one in first.events] == [1, 2, 3]
        following = asyncio.ensure_future(anext(pages))
        await store.append(stream, events(2), expected=3)
        second = await following
        assert [one.shard_position for one in second.events] == [4, 5]
        assert second.through == 5


async def test_from_a_position_and_of_the_named_shards_only(store: EventStore) -> None:
    await store.append_all([StreamAppend(stream_of_shard(n), 0, events(4)) for n in (7, 8, 9)])
    async with asyncio.timeout(DEADLINE_S), store.subscribe({7: 2, 9: 0}, page=3) as pages:
        seen = await pages_through(pages, {7: 4, 9: 4})
    assert sorted((one.shard, one.shard_position) for page in seen for one in page.events) == [
        (7, 3),
        (7, 4),
        (9, 1),
        (9, 2),
        (9, 3),
        (9, 4),
    ]


async def test_progress_past_unwanted_events_is_told(store: EventStore) -> None:
    await store.append(stream_of_shard(7, "table-"), events(5), expected=0)
    wanted = EventFilter(categories=frozenset({"round"}))
    async with asyncio.timeout(DEADLINE_S), store.subscribe({7: 0}, wanted=wanted) as pages:
        page = await anext(pages)
    assert (page.events, page.through) == ((), 5)


async def test_while_many_append_nothing_is_missed_or_twice_or_out_of_order(store: EventStore) -> None:
    names = [name for shard in (1, 2, 3) for name, _ in zip(streams_of_shard(shard), range(4), strict=False)]

    async def write(stream: str) -> None:
        for position in range(0, 30, 3):
            await store.append(stream, events(3), expected=position)

    async with asyncio.timeout(DEADLINE_S), store.subscribe({1: 0, 2: 0, 3: 0}, page=10) as pages:
        reading = asyncio.ensure_future(pages_through(pages, {1: 120, 2: 120, 3: 120}))
        await asyncio.gather(*map(write, names))
        seen = await reading
    for shard in (1, 2, 3):
        got = [one for page in seen if page.shard == shard for one in page.events]
        assert [one.shard_position for one in got] == list(range(1, 121))


async def test_two_subscriptions_do_not_take_from_each_other(store: EventStore) -> None:
    stream = stream_of_shard(7)
    every = dict.fromkeys(range(SHARDS), 0)
    async with asyncio.timeout(DEADLINE_S), store.subscribe(every) as one, store.subscribe({7: 1}) as two:
        await store.append(stream, events(2), expected=0)
        first, second = await anext(one), await anext(two)
    assert [e.shard_position for e in first.events] == [1, 2]
    assert [e.shard_position for e in second.events] == [2]


async def test_a_position_beyond_the_head_is_an_alarm(store: EventStore) -> None:
    await store.append(stream_of_shard(7), events(2), expected=0)
    async with asyncio.timeout(DEADLINE_S), store.subscribe({7: 3}) as pages:
        with pytest.raises(LogBroken):
            await anext(pages)


async def test_ending_a_subscription_that_waits(store: EventStore) -> None:
    async with asyncio.timeout(DEADLINE_S), store.subscribe({7: 0}) as pages:
        waiting = asyncio.ensure_future(anext(pages))
        await store.shard_heads()  # gives it the time to fall asleep
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
