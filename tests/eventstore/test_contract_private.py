"""Private parts, as every store keeps them."""

from __future__ import annotations

import pytest

from eventstore import EventStore, Expect, InvalidAppend, StreamAppend
from tests.eventstore.conftest import PrivateParts
from tests.eventstore.samples import event, events

STREAM = "round-t1.1"
SECRET = b"16 random bytes.Ah"


async def test_a_private_part_is_read_apart_from_its_event(
    store: EventStore, private_parts: PrivateParts
) -> None:
    await store.append(STREAM, events(1), expected=0)
    appended = await store.append(
        STREAM, [event(private=SECRET), event(), event(private=b""), event(private=b"x" * 64_000)], expected=1
    )
    assert await private_parts.read_private(STREAM) == {2: SECRET, 4: b"", 5: b"x" * 64_000}
    assert await private_parts.read_private(STREAM, after=2, limit=1) == {4: b""}
    assert await private_parts.read_private("round-t1.2") == {}
    page = await store.read_shard(appended.shard)
    assert SECRET not in b"".join(one for row in page.events for one in row if isinstance(one, bytes))


async def test_an_append_again_keeps_the_first_private_part(
    store: EventStore, private_parts: PrivateParts
) -> None:
    sent = [event(private=SECRET)]
    await store.append(STREAM, sent, expected=Expect.NONE)
    assert (await store.append(STREAM, sent, expected=Expect.NONE)).already
    assert await private_parts.read_private(STREAM) == {1: SECRET}


async def test_private_parts_of_several_streams(store: EventStore, private_parts: PrivateParts) -> None:
    await store.append("table-t1", events(4), expected=0)
    await store.append_all(
        [
            StreamAppend(STREAM, Expect.NONE, [event(), event(private=SECRET)]),
            StreamAppend("table-t1", 4, [event(private=b"other")]),
        ]
    )
    assert await private_parts.read_private(STREAM) == {2: SECRET}
    assert await private_parts.read_private("table-t1") == {5: b"other"}


@pytest.mark.parametrize("expected", [Expect.ANY, Expect.EXISTS])
async def test_a_private_part_needs_an_exact_position(store: EventStore, expected: Expect) -> None:
    with pytest.raises(InvalidAppend):
        await store.append(STREAM, [event(private=SECRET)], expected=expected)


async def test_a_private_part_has_bounds(store: EventStore) -> None:
    with pytest.raises(InvalidAppend):
        await store.append(STREAM, [event(private=b"x" * 64_001)], expected=0)
