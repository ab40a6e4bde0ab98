"""What is done to the tables of a log in use: no append waits for it longer than it may."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest

from eventstore import Expect, StreamAppend
from eventstore.migrations import event_log_migrations, migrate
from eventstore.postgres import (
    Pool,
    PostgresEventStore,
    append_in_transaction,
    detach_period,
    ensure_periods,
    open_pool,
)
from tests.eventstore.samples import assert_chained, event, events

BIG = "account-big"
BIG_EVENTS = 30_000
RELEASED = 5  # migrations that were there before any log was in use
LONGEST_WAIT_S = 5.0  # lock_timeout of a step, and as much again for a busy machine
DEADLINE_S = 120


@pytest.fixture
def database_template() -> None:
    """Empty databases: later migrations are applied under load."""


@pytest.fixture
async def large(new_database: Callable[[], str]) -> AsyncIterator[Pool]:
    """A database with a large log, of the first release."""
    async with await open_pool(new_database(), application_name="load") as pool:
        async with pool.acquire() as connection:
            await migrate(connection, "eventstore", event_log_migrations()[:RELEASED])
            await ensure_periods(connection, 3)
        async with PostgresEventStore(pool) as store:
            for position in range(0, BIG_EVENTS, 5_000):
                await store.append(BIG, events(5_000), expected=position)
        yield pool


async def append_until(store: PostgresEventStore, stream: str, done: asyncio.Event) -> float:
    """Append one event after the other; the longest time that one took, in seconds."""
    longest_s = 0.0
    while not done.is_set():
        began = time.monotonic()
        await store.append(stream, [event()], expected=Expect.ANY)
        longest_s = max(longest_s, time.monotonic() - began)
    return longest_s


async def test_migrations_and_months_hinder_no_append(large: Pool) -> None:
    done = asyncio.Event()
    async with asyncio.timeout(DEADLINE_S), PostgresEventStore(large) as store:
        load = [asyncio.ensure_future(append_until(store, f"table-{n}", done)) for n in range(8)]
        async with large.acquire() as connection:
            for number in range(RELEASED, len(event_log_migrations())):
                await migrate(connection, "eventstore", event_log_migrations()[: number + 1])
            await connection.execute("SELECT eventstore.create_period(202001)")
            assert await ensure_periods(connection, 8) == 5
            await detach_period(connection, 202001)
        done.set()
        longest_s = max(await asyncio.gather(*load))
        assert longest_s < LONGEST_WAIT_S
        assert (await store.stream_head(BIG)).position == BIG_EVENTS
        assert_chained([one async for one in store.iterate_stream("table-0")])


async def test_a_month_is_made_while_an_append_is_held_open(large: Pool) -> None:
    async with asyncio.timeout(DEADLINE_S), large.acquire() as holder, holder.transaction():
        await append_in_transaction(holder, [StreamAppend("table-1", 0, events(1))])
        async with large.acquire() as connection:
            assert await ensure_periods(connection, 4) == 1
