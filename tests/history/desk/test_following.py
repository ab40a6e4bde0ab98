"""Work under a lease: one at a time, the next one when it ends, anew after an outage."""

from __future__ import annotations

import asyncio
from functools import partial

import asyncpg
import pytest

from eventstore.following import OWN, Applier
from tests.history.desk.world import World
from tests.messaging.waiting import until
from upcard_history.app.replay_queue import FOLLOWER, REPLAY_EVENTS, queue_replays
from upcard_history.entrypoints.following import UnderLease, follow_own_log

LEASE_S = 2.0


class Work:
    """Work that goes on until it is told to fail."""

    def __init__(self) -> None:
        self.begun = 0
        self.going_on = False
        self.failing: asyncio.Queue[Exception] = asyncio.Queue()

    async def run(self) -> None:
        """Go on."""
        self.begun += 1
        self.going_on = True
        try:
            raise await self.failing.get()
        finally:
            self.going_on = False


async def test_one_works_and_another_one_goes_on(world: World) -> None:
    first, second = Work(), Work()
    endings = [asyncio.Event(), asyncio.Event()]
    tasks = [
        asyncio.create_task(UnderLease(world.pool, "x", "a", first.run, lease_s=LEASE_S).run(endings[0]))
    ]
    await until(lambda: first.going_on)
    tasks.append(
        asyncio.create_task(UnderLease(world.pool, "x", "b", second.run, lease_s=LEASE_S).run(endings[1]))
    )
    endings[0].set()
    await tasks[0]
    assert not first.going_on
    await until(lambda: second.going_on)
    endings[1].set()
    await tasks[1]
    assert (first.begun, second.begun) == (1, 1)


async def test_an_outage_is_waited_for(world: World) -> None:
    work, ending = Work(), asyncio.Event()
    task = asyncio.create_task(UnderLease(world.pool, "x", "a", work.run, lease_s=LEASE_S).run(ending))
    await until(lambda: work.going_on)
    work.failing.put_nowait(asyncpg.AdminShutdownError("terminating connection"))
    await until(lambda: work.begun == 2 and work.going_on)
    ending.set()
    await task


async def test_a_mistake_ends_it(world: World) -> None:
    work = Work()
    work.failing.put_nowait(LookupError("a mistake"))
    with pytest.raises(LookupError):
        await UnderLease(world.pool, "x", "a", work.run, lease_s=LEASE_S).run(asyncio.Event())


async def test_the_own_log_is_followed_as_it_grows(world: World) -> None:
    applier = Applier(world.pool, FOLLOWER, OWN, queue_replays)
    task = asyncio.create_task(follow_own_log(world.store, applier, REPLAY_EVENTS))

    async def queued(rounds: int) -> bool:
        async with world.pool.acquire() as connection:
            return bool(await connection.fetchval("SELECT count(*) FROM history.replay_queue") == rounds)

    try:
        for number in (1, 2):
            await world.play(number=number)
            await until(partial(queued, number))
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
