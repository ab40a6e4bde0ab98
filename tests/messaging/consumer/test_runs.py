from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventstore import EventFilter, Expect, RecordedEvent, category_of
from eventstore.events import EVERYTHING
from eventstore.memory import MemoryEventStore
from messaging.consumer.runs import Record, pages_of
from messaging.envelope import headers_of, key_of
from tests.eventstore.samples import event, stream_of_shard

SERVICE = "table"


@dataclass(frozen=True)
class Sent:
    """A record as it comes."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    partition: int = 5


def sent(offset: int, one: RecordedEvent, epoch: int = 1) -> Sent:
    return Sent(offset, key_of(one), one.content, headers_of(one, SERVICE, epoch))


async def log() -> tuple[RecordedEvent, ...]:
    """Nine events of shard 5, of two streams in turn."""
    store = MemoryEventStore()
    streams = stream_of_shard(5), stream_of_shard(5, "table-")
    for n in range(9):
        await store.append(streams[n % 2], [event(f'{{"n":{n}}}', kind=f"K{n % 3}")], expected=Expect.ANY)
    return (await store.read_shard(5)).events


def spans(
    records: Sequence[Record], wanted: EventFilter = EVERYTHING
) -> tuple[list[tuple[int, int, list[int], int | None]], list[int]]:
    """What became of the records: pages with their events' positions, and offsets of garbage."""
    garbage: list[int] = []
    pages = list(pages_of(SERVICE, records, wanted, lambda record, _: garbage.append(record.offset)))
    return [
        (page.after, page.through, [one.shard_position for one in page.events], page.epoch) for page in pages
    ], garbage


async def test_consecutive_events_are_one_page() -> None:
    events = await log()
    assert spans([sent(n, one) for n, one in enumerate(events)]) == ([(0, 9, list(range(1, 10)), 1)], [])
    assert spans([]) == ([], [])


async def test_a_page_ends_where_one_is_missing_or_comes_again() -> None:
    one, two, _, four, five, *_ = await log()
    records = [sent(n, each) for n, each in enumerate((one, two, four, five, five, four))]
    assert spans(records) == (
        [(0, 2, [1, 2], 1), (3, 5, [4, 5], 1), (4, 5, [5], 1), (3, 4, [4], 1)],
        [],
    )


async def test_a_page_is_of_one_epoch() -> None:
    one, two, three, *_ = await log()
    records = [sent(0, one, 1), sent(1, two, 2), sent(2, three, 2)]
    assert spans(records) == ([(0, 1, [1], 1), (1, 3, [2, 3], 2)], [])


async def test_garbage_is_left_out_and_ends_nothing_by_itself() -> None:
    one, two, three, *_ = await log()
    nonsense = Sent(1, b"?", None, [])
    assert spans([sent(0, one), nonsense, sent(2, two)]) == ([(0, 2, [1, 2], 1)], [1])
    instead = Sent(1, key_of(two), b"other", headers_of(two, SERVICE, 1))
    assert spans([sent(0, one), instead, sent(2, three)]) == ([(0, 1, [1], 1), (2, 3, [3], 1)], [1])


async def test_what_is_not_wanted_is_left_out_of_a_page_that_goes_past_it() -> None:
    events = await log()
    records = [sent(n, one) for n, one in enumerate(events)]
    wanted = EventFilter(categories=frozenset({"round"}), types=frozenset({"K0", "K1"}))
    kept = [one.shard_position for one in events if category_of(one.stream) == "round" and one.type != "K2"]
    assert kept == [1, 5, 7]
    assert spans(records, wanted) == ([(0, 9, kept, 1)], [])
    assert spans(records, EventFilter(types=frozenset({"None"}))) == ([(0, 9, [], 1)], [])
