"""What needs no database: batches and their halves, remembered hashes, joined pages, policies, the buffer."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventstore import RecordedEvent, ShardPage
from eventstore.following import Page, Policy
from eventstore.following.batches import batches_of, halves, size_of
from eventstore.following.buffer import PageBuffer
from eventstore.following.recent import BYTES, EVENTS, extended, remembered

DEADLINE_S = 10
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def recorded(shard: int, position: int) -> RecordedEvent:
    digest = hashlib.sha256(b"%d %d" % (shard, position)).digest()
    return RecordedEvent(
        f"s-{shard}", position, shard, position, UUID(int=position), "T", b"{}", digest, digest, digest, NOW
    )


def page(shard: int, after: int, positions: list[int], through: int) -> Page:
    return Page(shard, after, through, tuple(recorded(shard, one) for one in positions), head=through)


@st.composite
def pages(draw: st.DrawFn) -> list[Page]:
    drawn = []
    for shard in draw(st.sets(st.integers(0, 63), max_size=6)):
        after = draw(st.integers(0, 50))
        positions = sorted(draw(st.sets(st.integers(after + 1, after + 60), max_size=30)))
        last = positions[-1] if positions else after
        drawn.append(page(shard, after, positions, last + draw(st.integers(0, 3))))
    return drawn


@given(pages(), st.integers(1, 40))
def test_batches_are_the_pages_cut(drawn: list[Page], batch_max: int) -> None:
    batches = batches_of(drawn, batch_max)
    assert all(size_of(batch) <= batch_max for batch in batches)
    for whole in drawn:
        parts = [part for batch in batches for part in batch if part.shard == whole.shard]
        joined = parts[0]
        for part in parts[1:]:
            joined = joined.joined(part)
        assert joined == whole
    order = [part.shard for batch in batches for part in batch]
    assert order == sorted(order)
    for batch in batches:
        assert len({part.shard for part in batch}) == len(batch)


@given(pages())
def test_halves_are_halves(drawn: list[Page]) -> None:
    batches = batches_of(drawn, 10_000)
    if not batches or size_of(batches[0]) < 2:
        return
    first, second = halves(batches[0])
    assert size_of(first) == size_of(batches[0]) // 2
    assert size_of(first) + size_of(second) == size_of(batches[0])
    events = [one for half in (first, second) for part in half for one in part.events]
    assert events == [one for part in batches[0] for one in part.events]


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 2**32)), max_size=8))
def test_the_last_hashes_are_remembered_and_no_others(steps: list[tuple[int, int]]) -> None:
    recent, position = b"", 0
    seen: dict[int, bytes] = {}
    for length, wanted in steps:
        through = position + length
        events = [recorded(1, at) for at in range(position + 1, through + 1) if (wanted >> at % 32) & 1]
        recent = extended(recent, position, events, through)
        seen |= {one.shard_position: one.hash[:BYTES] for one in events}
        position = through
        assert len(recent) <= EVENTS * BYTES
    for at in range(position + 1):
        expected = seen.get(at) if position - EVENTS < at else None
        assert remembered(recent, position, at) == expected


def test_pages_that_do_not_follow_are_not_joined() -> None:
    with pytest.raises(ValueError, match="does not follow"):
        page(1, 0, [1], 1).joined(page(1, 2, [3], 3))
    with pytest.raises(ValueError, match="does not follow"):
        page(1, 0, [1], 1).joined(page(2, 1, [2], 2))


@pytest.mark.parametrize(
    "wrong",
    [
        {"attempts": 0},
        {"batch_max": 0},
        {"first_pause_s": 3.0},
        {"first_pause_s": -1.0},
        {"transaction_timeout_s": 0.0},
    ],
)
def test_policies_that_make_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="of a policy"):
        Policy(**wrong)  # type: ignore[arg-type]  # one wrong value each


def test_pauses_double_up_to_the_longest() -> None:
    policy = Policy(first_pause_s=0.1, longest_pause_s=0.5)
    for tried, longest in ((1, 0.1), (2, 0.2), (3, 0.4), (4, 0.5), (5_000, 0.5)):
        assert longest / 2 <= policy.pause_s(tried) <= longest


def shard_page(shard: int, positions: list[int], through: int) -> ShardPage:
    return ShardPage(shard, tuple(recorded(shard, one) for one in positions), through, 99)


async def test_the_buffer_joins_what_comes_and_waits_when_it_is_full() -> None:
    buffer = PageBuffer({1: 4, 2: 0}, events_max=3)
    async with asyncio.timeout(DEADLINE_S):
        await buffer.put(shard_page(2, [1], 1))
        await buffer.put(shard_page(1, [5], 6))
        await buffer.put(shard_page(1, [7, 8], 8))
        waiting = asyncio.ensure_future(buffer.put(shard_page(1, [9], 9)))
        await asyncio.sleep(0)
        assert not waiting.done()
        first, second = await buffer.take(1.0)
        assert (first.shard, first.after, first.through, first.head) == (1, 4, 8, 99)
        assert [one.shard_position for one in first.events] == [5, 7, 8]
        assert (second.shard, second.after, second.through) == (2, 0, 1)
        await waiting
        (third,) = await buffer.take(1.0)
        assert (third.after, third.through) == (8, 9)
        assert await buffer.take(0.001) == []


async def test_the_buffer_gives_what_it_has_before_it_tells_of_a_failure() -> None:
    buffer = PageBuffer({1: 0}, events_max=3)
    async with asyncio.timeout(DEADLINE_S):
        await buffer.put(shard_page(1, [1], 1))
        await buffer.fail(OSError("gone"))
        assert len(await buffer.take(1.0)) == 1
        with pytest.raises(OSError, match="gone"):
            await buffer.take(1.0)
