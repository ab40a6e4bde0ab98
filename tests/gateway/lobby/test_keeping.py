"""One read serves all who ask; what is old is told from what is fresh; who is down is left alone."""

from __future__ import annotations

import asyncio

import pytest

from upcard_gateway.app.lobby_keeping import Kept, KeptByKey, NotKnown, Times
from upcard_gateway.app.lobby_tables import SourceAway

TIMES = Times(fresh_s=1.0, patience_s=0.01, longest_s=60.0, stale_s=30.0)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


class Source:
    """Gives a number that grows with each read; may be held up, or be away."""

    def __init__(self) -> None:
        self.reads = 0
        self.asked = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.fails: Exception | None = None

    async def read(self) -> int:
        self.reads += 1
        self.asked.set()
        read = self.reads
        await self.open.wait()
        if self.fails is not None:
            raise self.fails
        return read


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def kept(source: Source, clock: Clock) -> Kept[int]:
    return Kept(source.read, TIMES, clock)


async def test_a_thousand_who_ask_at_once_cost_one_read(kept: Kept[int], source: Source) -> None:
    source.open.clear()
    asking = [asyncio.create_task(kept.get()) for _ in range(1_000)]
    await source.asked.wait()
    source.open.set()
    found = await asyncio.gather(*asking)
    assert {one.value for one in found} == {1}
    assert source.reads == 1


async def test_it_is_read_again_when_it_is_no_longer_fresh(
    kept: Kept[int], source: Source, clock: Clock
) -> None:
    assert (await kept.get()).value == 1
    clock.at += 1.0
    assert (await kept.get()).value == 1
    clock.at += 0.1
    again = await kept.get()
    assert (again.value, again.age_s, again.stale) == (2, 0.0, False)
    assert source.reads == 2


async def test_who_cannot_wait_gets_the_older_value_and_its_age(
    kept: Kept[int], source: Source, clock: Clock
) -> None:
    await kept.get()
    clock.at += 5.0
    source.open.clear()
    older = await kept.get()
    assert (older.value, older.age_s, older.stale) == (1, 5.0, True)
    source.open.set()
    assert (await kept.get()).value == 2
    assert source.reads == 2


async def test_a_value_is_as_old_as_the_question_was(kept: Kept[int], source: Source, clock: Clock) -> None:
    source.open.clear()
    asking = asyncio.create_task(kept.get())
    await source.asked.wait()
    clock.at += 0.4
    source.open.set()
    assert (await asking).age_s == pytest.approx(0.4)


async def test_a_source_that_is_away_is_not_asked_by_everybody(
    kept: Kept[int], source: Source, clock: Clock
) -> None:
    await kept.get()
    source.fails = SourceAway("unavailable")
    clock.at += 2.0
    for _ in range(50):
        older = await kept.get()
        assert (older.value, older.stale) == (1, True)
    assert source.reads == 2
    clock.at += 1.0
    source.fails = None
    assert (await kept.get()).value == 3


async def test_what_is_too_old_is_not_shown(kept: Kept[int], source: Source, clock: Clock) -> None:
    await kept.get()
    source.fails = SourceAway("unavailable")
    clock.at += 30.1
    with pytest.raises(NotKnown):
        await kept.get()


async def test_nothing_is_known_where_nothing_was_ever_read(kept: Kept[int], source: Source) -> None:
    source.fails = SourceAway("unavailable")
    with pytest.raises(NotKnown):
        await kept.get()


async def test_a_defect_is_no_outage(kept: Kept[int], source: Source) -> None:
    source.fails = RuntimeError("a defect")
    with pytest.raises(RuntimeError, match="a defect"):
        await kept.get()


async def test_who_gives_up_takes_the_value_from_nobody(kept: Kept[int], source: Source) -> None:
    source.open.clear()
    first, second = asyncio.create_task(kept.get()), asyncio.create_task(kept.get())
    await source.asked.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    source.open.set()
    assert (await second).value == 1


async def test_so_many_keys_are_kept_and_no_more(source: Source, clock: Clock) -> None:
    shelf: KeptByKey[str, int] = KeptByKey(TIMES, most=2, clock=clock)
    a, b = shelf.of("a", 1, source.read), shelf.of("b", 1, source.read)
    assert shelf.of("a", 1, source.read) is a
    shelf.of("c", 1, source.read)
    assert len(shelf) == 2
    assert shelf.of("a", 1, source.read) is a
    assert shelf.of("b", 1, source.read) is not b


async def test_another_version_forgets_the_value(source: Source, clock: Clock) -> None:
    shelf: KeptByKey[str, int] = KeptByKey(TIMES, most=2, clock=clock)
    assert (await shelf.of("a", (7, "betting"), source.read).get()).value == 1
    assert (await shelf.of("a", (7, "betting"), source.read).get()).value == 1
    assert (await shelf.of("a", (7, "options"), source.read).get()).value == 2
