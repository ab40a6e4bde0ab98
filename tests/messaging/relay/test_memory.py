"""What the relay remembers of its shards, without any server."""

from __future__ import annotations

import asyncio

import pytest

from eventstore import SHARDS
from messaging.relay.outbox import Outbox
from messaging.relay.producer import Batch
from messaging.relay.troubles import Troubles


def outbox(**positions: int) -> Outbox:
    """Shards at these positions (`s5=3`), all others at 0."""
    return Outbox({shard: positions.get(f"s{shard}", 0) for shard in range(SHARDS)})


def batch(after: int, through: int, shard: int = 5) -> Batch:
    return Batch(shard, after, through, 100 * (through - after), None)


def sent(box: Outbox, after: int, through: int) -> asyncio.Future[object]:
    """A batch of shard 5 that is under way."""
    future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    box.was_sent(batch(after, through), box.generation(5), future)
    return future


async def test_positions_move_with_acknowledgements_in_order() -> None:
    box = outbox(s5=2)
    first, second = sent(box, 2, 5), sent(box, 5, 6)
    second.set_result(None)
    assert box.take_acknowledged(5) == 0, "the first is not there yet"
    assert box.to_store() == []
    first.set_result(None)
    assert box.take_acknowledged(5) == 4
    assert box.to_store() == [(5, 2, 6)]
    box.was_stored(5, 6)
    assert box.to_store() == []
    assert box.idle


async def test_what_comes_before_a_failure_counts() -> None:
    box = outbox()
    first, second, third = sent(box, 0, 2), sent(box, 2, 3), sent(box, 3, 4)
    first.set_result(None)
    second.set_exception(ZeroDivisionError())
    third.set_result(None)
    assert box.take_acknowledged(5) == 2
    with pytest.raises(ZeroDivisionError):
        box.take_acknowledged(5)
    assert box.acknowledged(5) == 2
    box.again(5)
    assert (box.read(5), box.idle, box.sent_bytes) == (2, True, 0)
    assert box.to_store() == [(5, 0, 2)]


async def test_what_was_sent_under_an_earlier_generation_counts_no_more() -> None:
    box = outbox(s5=9)
    early, generation = sent(box, 9, 12), box.generation(5)
    box.begin_at(5, 3)
    assert (box.read(5), box.acknowledged(5), box.sent_bytes) == (3, 3, 0)
    early.set_exception(ZeroDivisionError())  # whatever becomes of it, nobody is told
    late: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    box.was_sent(batch(12, 15), generation, late)
    assert box.idle
    assert box.read(5) == 3


async def test_a_batch_that_does_not_follow_is_a_defect() -> None:
    box = outbox()
    sent(box, 3, 4).set_result(None)
    with pytest.raises(AssertionError, match="does not follow 0"):
        box.take_acknowledged(5)


async def test_a_position_that_someone_moved_is_found() -> None:
    box = outbox(s5=9, s6=1)
    found = dict.fromkeys(range(SHARDS), 0) | {5: 4, 6: 1}
    assert box.moved_by_others(found) == [5]


async def test_what_waits_for_too_long_is_found() -> None:
    box = outbox()
    assert box.overdue(0.0) is None
    future = sent(box, 0, 1)
    assert box.overdue(-1.0) == 5
    assert box.overdue(60.0) is None
    future.set_result(None)
    assert box.overdue(-1.0) is None


async def test_giving_up_leaves_no_exception_unseen() -> None:
    box = outbox()
    early, late = sent(box, 0, 1), sent(box, 1, 2)
    early.set_exception(ZeroDivisionError())
    box.give_up()
    late.set_exception(ZeroDivisionError())
    assert (box.idle, box.sent_bytes) == (True, 0)


def test_pauses_double_and_are_forgotten_with_success() -> None:
    now_s = 100.0
    troubles = Troubles(0.2, 1.0, lambda: now_s)
    assert (troubles.paused(5), troubles.next_retry_s()) == (False, None)
    assert [troubles.failed(5) for _ in range(5)] == [0.2, 0.4, 0.8, 1.0, 1.0]
    assert troubles.failed(6) == 0.2
    assert (troubles.paused(5), troubles.paused(6), troubles.paused(7)) == (True, True, False)
    assert troubles.next_retry_s() == pytest.approx(0.2)
    now_s = 100.5
    assert (troubles.paused(5), troubles.paused(6)) == (True, False)
    troubles.succeeded(5)
    assert (troubles.paused(5), troubles.next_retry_s()) == (False, None)
    assert troubles.failed(5) == 0.2


def test_too_large_batches_are_halved_down_to_one_event() -> None:
    troubles = Troubles(0.2, 1.0, lambda: 0.0)
    assert troubles.most_events(5) is None
    sizes = []
    for events in (20, 10, 5, 2, 1):
        troubles.too_large(5, events)
        sizes.append(troubles.most_events(5))
    assert sizes == [10, 5, 2, 1, 1]
    assert troubles.most_events(6) is None
