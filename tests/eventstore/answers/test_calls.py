"""The same mutating call again gets the answer that it got, and its effect happens once."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from eventstore import Expect, StreamAppend
from eventstore.answers import (
    LONGEST_KEY_PART,
    MAX_ANSWER_BYTES,
    Answer,
    AnswerKey,
    Fresh,
    RequestIdReused,
    RequestUnderWay,
    begin,
    digest,
    finish,
    keyed_digest,
)
from eventstore.answers.calls import CallNotBegun
from eventstore.postgres import Connection, Pool, PostgresEventStore, append_in_transaction
from tests.eventstore.held import until_waiting
from tests.eventstore.samples import events

KEY = AnswerKey("gateway", "PlaceBets", "r-1")
BODY = digest(b"100 on box 2")
DEADLINE_S = 30


async def called(pool: Pool, answer: bytes, key: AnswerKey = KEY, body_digest: bytes = BODY) -> bytes:
    """A call that appends one event, as a service would make it."""
    async with pool.acquire() as connection, connection.transaction():
        met = await begin(connection, key, body_digest)
        if isinstance(met, Answer):
            return met.answer
        await append_in_transaction(connection, [StreamAppend("table-t1", Expect.ANY, events(1))])
        await finish(connection, key, answer)
        return answer


async def test_the_first_does_it_and_the_second_gets_its_answer(
    pool: Pool, postgres_store: PostgresEventStore
) -> None:
    assert await called(pool, b"yes") == b"yes"
    assert await called(pool, b"other") == b"yes"
    assert (await postgres_store.stream_head("table-t1")).position == 1


async def test_an_empty_answer_is_one(pool: Pool) -> None:
    assert await called(pool, b"") == b""
    assert await called(pool, b"other") == b""


@pytest.mark.parametrize(
    "other",
    [
        AnswerKey("other", "PlaceBets", "r-1"),
        AnswerKey("gateway", "UndoBets", "r-1"),
        AnswerKey("gateway", "PlaceBets", "r-2"),
    ],
)
async def test_an_id_belongs_to_its_caller_and_method(pool: Pool, other: AnswerKey) -> None:
    await called(pool, b"one")
    assert await called(pool, b"two", other) == b"two"
    assert await called(pool, b"-") == b"one"


async def test_another_body_is_refused_and_changes_nothing(
    pool: Pool, postgres_store: PostgresEventStore
) -> None:
    await called(pool, b"yes")
    with pytest.raises(RequestIdReused, match="r-1 of PlaceBets by gateway") as refused:
        await called(pool, b"no", body_digest=digest(b"900 on box 2"))
    assert refused.value.slug == "request_id_reused"
    assert (await postgres_store.stream_head("table-t1")).position == 1
    assert await called(pool, b"-") == b"yes"


async def test_a_second_call_while_the_first_runs_waits_for_its_answer(
    pool: Pool, connection: Connection
) -> None:
    async with asyncio.timeout(DEADLINE_S):
        async with connection.transaction():
            assert await begin(connection, KEY, BODY) == Fresh()
            second = asyncio.ensure_future(called(pool, b"second"))
            await until_waiting(connection)
            await finish(connection, KEY, b"first")
            assert not second.done()
        assert await second == b"first"


async def test_when_the_first_fails_the_second_does_it(
    pool: Pool, connection: Connection, postgres_store: PostgresEventStore
) -> None:
    async with asyncio.timeout(DEADLINE_S):
        transaction = connection.transaction()
        await transaction.start()
        await begin(connection, KEY, BODY)
        second = asyncio.ensure_future(called(pool, b"second"))
        await until_waiting(connection)
        await transaction.rollback()
        assert await second == b"second"
    assert (await postgres_store.stream_head("table-t1")).position == 1


async def test_of_many_at_once_one_does_it(pool: Pool, postgres_store: PostgresEventStore) -> None:
    async with asyncio.timeout(DEADLINE_S):
        answers = await asyncio.gather(*(called(pool, b"%d" % n) for n in range(12)))
    assert len(set(answers)) == 1
    assert (await postgres_store.stream_head("table-t1")).position == 1


async def test_waiting_has_an_end(pool: Pool, connection: Connection) -> None:
    async with asyncio.timeout(DEADLINE_S), connection.transaction(), pool.acquire() as other:
        await begin(connection, KEY, BODY)
        transaction = other.transaction()
        await transaction.start()
        await other.execute("SET LOCAL lock_timeout = '20ms'")
        with pytest.raises(RequestUnderWay) as refused:
            await begin(other, KEY, BODY)
        await transaction.rollback()
        assert refused.value.slug == "request_under_way"
        await finish(connection, KEY, b"")


async def test_a_call_without_an_answer_cannot_be_committed(connection: Connection) -> None:
    transaction = connection.transaction()
    await transaction.start()
    await begin(connection, KEY, BODY)
    with pytest.raises(asyncpg.NotNullViolationError, match="r-1 of PlaceBets by gateway"):
        await transaction.commit()
    async with connection.transaction():
        assert await begin(connection, KEY, BODY) == Fresh()
        await finish(connection, KEY, b"now")


async def test_only_what_was_begun_is_finished_and_once(connection: Connection) -> None:
    with pytest.raises(CallNotBegun):
        await finish(connection, KEY, b"")
    async with connection.transaction():
        await begin(connection, KEY, BODY)
        await finish(connection, KEY, b"first")
        with pytest.raises(CallNotBegun):
            await finish(connection, KEY, b"second")
        assert await begin(connection, KEY, BODY) == Answer(b"first", BODY)


async def test_a_call_is_not_begun_twice_in_one_transaction(connection: Connection) -> None:
    async with connection.transaction():
        await begin(connection, KEY, BODY)
        with pytest.raises(RuntimeError, match="begun twice"):
            await begin(connection, KEY, BODY)
        await finish(connection, KEY, b"")


async def test_a_call_needs_a_transaction(connection: Connection) -> None:
    with pytest.raises(RuntimeError, match="in the transaction that holds its effect"):
        await begin(connection, KEY, BODY)


async def test_a_large_answer_is_refused_by_the_program_and_by_the_table(connection: Connection) -> None:
    async with connection.transaction():
        await begin(connection, KEY, BODY)
        with pytest.raises(ValueError, match=f"at most {MAX_ANSWER_BYTES} bytes"):
            await finish(connection, KEY, bytes(MAX_ANSWER_BYTES + 1))
        await finish(connection, KEY, bytes(MAX_ANSWER_BYTES))
    with pytest.raises(asyncpg.CheckViolationError, match="answers_answer_size"):
        await connection.execute(
            "UPDATE eventstore.answers SET answer = convert_to(repeat('x', $1 + 1), 'UTF8')", MAX_ANSWER_BYTES
        )


@pytest.mark.parametrize("part", ["", "x" * (LONGEST_KEY_PART + 1), "a\0b", "a\nb"])
def test_a_key_that_cannot_be_one(part: str) -> None:
    for parts in ((part, "m", "r"), ("c", part, "r"), ("c", "m", part)):
        with pytest.raises(ValueError, match="printable characters"):
            AnswerKey(*parts)


def test_a_body_that_can_be_guessed_is_kept_as_a_keyed_hash() -> None:
    key = bytes(range(32))
    assert keyed_digest(key, b"Ah") == keyed_digest(key, b"Ah")
    assert keyed_digest(key, b"Ah") != keyed_digest(key, b"Ad")
    assert keyed_digest(key, b"Ah") != keyed_digest(bytes(32), b"Ah")
    assert keyed_digest(key, b"Ah") != digest(b"Ah")
    # RFC 4231, test case 1
    expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    assert keyed_digest(b"\x0b" * 20, b"Hi There").hex() == expected
    with pytest.raises(ValueError, match="at least 16 bytes"):
        keyed_digest(b"short", b"Ah")


async def test_a_digest_has_its_length(connection: Connection) -> None:
    async with connection.transaction():
        with pytest.raises(ValueError, match="a body's digest has 32 bytes"):
            await begin(connection, KEY, b"short")


def test_neither_answers_nor_digests_show() -> None:
    assert "secret" not in repr(Answer(b"secret", b"digest"))
