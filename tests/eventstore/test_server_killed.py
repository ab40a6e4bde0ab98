"""PostgreSQL dies as by a loss of power, in the middle of many appends, and comes back."""

from __future__ import annotations

import asyncio
from uuid import UUID

from eventstore import AppendFailed, Expect, OutcomeUnknown
from eventstore.migrations import prepare_event_log
from eventstore.postgres import PostgresEventStore, Retrying, StoreSettings, open_pool
from stack import Stack
from stack.names import fresh_name
from tests.eventstore.samples import assert_chained, events

CALLERS = 12
DEADLINE_S = 120
PATIENT = StoreSettings(retrying=Retrying(tries=200, first_pause_s=0.02, longest_pause_s=0.2))


async def test_what_was_answered_is_there_and_nothing_is_twice(private_stack: Stack) -> None:
    dsn = await private_stack.databases.create(fresh_name("killed"))
    answered: dict[UUID, tuple[str, int]] = {}
    unknown: set[UUID] = set()
    refused: set[UUID] = set()
    killed, done = asyncio.Event(), asyncio.Event()

    async def call(store: PostgresEventStore, stream: str) -> None:
        while not done.is_set():
            sent = events(2)
            ids = [one.event_id for one in sent]
            try:
                appended = await store.append(stream, sent, expected=Expect.ANY, timeout_s=60.0)
            except OutcomeUnknown:
                unknown.update(ids)
            except AppendFailed:
                refused.update(ids)
            else:
                answered.update(
                    {one: (stream, n) for n, one in enumerate(ids, start=appended.first_position)}
                )
                if len(answered) > 200:
                    killed.set()

    async with asyncio.timeout(DEADLINE_S), await open_pool(dsn, application_name="caller") as pool:
        async with pool.acquire() as connection:
            await prepare_event_log(connection)
        async with PostgresEventStore(pool, settings=PATIENT) as store:
            callers = [asyncio.ensure_future(call(store, f"table-{n % 9}")) for n in range(CALLERS)]
            await killed.wait()
            await asyncio.to_thread(private_stack.postgres.kill)
            await asyncio.to_thread(private_stack.postgres.start)
            before = len(answered)
            while len(answered) < before + 200:
                await store.shard_heads()
            done.set()
            await asyncio.gather(*callers)
            stored: dict[UUID, tuple[str, int]] = {}
            for n in range(9):
                log = [one async for one in store.iterate_stream(f"table-{n}")]
                assert_chained(log)
                for one in log:
                    assert one.event_id not in stored, "twice"
                    stored[one.event_id] = (one.stream, one.stream_position)
    assert answered.items() <= stored.items()
    assert refused.isdisjoint(stored)
    assert stored.keys() <= answered.keys() | unknown
