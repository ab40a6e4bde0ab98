"""Reading, as every store does it."""

from __future__ import annotations

import contextlib

import pytest

from eventstore import EVERYTHING, SHARDS, EventFilter, EventStore, StreamAppend, shard_of
from eventstore.events import PAGE_BYTES
from eventstore.ids import new_event_id
from tests.eventstore.samples import event, events, streams_of_shard

STREAM = "round-t1.1"


@pytest.mark.parametrize(
    ("after", "limit", "positions"),
    [
        (0, 3, [1, 2, 3]),
        (3, 3, [4, 5, 6]),
        (6, 3, [7]),
        (7, 3, []),
        (99, 3, []),
        (0, 7, [1, 2, 3, 4, 5, 6, 7]),
    ],
)
async def test_a_stream_forward_in_pages(
    store: EventStore, after: int, limit: int, positions: list[int]
) -> None:
    await store.append(STREAM, events(7), expected=0)
    page = await store.read_stream(STREAM, after=after, limit=limit)
    assert [one.stream_position for one in page] == positions


@pytest.mark.parametrize(
    ("before", "limit", "positions"),
    [
        (None, 3, [7, 6, 5]),
        (5, 3, [4, 3, 2]),
        (2, 3, [1]),
        (1, 3, []),
        (99, 2, [7, 6]),
        (None, 10, [7, 6, 5, 4, 3, 2, 1]),
    ],
)
async def test_a_stream_backward_in_pages(
    store: EventStore, before: int | None, limit: int, positions: list[int]
) -> None:
    await store.append(STREAM, events(7), expected=0)
    page = await store.read_stream_backward(STREAM, before=before, limit=limit)
    assert [one.stream_position for one in page] == positions


async def test_a_stream_that_is_not_there_is_empty(store: EventStore) -> None:
    assert await store.read_stream(STREAM) == ()
    assert await store.read_stream_backward(STREAM) == ()
    assert [one async for one in store.iterate_stream(STREAM)] == []


@pytest.mark.parametrize("page", [1, 2, 7, 8])
async def test_a_stream_as_an_iterator(store: EventStore, page: int) -> None:
    await store.append(STREAM, events(7), expected=0)
    await store.append("round-t1.2", events(2), expected=0)
    read = [one async for one in store.iterate_stream(STREAM, after=2, page=page)]
    assert read == list(await store.read_stream(STREAM, after=2))
    assert [one.stream_position for one in read] == [3, 4, 5, 6, 7]


async def test_a_page_of_a_shard_is_bounded_in_bytes_too(store: EventStore) -> None:
    large = PAGE_BYTES // 20
    stream = next(streams_of_shard(20))
    for part in range(3):
        batch = [event(bytes(large), kind="Other" if n == 1 else "Opened") for n in range(10)]
        await store.append(stream, batch, expected=10 * part)
    whole = await store.read_shard(20)
    assert (len(whole.events), whole.through, whole.head) == (20, 20, 30)
    rest = await store.read_shard(20, after=whole.through)
    assert ([one.shard_position for one in rest.events], rest.through) == (list(range(21, 31)), 30)
    # What is not wanted does not count.
    wanted = EventFilter(types=frozenset({"Other"}))
    page = await store.read_shard(20, wanted=wanted)
    assert ([one.shard_position for one in page.events], page.through) == ([2, 12, 22], 30)


@pytest.mark.parametrize(("after", "limit"), [(0, 3), (3, 3), (6, 3), (7, 3), (99, 3), (0, 7)])
async def test_the_contents_alone_are_those_of_the_events(store: EventStore, after: int, limit: int) -> None:
    assert await store.read_contents(STREAM, after=after, limit=limit) == ()
    await store.append(STREAM, events(7), expected=0)
    await store.append("round-t1.2", events(2), expected=0)
    page = await store.read_stream(STREAM, after=after, limit=limit)
    assert await store.read_contents(STREAM, after=after, limit=limit) == tuple(one.content for one in page)


@pytest.mark.parametrize("page", [1, 2, 5, 7, 8])
async def test_all_contents_come_page_by_page(store: EventStore, page: int) -> None:
    await store.append(STREAM, events(7), expected=0)
    pages = [contents async for contents in store.iterate_contents(STREAM, after=2, page=page)]
    assert all(1 <= len(contents) <= page for contents in pages)
    read = [one.content for one in await store.read_stream(STREAM, after=2)]
    assert [content for contents in pages for content in contents] == read


async def test_contents_that_nobody_asks_for_any_more_are_let_go(store: EventStore) -> None:
    await store.append(STREAM, events(7), expected=0)
    pages = store.iterate_contents(STREAM, page=2)
    assert await anext(pages) == (b'{"n":1}', b'{"n":2}')
    async with contextlib.aclosing(pages):  # type: ignore[type-var]  # it is a generator
        pass
    assert [contents async for contents in pages] == []
    assert (await store.read_contents(STREAM, limit=1)) == (b'{"n":1}',)


