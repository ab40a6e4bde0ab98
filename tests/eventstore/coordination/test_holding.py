"""Holding a lease: it is renewed, given back, noticed when lost, and taken over after a death."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.coordination import LeaseLost, hold_lease, lease_holders, run_while_held
from eventstore.faults import POINTS, arm
from eventstore.postgres import Pool, open_pool
from stack import Stack
from stack.names import fresh_name
from tests.eventstore.coordination.holders import Clock, steal, until_held_by

NAME = "relay"
DEADLINE_S = 60
LONG_S = 600.0


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are renewed all the time, so that no test waits for it or hangs on how quick the machine is."""
    monkeypatch.setattr("eventstore.coordination.holding.RENEWALS", 1_000)


async def test_it_is_held_and_then_given_back(pool: Pool) -> None:
    async with hold_lease(pool, NAME, holder="a") as held:
        assert held.still_held()
        assert held.token == 1
        assert not held.lost.is_set()
        async with pool.acquire() as connection:
            assert [(one.holder, one.held) for one in await lease_holders(connection)] == [("a", True)]
    assert not held.still_held()
    assert held.lost.is_set()
    async with pool.acquire() as connection:
        assert [(one.holder, one.held) for one in await lease_holders(connection)] == [("a", False)]


async def test_it_is_given_back_after_an_error_too(pool: Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        async with hold_lease(pool, NAME, holder="a", ttl_s=LONG_S):
            raise ZeroDivisionError
    async with hold_lease(pool, NAME, holder="b", wait_s=0) as held:
        assert held.token == 2


@pytest.mark.usefixtures("eager")
async def test_it_outlasts_its_time_while_it_is_held(pool: Pool) -> None:
    clock = Clock()
    left_s: list[float] = []

    async def hold() -> None:
        async with hold_lease(pool, NAME, holder="a", ttl_s=60.0, clock_s=clock) as held:
            while len(left_s) < 5:
                left_s.append(held.left_s)
                renewed.clear()
                clock.now_s += 40.0
                await renewed.wait()  # one renewal may have been on its way before the clock moved
                renewed.clear()
                await renewed.wait()
            assert held.still_held()
            assert held.token == 1

    renewed = asyncio.Event()
    with arm(lambda point: renewed.set() if point == "lease.renewed" else None):
        async with asyncio.timeout(DEADLINE_S):
            await hold()
    assert left_s == [54.0] * 5


async def test_the_second_waits_and_takes_over(pool: Pool) -> None:
    async def second() -> int:
        async with hold_lease(pool, NAME, holder="b", ttl_s=1.0) as held:
            return held.token

    async with asyncio.timeout(DEADLINE_S):
        async with hold_lease(pool, NAME, holder="a", ttl_s=LONG_S):
            waiting = asyncio.ensure_future(second())
            with pytest.raises(TimeoutError, match="not to be had within 0 s"):
                async with hold_lease(pool, NAME, holder="c", wait_s=0):
                    pass
            assert not waiting.done()
        assert await waiting == 2


async def test_who_waits_gives_up_in_time(pool: Pool) -> None:
    async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=LONG_S):
        with pytest.raises(TimeoutError):
            async with hold_lease(pool, NAME, holder="b", ttl_s=1.0, wait_s=0.05):
                pass


@pytest.mark.usefixtures("eager")
async def test_a_lease_that_someone_took_is_noticed(pool: Pool) -> None:
    async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
        await steal(pool, NAME)
        await held.lost.wait()
        assert not held.still_held()
        assert held.left_s == 0
    async with pool.acquire() as connection:
        (found,) = await lease_holders(connection)
        assert (found.holder, found.held) == ("thief", True), "what is not ours is not given back"


@pytest.mark.usefixtures("eager")
async def test_what_runs_under_it_is_stopped_when_it_is_lost(pool: Pool) -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
        await steal(pool, NAME)
        with pytest.raises(LeaseLost):
            await run_while_held(held, work())
        assert stopped.is_set()
        with pytest.raises(LeaseLost, match="before this began"):
            await run_while_held(held, work())


