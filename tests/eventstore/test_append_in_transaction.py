"""Appending as a part of a transaction that does more."""

from __future__ import annotations

import asyncio

import pytest

from eventstore import EventIdReused, Expect, Keyring, StreamAppend, VersionConflict
from eventstore.postgres import Pool, PostgresEventStore, PostgresPrivateReader, append_in_transaction
from tests.eventstore.samples import assert_chained, event, events

STREAM = "round-t1.1"


async def test_events_and_effect_are_stored_together(pool: Pool, postgres_store: PostgresEventStore) -> None:
    async with pool.acquire() as connection:
        async with connection.transaction():
            await connection.execute("CREATE TEMPORARY TABLE effect (done boolean)")
            await connection.execute("INSERT INTO effect VALUES (true)")
            (appended,) = await append_in_transaction(connection, [StreamAppend(STREAM, 0, events(2))])
            assert await postgres_store.read_stream(STREAM) == (), "nobody else sees it before the commit"
        assert (appended.first_position, appended.last_position) == (1, 2)
        assert await connection.fetchval("SELECT done FROM effect")
        await connection.execute("DROP TABLE effect")
    assert_chained(await postgres_store.read_stream(STREAM))


async def test_a_rollback_gives_the_positions_back(pool: Pool, postgres_store: PostgresEventStore) -> None:
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await append_in_transaction(connection, [StreamAppend(STREAM, Expect.ANY, events(2))])
        await transaction.rollback()
    appended = await postgres_store.append(STREAM, events(1), expected=0)
    assert (appended.first_position, appended.first_shard_position) == (1, 1)


async def test_after_a_refusal_the_transaction_goes_on(
    pool: Pool, postgres_store: PostgresEventStore
) -> None:
    used = events(1)
    await postgres_store.append("table-t1", used, expected=0)
    async with pool.acquire() as connection, connection.transaction():
        with pytest.raises(VersionConflict):
            await append_in_transaction(connection, [StreamAppend(STREAM, 4, events(1))])
        with pytest.raises(EventIdReused):
            await append_in_transaction(connection, [StreamAppend(STREAM, Expect.ANY, used)])
        await append_in_transaction(connection, [StreamAppend(STREAM, 0, events(1))])
        await append_in_transaction(connection, [StreamAppend(STREAM, 1, events(1))])
    assert_chained(await postgres_store.read_stream(STREAM))


async def test_private_parts_too(pool: Pool, keyring: Keyring) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await append_in_transaction(
            connection, [StreamAppend(STREAM, 0, [event(private=b"secret")])], keyring
        )
    assert await PostgresPrivateReader(pool, keyring).read_private(STREAM) == {1: b"secret"}


async def test_it_and_the_appender_wait_for_each_other(
    pool: Pool, postgres_store: PostgresEventStore
) -> None:
    async def in_transaction() -> None:
        async with pool.acquire() as connection, connection.transaction():
            await append_in_transaction(connection, [StreamAppend(STREAM, Expect.ANY, events(1))])
            await connection.execute("SELECT 1")

    await asyncio.gather(
        *(in_transaction() for _ in range(10)),
        *(postgres_store.append(STREAM, events(1), expected=Expect.ANY) for _ in range(10)),
    )
    log = await postgres_store.read_stream(STREAM)
    assert len(log) == 20
    assert_chained(log)
