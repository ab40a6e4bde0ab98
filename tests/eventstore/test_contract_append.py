"""Append, as every store does it."""

from __future__ import annotations

import asyncio

import pytest

from eventstore import (
    Appended,
    EventIdReused,
    EventStore,
    Expect,
    InvalidAppend,
    NewEvent,
    StreamAppend,
    VersionConflict,
    shard_of,
)
from eventstore.ids import new_event_id
from eventstore.streams import MAX_EVENT_BYTES, first_prev_hash
from tests.eventstore.samples import assert_chained, event, events, stream_of_shard, streams_of_shard

STREAM = "round-t1.1"


async def test_an_append_says_where_the_events_are(store: EventStore) -> None:
    first = await store.append(STREAM, events(2), expected=Expect.NONE)
    second = await store.append(STREAM, events(3), expected=2)
    head = await store.stream_head(STREAM)
    shard = shard_of(STREAM)
    log = await store.read_stream(STREAM)
    assert first == Appended(STREAM, 1, 2, shard, 1, log[1].hash)
    assert second == Appended(STREAM, 3, 5, shard, 3, log[4].hash)
    assert second.last_shard_position == 5
    assert (head.position, head.hash) == (5, second.last_hash)


async def test_content_is_stored_byte_for_byte(store: EventStore) -> None:
    contents = [
        b'{"a":1}',
        b' {"a": 1.0}\n',
        bytes(range(256)),
        "žluťoučký 牌".encode(),
        b"x" * MAX_EVENT_BYTES,
    ]
    sent = [event(content) for content in contents]
    await store.append(STREAM, sent, expected=0)
    log = await store.read_stream(STREAM)
    assert [one.content for one in log] == contents
    assert [(one.event_id, one.type) for one in log] == [(one.event_id, one.type) for one in sent]


async def test_each_hash_covers_the_one_before(store: EventStore) -> None:
    await store.append(STREAM, events(3), expected=Expect.NONE)
    await store.append(STREAM, events(1), expected=Expect.EXISTS)
    await store.append(STREAM, events(2), expected=Expect.ANY)
    log = await store.read_stream(STREAM)
    assert len(log) == 6
    assert_chained(log)


async def test_streams_of_a_shard_share_its_gapless_numbering(store: EventStore) -> None:
    names = streams_of_shard(9)
    one, two = next(names), next(names)
    await store.append(one, events(2), expected=0)
    await store.append(two, events(3), expected=0)
    await store.append(one, events(1), expected=2)
    page = await store.read_shard(9)
    assert [(e.shard_position, e.stream, e.stream_position) for e in page.events] == [
        (1, one, 1),
        (2, one, 2),
        (3, two, 1),
        (4, two, 2),
        (5, two, 3),
        (6, one, 3),
    ]


@pytest.mark.parametrize(
    ("expected", "present", "fits"),
    [
        (Expect.NONE, 0, True),
        (Expect.NONE, 2, False),
        (Expect.EXISTS, 0, False),
        (Expect.EXISTS, 2, True),
        (Expect.ANY, 0, True),
        (Expect.ANY, 2, True),
        (0, 0, True),
        (0, 2, False),
        (1, 2, False),
        (2, 2, True),
        (3, 2, False),
        (3, 0, False),
    ],
)
async def test_expected_position(store: EventStore, expected: int | Expect, present: int, fits: bool) -> None:  # noqa: FBT001 - a case of the table
    if present:
        await store.append(STREAM, events(present), expected=0)
    if fits:
        appended = await store.append(STREAM, events(1), expected=expected)
        assert appended.first_position == present + 1
    else:
        with pytest.raises(VersionConflict) as conflict:
            await store.append(STREAM, events(1), expected=expected)
        assert (conflict.value.stream, conflict.value.expected, conflict.value.found) == (
            STREAM,
            expected,
            present,
        )
        assert (await store.stream_head(STREAM)).position == present