@pytest.mark.usefixtures("eager")
async def test_what_bears_an_error_in_the_place_of_its_cancellation_is_cancelled_again(pool: Pool) -> None:
    """As when a connection fails while it is given back on the way out: such work would go on for ever."""
    borne: list[OSError] = []

    async def work() -> None:
        while True:
            try:
                try:
                    await asyncio.Event().wait()
                finally:
                    if not borne:
                        raise OSError("lost while it was given back")
            except OSError as error:
                borne.append(error)

    async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
        await steal(pool, NAME)
        with pytest.raises(LeaseLost):
            await run_while_held(held, work())
    assert len(borne) == 1


async def test_what_runs_under_it_ends_as_it_ends(pool: Pool) -> None:
    async def work(value: int) -> float:
        return 1 / value

    async with hold_lease(pool, NAME, holder="a", ttl_s=LONG_S) as held:
        assert await run_while_held(held, work(2)) == 0.5
        with pytest.raises(ZeroDivisionError):
            await run_while_held(held, work(0))
        assert held.still_held()


async def test_its_time_is_counted_from_before_it_was_asked_for(pool: Pool) -> None:
    clock = Clock()
    async with hold_lease(pool, NAME, holder="a", ttl_s=100.0, clock_s=clock) as held:
        assert held.left_s == 90.0
        clock.now_s += 89.9
        assert held.still_held()
        clock.now_s += 0.2
        assert not held.still_held()


@pytest.mark.usefixtures("eager")
async def test_a_process_that_stood_still_knows_that_it_may_have_lost_it(pool: Pool) -> None:
    """Its renewals would come through: nobody has taken it. But for a time it held nothing."""
    clock = Clock()
    async with (
        asyncio.timeout(DEADLINE_S),
        hold_lease(pool, NAME, holder="a", ttl_s=60.0, clock_s=clock) as held,
    ):
        clock.now_s += 1_000.0
        assert not held.still_held()
        await held.lost.wait()


@pytest.mark.usefixtures("eager")
async def test_a_wall_clock_that_jumps_changes_nothing(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    enough = asyncio.Event()
    async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
        monkeypatch.setattr("time.time", lambda: 4e9)
        monkeypatch.setattr("time.time_ns", lambda: 4 * 10**18)
        assert held.still_held()
        assert held.left_s <= 60.0
        with arm(lambda point: enough.set() if point == "lease.renewed" else None):
            await enough.wait()
        assert held.still_held()


async def test_an_answer_that_came_too_late_is_asked_for_again(pool: Pool) -> None:
    """The call took most of the lease's time: what is left of it is not known."""
    clock = Clock()
    calls: Counter[str] = Counter()

    def slow(point: str) -> None:
        calls.update([point])
        if calls["lease.acquired"] == 1:
            clock.now_s += 1_000.0

    with arm(slow):
        async with hold_lease(pool, NAME, holder="a", ttl_s=2.0, clock_s=clock) as held:
            assert held.token == 1, "the same claim found itself"
    assert calls["lease.acquired"] == 2


async def test_a_full_pool_costs_the_lease_and_nothing_else(database: str) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="full", min_size=1, max_size=1) as pool,
        hold_lease(pool, NAME, holder="a", ttl_s=0.5) as held,
    ):
        async with pool.acquire():
            await held.lost.wait()
        assert not held.still_held()


async def test_a_mistake_is_raised_and_not_tried_for_ever(pool: Pool) -> None:
    async with pool.acquire() as connection:
        await connection.execute("ALTER TABLE eventstore.leases RENAME TO leases_away")
    try:
        with pytest.raises(asyncpg.UndefinedTableError):
            async with hold_lease(pool, NAME, holder="a"):
                pass
    finally:
        async with pool.acquire() as connection:
            await connection.execute("ALTER TABLE eventstore.leases_away RENAME TO leases")


