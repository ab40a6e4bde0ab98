from __future__ import annotations

from eventstore import EventFilter, Expect, RecordedEvent
from eventstore.following import SourceHead
from messaging.feed import PAGE_BYTES
from tests.eventstore.samples import assert_chained, event, events, stream_of_shard
from tests.messaging.feed.conftest import Served


async def test_a_shard_is_read_in_pages(served: Served) -> None:
    one, other = stream_of_shard(5), stream_of_shard(5, "table-")
    await served.log.append(one, events(120), expected=Expect.NONE)
    await served.log.append(other, events(10), expected=Expect.NONE)
    read: list[RecordedEvent] = []
    at = 0
    while True:
        page = await served.feed.read_shard(5, after=at, limit=50)
        assert (page.shard, page.after, page.head, page.epoch) == (5, at, 130, 1)
        if page.through == at:
            break
        assert [one.shard_position for one in page.events] == list(range(at + 1, page.through + 1))
        read += page.events
        at = page.through
    assert tuple(read) == (await served.log.read_shard(5, limit=1_000)).events
    assert_chained([each for each in read if each.stream == one])


async def test_an_empty_shard_has_no_page(served: Served) -> None:
    page = await served.feed.read_shard(0, after=0)
    assert (page.events, page.after, page.through, page.head) == ((), 0, 0, 0)


async def test_only_what_is_wanted_comes_and_the_page_goes_past_the_rest(served: Served) -> None:
    await served.log.append(
        stream_of_shard(5), [event(kind=kind) for kind in ("A", "B", "A", "B", "B")], expected=Expect.NONE
    )
    await served.log.append(stream_of_shard(5, "table-"), [event(kind="A")], expected=Expect.NONE)
    wanted = EventFilter(categories=frozenset({"round"}), types=frozenset({"A"}))
    page = await served.feed.read_shard(5, after=0, wanted=wanted)
    assert [one.shard_position for one in page.events] == [1, 3]
    assert page.through == page.head == 6


async def test_a_page_is_bounded_in_bytes(served: Served) -> None:
    large = b"x" * 900_000
    await served.log.append(stream_of_shard(5), [event(large) for _ in range(8)], expected=Expect.NONE)
    at, pages = 0, []
    while at < 8:
        page = await served.feed.read_shard(5, after=at)
        assert page.through == page.events[-1].shard_position
        assert sum(len(one.content) for one in page.events) <= PAGE_BYTES
        at = page.through
        pages.append(len(page.events))
    assert pages == [3, 3, 2]


async def test_small_events_make_full_pages(served: Served) -> None:
    await served.log.append(stream_of_shard(5), events(600), expected=Expect.NONE)
    assert len((await served.feed.read_shard(5, after=0, limit=500)).events) == 500


async def test_heads_tell_where_each_shard_ends_and_with_what(served: Served) -> None:
    appended = await served.log.append(stream_of_shard(5), events(3), expected=Expect.NONE)
    heads = await served.feed.heads()
    assert heads == {
        shard: SourceHead(3, appended.last_hash, 1) if shard == 5 else SourceHead(0, None, 1)
        for shard in range(64)
    }


async def test_the_hash_at_a_position_is_told(served: Served) -> None:
    appended = await served.log.append(stream_of_shard(5), events(3), expected=Expect.NONE)
    (second,) = (await served.log.read_shard(5, after=1, limit=1)).events
    assert await served.feed.hash_at(5, 2) == second.hash
    assert await served.feed.hash_at(5, 3) == appended.last_hash
    assert await served.feed.hash_at(5, 4) is None
