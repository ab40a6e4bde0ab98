"""The source lost events and went on differently: it is seen, and only that shard stands still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from eventstore import RecordedEvent
from eventstore.following import (
    Applied,
    EpochChanged,
    FollowerStopped,
    ForkSeen,
    Gap,
    Page,
    SourceHead,
    check_heads,
    list_stopped,
    reset_position,
    resume,
)
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Pool
from tests.eventstore.following.effects import (
    FOLLOWER,
    SOURCE,
    Seen,
    applier,
    effects_of,
    page_of,
    pages_of,
)
from tests.eventstore.samples import events, stream_of_shard

STREAM = stream_of_shard(7)
NEIGHBOUR = stream_of_shard(8)


class Source:
    """What a follower can ask the other service, which may have been restored to an earlier state."""

    def __init__(self, log: MemoryEventStore, epoch: int = 1) -> None:
        self.log = log
        self.epoch = epoch
        self.asked: list[tuple[int, int]] = []

    async def heads(self) -> Mapping[int, SourceHead]:
        positions = await self.log.shard_heads()
        return {
            shard: SourceHead(position, await self._hash(shard, position), self.epoch)
            for shard, position in enumerate(positions)
        }

    async def hash_at(self, shard: int, position: int) -> bytes | None:
        self.asked.append((shard, position))
        return await self._hash(shard, position)

    async def _hash(self, shard: int, position: int) -> bytes | None:
        if position == 0:
            return None
        page = await self.log.read_shard(shard, after=position - 1, limit=1)
        return page.events[0].hash if page.events else None


async def log_of(count: int, kept: list[RecordedEvent] | None = None) -> MemoryEventStore:
    """A log of one stream with so many events: the first ones those of another history, the others new."""
    log = MemoryEventStore()
    new = events(count)
    for position in range(count):
        one = new[position]
        if kept is not None and position < len(kept):
            one = replace(one, event_id=kept[position].event_id, content=kept[position].content)
        else:
            one = replace(one, content=one.event_id.bytes)
        await log.append(STREAM, [one], expected=position)
    return log


@pytest.mark.parametrize("back", [0, 1, 127])
async def test_a_known_position_with_another_hash(effects: Pool, back: int) -> None:
    first = await log_of(200)
    kept = list(await first.read_stream(STREAM))[: 200 - back - 1]
    second = await log_of(205, kept)
    await applier(effects).apply([await page_of(first, 7)])
    seen = Seen()
    again = applier(effects, observer=seen)  # as after a restart: nothing but the database remembers
    with pytest.raises(ForkSeen) as fork:
        await again.apply([await page_of(second, 7, 150 if back < 50 else 10)])
    assert (fork.value.shard, fork.value.position) == (7, 200 - back)
    assert fork.value.found == (await second.read_stream(STREAM))[199 - back].hash
    assert seen.notes == [("stopped", "7", "forked")]
    assert len(await effects_of(effects)) == 200


async def test_a_forked_shard_stands_and_others_go_on_until_a_person_says_so(effects: Pool) -> None:
    first, second = await log_of(3), await log_of(4)
    await second.append(NEIGHBOUR, events(2), expected=0)
    follower = applier(effects)
    await follower.apply([await page_of(first, 7)])
    with pytest.raises(ForkSeen):
        await follower.apply(await pages_of(second))
    assert len(await effects_of(effects)) == 3, "nothing of that transaction"
    again = applier(effects)
    with pytest.raises(FollowerStopped) as stopped:
        await again.apply([await page_of(second, 7, 3)])
    assert (stopped.value.kind, stopped.value.shard) == ("forked", 7)
    assert await again.apply([await page_of(second, 8)]) == Applied(applied=2)
    found = await again.positions([7, 8])
    assert (found[7].stopped, found[8].stopped) == ("forked", None)
    async with effects.acquire() as connection:
        (stop,) = await list_stopped(connection)
        assert (stop.kind, stop.shard, stop.shard_position, stop.reason) == ("forked", 7, 1, "fork_seen")
        assert await resume(connection, FOLLOWER, SOURCE, 7) == 1
        with pytest.raises(ForkSeen):
            await again.apply([await page_of(second, 7)])
        # A person decides to follow the new history from where both agree: here, from the beginning.
        await reset_position(connection, FOLLOWER, SOURCE, 7, 0)
        await resume(connection, FOLLOWER, SOURCE, 7)
    assert await again.apply([await page_of(second, 7)]) == Applied(applied=4)


async def test_a_head_before_our_position_is_a_fork(effects: Pool) -> None:
    first = await log_of(5)
    follower = applier(effects)
    await follower.apply([await page_of(first, 7)])
    shorter = Source(await log_of(4, list(await first.read_stream(STREAM))))
    checked = await check_heads(follower, [7, 8], shorter.heads, shorter.hash_at)
    assert [(fork.shard, fork.position, fork.found) for fork in checked.forks] == [(7, 5, None)]
    assert (await follower.positions([7]))[7].stopped == "forked"
    checked = await check_heads(follower, [7, 8], shorter.heads, shorter.hash_at)
    assert (checked.forks, checked.stopped) == ((), (7,))


async def test_another_last_event_is_a_fork(effects: Pool) -> None:
    first, second = await log_of(5), Source(await log_of(5))
    follower = applier(effects)
    await follower.apply([replace(await page_of(first, 7), epoch=1)])
    checked = await check_heads(follower, [7], second.heads, second.hash_at)
    assert len(checked.forks) == 1
    assert second.asked == [], "the heads told"


async def test_a_source_that_has_grown_past_us_again_is_found_when_every_hash_is_asked(effects: Pool) -> None:
    first, second = await log_of(5), Source(await log_of(9))
    follower = applier(effects)
    await follower.apply([replace(await page_of(first, 7), epoch=1)])
    checked = await check_heads(follower, [7], second.heads, second.hash_at)
    assert (checked.forks, checked.behind) == ((), {7: 4})
    checked = await check_heads(follower, [7], second.heads, second.hash_at, every_hash=True)
    assert len(checked.forks) == 1
    assert checked.behind == {}


async def test_a_missing_tail_is_told(effects: Pool) -> None:
    source = Source(await log_of(9))
    await source.log.append(NEIGHBOUR, events(2), expected=0)
    follower = applier(effects)
    await follower.apply([await page_of(source.log, 7, limit=4)])
    checked = await check_heads(follower, [6, 7, 8], source.heads, source.hash_at)
    assert checked.behind == {7: 5, 8: 2}


async def test_a_new_epoch_is_followed_once_its_history_was_compared(effects: Pool) -> None:
    first = await log_of(5)
    follower = applier(effects)
    await follower.apply([replace(await page_of(first, 7), epoch=1)])
    restored = Source(await log_of(8, list(await first.read_stream(STREAM))), epoch=2)
    page = replace(await page_of(restored.log, 7, 5), epoch=2)
    with pytest.raises(EpochChanged) as changed:
        await follower.apply([page])
    assert (changed.value.known, changed.value.found) == (1, 2)
    checked = await check_heads(follower, [7], restored.heads, restored.hash_at)
    assert (checked.new_epochs, checked.forks) == ((7,), ())
    assert restored.asked == [(7, 5)]
    # What is still on its way from before the restore is perhaps not true any more.
    stale = replace(await page_of(await log_of(8), 7, 5), epoch=1)
    assert await follower.apply([stale]) == Applied(stale=3)
    assert await follower.apply([page]) == Applied(applied=3)
    assert (await follower.positions([7]))[7].epoch == 2


async def test_a_new_epoch_with_another_history_is_a_fork(effects: Pool) -> None:
    first = await log_of(5)
    follower = applier(effects)
    await follower.apply([replace(await page_of(first, 7), epoch=1)])
    restored = Source(await log_of(8, list(await first.read_stream(STREAM))[:3]), epoch=2)
    checked = await check_heads(follower, [7], restored.heads, restored.hash_at)
    assert [fork.position for fork in checked.forks] == [5]
    assert checked.new_epochs == ()


async def test_an_epoch_is_not_accepted_for_a_position_that_has_moved_on(effects: Pool) -> None:
    source = Source(await log_of(5), epoch=2)
    follower = applier(effects)
    await follower.apply([replace(await page_of(source.log, 7, limit=2), epoch=1)])

    async def hash_at(shard: int, position: int) -> bytes | None:
        await follower.apply([replace(await page_of(source.log, 7, 2, limit=1), epoch=1)])
        return await source.hash_at(shard, position)

    checked = await check_heads(follower, [7], source.heads, hash_at)
    assert checked.new_epochs == ()
    assert (await follower.positions([7]))[7].epoch == 1


async def test_heads_that_were_asked_before_we_moved_on_are_no_fork(effects: Pool) -> None:
    source = Source(await log_of(5))
    follower = applier(effects)

    async def heads() -> Mapping[int, SourceHead]:
        asked = await source.heads()
        await source.log.append(STREAM, events(1), expected=5)
        await follower.apply([await page_of(source.log, 7)])
        return asked

    checked = await check_heads(follower, [7], heads, source.hash_at)
    assert checked.forks == ()


async def test_where_nothing_was_applied_any_epoch_is_welcome(effects: Pool) -> None:
    log = await log_of(2)
    assert await applier(effects).apply([replace(await page_of(log, 7), epoch=3)]) == Applied(applied=2)
    assert (await applier(effects).positions([7]))[7].epoch == 3


async def test_a_page_of_events_as_a_topic_gives_them() -> None:
    log = await log_of(6)
    five = list(await log.read_stream(STREAM))[:5]
    page = Page.unfiltered([*five[2:], *five, five[4]], epoch=1, head=6)
    assert (page.after, page.through, page.events) == (0, 5, tuple(five))
    with pytest.raises(Gap) as gap:
        Page.unfiltered([five[0], five[1], five[4]])
    assert (gap.value.shard, gap.value.expected, gap.value.found) == (7, 3, 5)
    another = (await log_of(5)).read_stream(STREAM)
    with pytest.raises(ForkSeen):
        Page.unfiltered([*five, (await another)[3]])