@pytest.mark.usefixtures("eager")
async def test_a_mistake_while_renewing_is_raised_at_the_end(pool: Pool) -> None:
    async def hold() -> None:
        async with asyncio.timeout(DEADLINE_S), hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
            async with pool.acquire() as connection:
                await connection.execute("ALTER TABLE eventstore.leases RENAME TO leases_away")
            await held.lost.wait()
            async with pool.acquire() as connection:
                await connection.execute("ALTER TABLE eventstore.leases_away RENAME TO leases")

    try:
        with pytest.raises(asyncpg.UndefinedTableError):
            await hold()
    finally:
        async with pool.acquire() as connection:
            await connection.execute("ALTER TABLE IF EXISTS eventstore.leases_away RENAME TO leases")


@contextlib.asynccontextmanager
async def holder_process(
    dsn: str, ttl_s: float, *, die_at: str = "nowhere"
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that holds the lease; killed at the end if it lives."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.eventstore.coordination.holders",
        dsn,
        NAME,
        str(ttl_s),
        die_at,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process) -> bytes:
    """The next line that a process prints."""
    assert process.stdout is not None
    return (await process.stdout.readline()).strip()


async def test_who_died_is_followed_within_its_time(pool: Pool, database: str) -> None:
    """Killed as by a loss of power while it holds the lease: nothing was given back."""
    async with holder_process(database, 1.5) as process:
        assert await said(process) == b"1"
        process.send_signal(signal.SIGKILL)
        async with hold_lease(pool, NAME, holder="b", ttl_s=2.0) as held:
            assert held.token == 2


@pytest.mark.parametrize("point", sorted(point for point in POINTS if point.startswith("lease.")))
async def test_killed_between_the_database_and_itself(pool: Pool, database: str, point: str) -> None:
    async with holder_process(database, 1.0, die_at=point) as process:
        assert await process.wait() == -signal.SIGKILL
        async with hold_lease(pool, NAME, holder="b", ttl_s=2.0) as held:
            assert held.token == 2


async def test_a_holder_that_is_stopped_wakes_up_without_it(pool: Pool, database: str) -> None:
    """SIGSTOP, as a suspended machine: somebody else takes over, and the sleeper knows when it wakes."""
    async with holder_process(database, 1.0) as process:
        assert await said(process) == b"1"
        process.send_signal(signal.SIGSTOP)
        async with hold_lease(pool, NAME, holder="b", ttl_s=LONG_S) as held:
            assert held.token == 2
            process.send_signal(signal.SIGCONT)
            assert await said(process) == b"lost"
            assert held.still_held()


async def test_the_database_stands_still_and_the_holder_knows_in_time(private_stack: Stack) -> None:
    """No answer and no error: the lease counts as lost before the database lets anyone else have it."""
    dsn = await private_stack.databases.create(fresh_name("frozen"))
    async with asyncio.timeout(DEADLINE_S), await open_pool(dsn, application_name="test") as pool:
        await until_held_by(pool, None)
        async with hold_lease(pool, NAME, holder="a", ttl_s=2.0) as held:
            await asyncio.to_thread(private_stack.postgres.pause)
            try:
                await held.lost.wait()
                assert not held.still_held()
            finally:
                await asyncio.to_thread(private_stack.postgres.resume)
        async with hold_lease(pool, NAME, holder="b", ttl_s=2.0) as again:
            assert again.token > held.token


@pytest.mark.usefixtures("eager")
async def test_a_short_outage_of_the_database_costs_no_lease(private_stack: Stack) -> None:
    dsn = await private_stack.databases.create(fresh_name("outage"))
    back = asyncio.Event()
    async with asyncio.timeout(DEADLINE_S), await open_pool(dsn, application_name="test") as pool:
        await until_held_by(pool, None)
        async with hold_lease(pool, NAME, holder="a", ttl_s=60.0) as held:
            await asyncio.to_thread(private_stack.postgres.kill)
            await asyncio.to_thread(private_stack.postgres.start)
            with arm(lambda point: back.set() if point == "lease.renewed" else None):
                await back.wait()
            assert held.still_held()
            assert held.token == 1