@pytest.mark.parametrize("expected", [0, Expect.NONE, Expect.ANY])
async def test_the_same_ids_again_give_the_stored_positions_back(
    store: EventStore, expected: int | Expect
) -> None:
    sent = events(3)
    first = await store.append(STREAM, sent, expected=expected)
    await store.append(STREAM, events(2), expected=3)
    again = await store.append(STREAM, sent, expected=expected)
    assert again == Appended(
        STREAM, 1, 3, first.shard, first.first_shard_position, first.last_hash, already=True
    )
    assert (await store.stream_head(STREAM)).position == 5


async def test_the_same_ids_again_in_the_middle_of_the_stream(store: EventStore) -> None:
    await store.append(STREAM, events(2), expected=0)
    sent = events(2)
    await store.append(STREAM, sent, expected=Expect.EXISTS)
    await store.append(STREAM, events(1), expected=4)
    again = await store.append(STREAM, sent, expected=Expect.EXISTS)
    assert (again.first_position, again.last_position, again.already) == (3, 4, True)


async def test_the_same_ids_with_other_content_are_an_error(store: EventStore) -> None:
    sent = event("{}")
    await store.append(STREAM, [sent], expected=0)
    forged = NewEvent(sent.event_id, sent.type, b"[]")
    for expected in (0, Expect.ANY, 1):
        with pytest.raises(EventIdReused) as reused:
            await store.append(STREAM, [forged], expected=expected)
        assert (reused.value.stream, reused.value.event_id) == (STREAM, sent.event_id)
    assert (await store.stream_head(STREAM)).position == 1


async def test_the_same_ids_in_another_stream_or_order_or_company_are_an_error(store: EventStore) -> None:
    first, second = sent = events(2)
    await store.append(STREAM, sent, expected=0)
    for stream, wrong in [
        ("round-t1.2", sent),
        (STREAM, [second, first]),
        (STREAM, [first, second, event()]),
        (STREAM, [event(), second]),
    ]:
        with pytest.raises(EventIdReused):
            await store.append(stream, wrong, expected=Expect.ANY)
    assert [head for head in await store.shard_heads() if head] == [2]


async def test_the_second_half_of_an_append_is_found_too(store: EventStore) -> None:
    sent = events(3)
    await store.append(STREAM, sent, expected=0)
    again = await store.append(STREAM, sent[1:], expected=Expect.ANY)
    assert (again.first_position, again.last_position, again.already) == (2, 3, True)


async def test_several_streams_are_stored_together(store: EventStore) -> None:
    appended = await store.append_all(
        [
            StreamAppend("round-t1.9", Expect.NONE, events(2)),
            StreamAppend("table-t1", Expect.ANY, events(1)),
            StreamAppend("account-p1", 0, events(3)),
        ]
    )
    assert [(one.stream, one.first_position, one.last_position) for one in appended] == [
        ("round-t1.9", 1, 2),
        ("table-t1", 1, 1),
        ("account-p1", 1, 3),
    ]


async def test_several_streams_are_refused_together(store: EventStore) -> None:
    await store.append("table-t1", events(1), expected=0)
    request = [
        StreamAppend("round-t1.9", Expect.NONE, events(2)),
        StreamAppend("table-t1", 7, events(1)),
    ]
    with pytest.raises(VersionConflict) as conflict:
        await store.append_all(request)
    assert (conflict.value.stream, conflict.value.found) == ("table-t1", 1)
    assert (await store.stream_head("round-t1.9")).position == 0


async def test_several_streams_again_give_all_positions_back(store: EventStore) -> None:
    request = [
        StreamAppend("round-t1.9", Expect.NONE, events(2)),
        StreamAppend("table-t1", Expect.ANY, events(1)),
    ]
    first = await store.append_all(request)
    again = await store.append_all(request)
    assert [(one.first_position, one.last_hash, one.already) for one in again] == [
        (one.first_position, one.last_hash, True) for one in first
    ]


async def test_a_part_of_several_streams_again_is_an_error(store: EventStore) -> None:
    stored = StreamAppend("table-t1", Expect.ANY, events(1))
    await store.append_all([stored])
    with pytest.raises(EventIdReused):
        await store.append_all([StreamAppend("round-t1.9", Expect.NONE, events(1)), stored])
    assert (await store.stream_head("round-t1.9")).position == 0


