"""Wake-ups: sent after the commit, few, and never needed."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter

import pytest

from eventstore import Appended, StreamAppend
from eventstore.faults import arm
from eventstore.postgres import Pool, PostgresEventStore, StoreSettings, append_in_transaction, open_pool
from eventstore.postgres.wake_up import CHANNEL, Listener, Notifier
from tests.eventstore.samples import events, stream_of_shard

DEADLINE_S = 30
NEVER_S = 3_600.0
APPENDED = Appended("round-t1.1", 1, 1, 5, 1, b"")


async def test_a_wake_up_ends_the_sleep(pool: Pool) -> None:
    """Without it, the reader would sleep for an hour."""
    stream = stream_of_shard(5)
    async with (
        asyncio.timeout(DEADLINE_S),
        PostgresEventStore(pool, settings=StoreSettings(poll_interval_s=NEVER_S)) as reader,
        PostgresEventStore(pool) as writer,
        reader.subscribe({5: 0}) as pages,
    ):
        await reader._listener.listening.wait()
        for n in range(5):
            next_page = asyncio.ensure_future(anext(pages))
            await writer.append(stream, events(1), expected=n)
            assert (await next_page).through == n + 1


async def test_an_append_in_a_transaction_is_announced_after_it(pool: Pool) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        PostgresEventStore(pool, settings=StoreSettings(poll_interval_s=NEVER_S)) as store,
        store.subscribe({5: 0}) as pages,
    ):
        await store._listener.listening.wait()
        next_page = asyncio.ensure_future(anext(pages))
        async with pool.acquire() as connection, connection.transaction():
            appended = await append_in_transaction(
                connection, [StreamAppend(stream_of_shard(5), 0, events(2))]
            )
        store.announce(appended)
        assert (await next_page).through == 2


async def test_without_wake_ups_the_reader_polls(pool: Pool) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        PostgresEventStore(pool, settings=StoreSettings(poll_interval_s=0.01)) as reader,
        PostgresEventStore(pool) as writer,
        reader.subscribe({5: 0}) as pages,
    ):
        for lane in writer._appender._lanes:
            lane._sender._on_stored = lambda _: None
        next_page = asyncio.ensure_future(anext(pages))
        await writer.append(stream_of_shard(5), events(1), expected=0)
        assert (await next_page).through == 1


async def test_many_commits_are_few_wake_ups(pool: Pool) -> None:
    points: Counter[str] = Counter()
    async with PostgresEventStore(pool, settings=StoreSettings(notify_interval_s=0.05)) as store:
        with arm(lambda point: points.update([point])):
            for n in range(60):
                await store.append("table-1", events(1), expected=n)
            await store._notifier.close()
    assert points["append.after_commit"] == 60
    assert 0 < points["notify.sent"] < 60


async def test_a_listener_that_lost_its_connection_listens_again(pool: Pool, database: str) -> None:
    async with (
        asyncio.timeout(DEADLINE_S),
        await open_pool(database, application_name="listens") as own,
    ):
        listener = Listener(own, reconnect_pause_s=0.01)
        notifier = Notifier(pool)
        with listener.sleeper() as woken:
            await listener.listening.wait()
            async with pool.acquire() as connection:
                killed = await connection.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'listens'"
                )
            assert killed
            woken.clear()
            await woken.wait()  # it looks when it is back: something may have come meanwhile
            woken.clear()
            async with pool.acquire() as connection:
                await connection.execute("SELECT pg_notify($1, '5')", CHANNEL)
            await woken.wait()
        await listener.close()
        await notifier.close()


async def test_a_wake_up_that_cannot_be_sent_is_counted_and_forgotten(database: str) -> None:
    pool = await open_pool(database, application_name="test", min_size=0)
    await pool.close()
    notifier = Notifier(pool)
    notifier.stored([APPENDED])
    await notifier.close()
    assert notifier.lost == 1


class SlowPool:
    """A pool that takes its time to take a connection back."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.releasing = asyncio.Event()
        self.go_on = asyncio.Event()

    async def acquire(self) -> SlowPool:
        return self

    async def execute(self, _query: str, _channel: str, payload: str, **_: float) -> None:
        self.sent.append(payload)

    async def release(self, _connection: SlowPool) -> None:
        self.releasing.set()
        await self.go_on.wait()


async def test_what_is_stored_while_the_connection_is_given_back_is_announced_too() -> None:
    slow = SlowPool()
    notifier = Notifier(slow, interval_s=0.0)  # type: ignore[arg-type]  # as much of a pool as it needs
    async with asyncio.timeout(DEADLINE_S):
        notifier.stored([APPENDED])
        await slow.releasing.wait()
        notifier.stored([dataclasses.replace(APPENDED, shard=9)])
        slow.go_on.set()
        await notifier.close()
    assert slow.sent == ["5", "9"]


@pytest.mark.parametrize("interval_s", [0.0, 0.02])
async def test_what_comes_during_the_pause_is_announced_after_it(pool: Pool, interval_s: float) -> None:
    heard: list[str] = []
    complete = asyncio.Event()

    def hear(*arguments: object) -> None:
        heard.append(str(arguments[-1]))
        if "9" in heard[-1]:
            complete.set()

    async with asyncio.timeout(DEADLINE_S), pool.acquire() as connection:
        await connection.add_listener(CHANNEL, hear)
        async with PostgresEventStore(pool, settings=StoreSettings(notify_interval_s=interval_s)) as store:
            for shard in (3, 5, 7, 9):
                await store.append(stream_of_shard(shard), events(1), expected=0)
            await complete.wait()
        await connection.remove_listener(CHANNEL, hear)
    assert sorted(int(one) for payload in heard for one in payload.split(",")) == [3, 5, 7, 9]
