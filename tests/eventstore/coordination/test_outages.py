"""Calls that end in time, whatever the server does, and leave the pool as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from eventstore.coordination.outages import PASSING, bounded_call
from eventstore.postgres import Connection, Pool, open_pool

DEADLINE_S = 30


@pytest.fixture
async def small(database: str) -> AsyncIterator[Pool]:
    """A pool of one connection: what is lost of it shows."""
    async with await open_pool(database, application_name="small", min_size=1, max_size=1) as pool:
        yield pool


async def pid(connection: Connection) -> int:
    found: int = await connection.fetchval("SELECT pg_backend_pid()")
    return found


async def sleep_long(connection: Connection) -> None:
    await connection.execute("SELECT pg_sleep(600)")


async def test_what_the_work_returns(small: Pool) -> None:
    assert await bounded_call(small, DEADLINE_S, pid) == await bounded_call(small, DEADLINE_S, pid)


async def test_an_answer_that_does_not_come_costs_the_connection_and_not_the_pool(small: Pool) -> None:
    before = await bounded_call(small, DEADLINE_S, pid)
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(TimeoutError):
            await bounded_call(small, 0.05, sleep_long)
        assert await bounded_call(small, DEADLINE_S, pid) != before


async def test_a_caller_that_goes_away_costs_no_more(small: Pool) -> None:
    async with asyncio.timeout(DEADLINE_S):
        call = asyncio.ensure_future(bounded_call(small, DEADLINE_S, sleep_long))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await bounded_call(small, DEADLINE_S, pid)


async def test_a_full_pool_is_not_waited_for_longer(small: Pool) -> None:
    async with small.acquire():
        with pytest.raises(TimeoutError):
            await bounded_call(small, 0.05, pid)
    assert await bounded_call(small, DEADLINE_S, pid)


async def test_an_error_of_the_server_or_of_the_work_keeps_the_connection(small: Pool) -> None:
    async def fail(connection: Connection) -> None:
        await connection.execute("SELECT 1 / 0")

    async def raise_something(_: Connection) -> None:
        raise KeyError("something")

    before = await bounded_call(small, DEADLINE_S, pid)
    with pytest.raises(asyncpg.DivisionByZeroError):
        await bounded_call(small, DEADLINE_S, fail)
    with pytest.raises(KeyError):
        await bounded_call(small, DEADLINE_S, raise_something)
    assert await bounded_call(small, DEADLINE_S, pid) == before


async def test_an_argument_that_cannot_be_is_no_outage(small: Pool) -> None:
    """It would be tried again for ever."""

    async def ask(connection: Connection) -> None:
        await connection.fetchval("SELECT $1::integer", "no number")

    with pytest.raises(asyncpg.DataError) as refused:
        await bounded_call(small, DEADLINE_S, ask)
    assert not isinstance(refused.value, PASSING)
