"""Answers of a whole group, stored in the transaction of its events."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from eventstore import StreamAppend
from eventstore.answers import (
    AnswerExists,
    AnswerKey,
    NewAnswer,
    RequestIdReused,
    digest,
    find_answers,
    prune_answers,
    store_answers,
)
from eventstore.answers.groups import MAX_GROUP
from eventstore.postgres import Connection, Pool, PostgresEventStore, append_in_transaction
from tests.eventstore.held import until_waiting
from tests.eventstore.samples import events

DEADLINE_S = 30


def answers(numbers: range) -> list[NewAnswer]:
    return [
        NewAnswer(AnswerKey("gateway", "PlaceBets", f"r-{n}"), digest(b"%d" % n), b"answer %d" % n)
        for n in numbers
    ]


async def test_a_group_is_stored_with_its_events_and_found(
    connection: Connection, postgres_store: PostgresEventStore
) -> None:
    group = answers(range(1_000))
    async with connection.transaction():
        await store_answers(connection, group)
        await append_in_transaction(connection, [StreamAppend("table-t1", 0, events(3))])
    found = await find_answers(connection, [one.key for one in group])
    assert {key: one.answer for key, one in found.items()} == {one.key: one.answer for one in group}
    assert (await postgres_store.stream_head("table-t1")).position == 3


async def test_what_is_not_there_is_left_out(connection: Connection) -> None:
    await store_answers(connection, answers(range(2)))
    found = await find_answers(connection, [one.key for one in answers(range(1, 4))])
    assert [key.request_id for key in found] == ["r-1"]
    assert await find_answers(connection, []) == {}
    await store_answers(connection, [])


async def test_a_found_answer_is_for_its_own_body(connection: Connection) -> None:
    (one,) = answers(range(1))
    await store_answers(connection, [one])
    found = (await find_answers(connection, [one.key]))[one.key]
    assert found.checked(one.key, one.body_digest) == b"answer 0"
    with pytest.raises(RequestIdReused):
        found.checked(one.key, digest(b"other"))


async def test_an_answer_of_someone_else_stops_the_whole_group(
    connection: Connection, postgres_store: PostgresEventStore
) -> None:
    """Two owners of one table: the second must keep nothing."""
    await store_answers(connection, answers(range(5, 6)))

    async def second() -> None:
        async with connection.transaction():
            await append_in_transaction(connection, [StreamAppend("table-t1", 0, events(3))])
            await store_answers(connection, answers(range(10)))

    with pytest.raises(AnswerExists) as refused:
        await second()
    assert [one.request_id for one in refused.value.keys] == ["r-5"]
    assert (await postgres_store.stream_head("table-t1")).position == 0
    assert len(await find_answers(connection, [one.key for one in answers(range(10))])) == 1


async def test_two_groups_that_cross_wait_and_do_not_deadlock(pool: Pool) -> None:
    async def store(group: list[NewAnswer]) -> bool:
        try:
            async with pool.acquire() as connection, connection.transaction():
                await store_answers(connection, group)
        except AnswerExists:
            return False
        return True

    async with asyncio.timeout(DEADLINE_S):
        for n in range(20):
            forward = answers(range(100 * n, 100 * n + 60))
            stored = await asyncio.gather(store(forward), store(forward[::-1]))
            assert sorted(stored) == [False, True]


async def test_what_runs_is_not_waited_for(pool: Pool, connection: Connection) -> None:
    async with asyncio.timeout(DEADLINE_S), connection.transaction():
        await store_answers(connection, answers(range(1)))
        async with pool.acquire() as other:
            assert await find_answers(other, [one.key for one in answers(range(1))]) == {}


async def test_who_stores_the_same_waits_for_the_first(pool: Pool, connection: Connection) -> None:
    async def second() -> None:
        async with pool.acquire() as other:
            await store_answers(other, answers(range(1)))

    async with asyncio.timeout(DEADLINE_S):
        transaction = connection.transaction()
        await transaction.start()
        await store_answers(connection, answers(range(1)))
        waiting = asyncio.ensure_future(second())
        await until_waiting(connection)
        await transaction.rollback()
        await waiting


async def test_bounds(connection: Connection) -> None:
    (one,) = answers(range(1))
    with pytest.raises(ValueError, match="a call has one answer"):
        await store_answers(connection, [one, one])
    with pytest.raises(ValueError, match="at once"):
        await store_answers(connection, [one] * (MAX_GROUP + 1))
    with pytest.raises(ValueError, match="at once"):
        await find_answers(connection, [one.key] * (MAX_GROUP + 1))


async def age(connection: Connection, days: int, numbers: range) -> None:
    """Let these answers be so old."""
    await connection.execute(
        "UPDATE eventstore.answers SET created_at = clock_timestamp() - make_interval(days => $1)"
        " WHERE request_id = ANY ($2::text[])",
        days,
        [f"r-{n}" for n in numbers],
    )


async def test_old_answers_leave_and_young_ones_stay(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eventstore.answers.pruning.BATCH", 10)
    await store_answers(connection, answers(range(40)))
    await age(connection, 8, range(25))
    await age(connection, 6, range(25, 30))
    assert await prune_answers(connection, max_batches=2) == 20
    assert await prune_answers(connection) == 5
    assert await prune_answers(connection) == 0
    left = await find_answers(connection, [one.key for one in answers(range(40))])
    assert {key.request_id for key in left} == {f"r-{n}" for n in range(25, 40)}


async def test_how_long_they_are_kept_can_be_longer_but_not_shorter(connection: Connection) -> None:
    await store_answers(connection, answers(range(1)))
    await age(connection, 8, range(1))
    assert await prune_answers(connection, older_than=dt.timedelta(days=30)) == 0
    with pytest.raises(ValueError, match="7 days or longer"):
        await prune_answers(connection, older_than=dt.timedelta(days=6, hours=23))


async def test_pruning_does_not_wait_for_who_holds_an_answer(pool: Pool, connection: Connection) -> None:
    await store_answers(connection, answers(range(2)))
    await age(connection, 8, range(2))
    async with connection.transaction(), pool.acquire() as other:
        await connection.execute("SELECT FROM eventstore.answers WHERE request_id = 'r-0' FOR UPDATE")
        assert await prune_answers(other) == 1