async def test_many_writers_of_one_stream_without_expectation_are_chained(store: EventStore) -> None:
    await asyncio.gather(*(store.append(STREAM, events(3), expected=Expect.ANY) for _ in range(40)))
    log = [one async for one in store.iterate_stream(STREAM, page=7)]
    assert len(log) == 120
    assert_chained(log)


async def test_of_many_writers_that_expect_the_same_one_wins(store: EventStore) -> None:
    outcomes = await asyncio.gather(
        *(store.append(STREAM, events(1), expected=0) for _ in range(20)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in outcomes) == ["Appended"] + ["VersionConflict"] * 19
    assert (await store.stream_head(STREAM)).position == 1


async def test_the_same_append_many_times_at_once_is_stored_once(store: EventStore) -> None:
    sent = events(2)
    outcomes = await asyncio.gather(
        *(store.append(STREAM, sent, expected=Expect.ANY) for _ in range(10)),
        *(store.append(STREAM, sent, expected=0) for _ in range(10)),
    )
    assert {(one.first_position, one.last_position) for one in outcomes} == {(1, 2)}
    assert sorted(one.already for one in outcomes) == [False] + [True] * 19


@pytest.mark.parametrize(
    ("stream", "sent"),
    [
        ("", events(1)),
        ("x" * 201, events(1)),
        ("round-\x00", events(1)),
        ("round-\ud800", events(1)),
        (STREAM, []),
        (STREAM, [event(b"")]),
        (STREAM, [event(b"x" * (MAX_EVENT_BYTES + 1))]),
        (STREAM, [event(kind="")]),
        (STREAM, [event(kind="x" * 101)]),
        (STREAM, [event()] * 2),
    ],
    ids=[
        "no name",
        "long name",
        "NUL in the name",
        "surrogate in the name",
        "no events",
        "no content",
        "long content",
        "no type",
        "long type",
        "an id twice",
    ],
)
async def test_what_can_never_be_stored_is_refused(
    store: EventStore, stream: str, sent: list[NewEvent]
) -> None:
    with pytest.raises(InvalidAppend):
        await store.append(stream, sent, expected=Expect.ANY)


@pytest.mark.parametrize("expected", [-1, 2**63])
async def test_a_position_that_cannot_be_is_refused(store: EventStore, expected: int) -> None:
    with pytest.raises(InvalidAppend):
        await store.append(STREAM, events(1), expected=expected)


async def test_an_append_names_streams_and_each_of_them_once(store: EventStore) -> None:
    with pytest.raises(InvalidAppend):
        await store.append_all([])
    with pytest.raises(InvalidAppend):
        await store.append_all([StreamAppend(STREAM, 0, events(1)), StreamAppend(STREAM, 1, events(1))])


async def test_ids_of_another_version_work_too(store: EventStore) -> None:
    sent = [NewEvent(new_event_id(now_ms=0), "Opened", b"{}")]
    await store.append(STREAM, sent, expected=0)
    assert (await store.append(STREAM, sent, expected=0)).already
    assert [one.event_id for one in await store.find_events([sent[0].event_id])] == [sent[0].event_id]


async def test_an_empty_stream_has_a_head_too(store: EventStore) -> None:
    head = await store.stream_head(stream_of_shard(3))
    assert (head.position, head.hash) == (0, first_prev_hash(head.stream))


async def test_an_append_has_bounds(store: EventStore) -> None:
    with pytest.raises(InvalidAppend, match="10001 events"):
        await store.append(STREAM, events(10_001), expected=0)
    large = b"x" * MAX_EVENT_BYTES
    with pytest.raises(InvalidAppend, match="65000000 bytes"):
        await store.append(STREAM, [event(large) for _ in range(65)], expected=0)
    assert (await store.stream_head(STREAM)).position == 0


async def test_a_large_append(store: EventStore) -> None:
    await store.append(STREAM, events(10_000), expected=0)
    log = await store.read_stream(STREAM, limit=10_000)
    assert len(log) == 10_000
    assert_chained(log)