async def test_a_shard_in_pages_from_a_position(store: EventStore) -> None:
    stream = next(streams_of_shard(20))
    await store.append(stream, events(5), expected=0)
    page = await store.read_shard(20, after=1, limit=3)
    assert ([one.shard_position for one in page.events], page.shard, page.through, page.head) == (
        [2, 3, 4],
        20,
        4,
        5,
    )
    page = await store.read_shard(20, after=page.through, limit=3)
    assert ([one.shard_position for one in page.events], page.through, page.head) == ([5], 5, 5)
    page = await store.read_shard(20, after=page.through, limit=3)
    assert (page.events, page.through, page.head) == ((), 5, 5)


async def test_unwanted_events_are_left_out_and_passed_over(store: EventStore) -> None:
    rounds, tables = next(streams_of_shard(20, "round-")), next(streams_of_shard(20, "table-"))
    await store.append(rounds, [event(kind="Opened"), event(kind="Closed")], expected=0)
    await store.append(tables, [event(kind="Opened"), event(kind="Closed")], expected=0)
    await store.append(rounds, [event(kind="Opened")], expected=2)

    async def positions(wanted: EventFilter, limit: int = 10) -> tuple[list[int], int]:
        page = await store.read_shard(20, limit=limit, wanted=wanted)
        return [one.shard_position for one in page.events], page.through

    assert await positions(EVERYTHING) == ([1, 2, 3, 4, 5], 5)
    assert await positions(EventFilter(categories=frozenset({"round"}))) == ([1, 2, 5], 5)
    assert await positions(EventFilter(categories=frozenset({"round", "table"}))) == ([1, 2, 3, 4, 5], 5)
    assert await positions(EventFilter(types=frozenset({"Closed"}))) == ([2, 4], 5)
    both = EventFilter(categories=frozenset({"table"}), types=frozenset({"Closed", "Settled"}))
    assert await positions(both) == ([4], 5)
    assert await positions(both, limit=3) == ([], 3)
    assert await positions(EventFilter(categories=frozenset({"roun"}))) == ([], 5)
    assert await positions(EventFilter(types=frozenset())) == ([], 5)


async def test_heads_of_all_shards(store: EventStore) -> None:
    names = ["round-t1.1", "round-t1.2", "account-p1", "table-t1"]
    await store.append_all([StreamAppend(name, 0, events(n)) for n, name in enumerate(names, start=1)])
    expected = [0] * SHARDS
    for n, name in enumerate(names, start=1):
        expected[shard_of(name)] += n
    assert list(await store.shard_heads()) == expected


async def test_events_are_found_by_their_ids(store: EventStore) -> None:
    one, two, three = events(3)
    await store.append(STREAM, [one, two], expected=0)
    await store.append("table-t1", [three], expected=0)
    found = await store.find_events([three.event_id, new_event_id(), one.event_id])
    assert {(e.stream, e.stream_position, e.event_id) for e in found} == {
        (STREAM, 1, one.event_id),
        ("table-t1", 1, three.event_id),
    }
    assert await store.find_events([]) == ()


async def test_an_event_reads_the_same_from_everywhere(store: EventStore) -> None:
    sent = event('{"a":1}')
    appended = await store.append(STREAM, [sent], expected=0)
    (from_stream,) = await store.read_stream(STREAM)
    page = await store.read_shard(appended.shard)
    assert from_stream.recorded_at.tzinfo is not None
    assert (from_stream,) == page.events
    assert (from_stream,) == await store.read_stream_backward(STREAM)
    assert (from_stream,) == await store.find_events([sent.event_id])


@pytest.mark.parametrize(("after", "limit"), [(-1, 10), (2**63, 10), (0, 0), (0, -1), (0, 10_001)])
async def test_a_page_that_cannot_be(store: EventStore, after: int, limit: int) -> None:
    with pytest.raises(ValueError, match=r"position|page"):
        await store.read_stream(STREAM, after=after, limit=limit)
    with pytest.raises(ValueError, match=r"position|page"):
        await store.read_stream_backward(STREAM, before=after, limit=limit)
    with pytest.raises(ValueError, match=r"position|page"):
        await store.read_shard(3, after=after, limit=limit)


@pytest.mark.parametrize("shard", [-1, SHARDS])
async def test_a_shard_that_cannot_be(store: EventStore, shard: int) -> None:
    with pytest.raises(ValueError, match="shard"):
        await store.read_shard(shard)


async def test_a_position_beyond_the_end_reads_nothing(store: EventStore) -> None:
    await store.append(STREAM, events(2), expected=0)
    assert await store.read_stream(STREAM, after=5) == ()
    page = await store.read_shard(shard_of(STREAM), after=5)
    assert (page.events, page.through, page.head) == ((), 5, 2)
