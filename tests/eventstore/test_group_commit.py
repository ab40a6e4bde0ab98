"""The appender: groups, bounds, deadlines, and callers that do not hinder each other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar

import asyncpg
import pytest

from eventstore import (
    Appended,
    AppendFailed,
    DeadlineExceeded,
    EventIdReused,
    Expect,
    InvalidAppend,
    OutcomeUnknown,
    Overloaded,
    ShardBusy,
    StreamAppend,
    VersionConflict,
)
from eventstore.errors import AppenderClosed
from eventstore.faults import arm
from eventstore.postgres import (
    AppenderLimits,
    GroupAppender,
    Pool,
    PostgresEventStore,
    SessionLimits,
    StoreSettings,
    open_pool,
)
from tests.eventstore.held import shard_held, until_waiting
from tests.eventstore.samples import assert_chained, event, events, stream_of_shard, streams_of_shard

ONE_LANE = StoreSettings(appender=AppenderLimits(lanes=1))
DEADLINE_S = 30


@pytest.fixture
async def one_lane(pool: Pool) -> AsyncIterator[PostgresEventStore]:
    async with PostgresEventStore(pool, settings=ONE_LANE) as store:
        yield store


async def test_what_queues_during_a_commit_is_the_next_group(one_lane: PostgresEventStore) -> None:
    points: Counter[str] = Counter()
    sending = asyncio.Event()

    def count(point: str) -> None:
        points.update([point])
        if point == "append.before_send":
            sending.set()

    with arm(count):
        first = asyncio.ensure_future(one_lane.append("table-1", events(1), expected=0))
        await sending.wait()
        rest = [one_lane.append(f"table-{n}", events(1), expected=0) for n in range(2, 202)]
        await asyncio.gather(first, *rest)
    assert points["append.queued"] == 201
    assert points["append.after_commit"] == 2


async def test_groups_are_bounded_in_events_and_bytes(pool: Pool) -> None:
    limits = AppenderLimits(lanes=1, batch_events=10, batch_bytes=1_000)
    points: Counter[str] = Counter()
    async with PostgresEventStore(pool, settings=StoreSettings(appender=limits)) as store:
        with arm(lambda point: points.update([point])):
            await asyncio.gather(*(store.append(f"a-{n}", events(4), expected=0) for n in range(5)))
            assert points.pop("append.after_commit") == 3
            large = [[event(b"x" * 400)] for _ in range(5)]
            await asyncio.gather(*(store.append(f"b-{n}", one, expected=0) for n, one in enumerate(large)))
            assert points.pop("append.after_commit") == 3
            await store.append("c-1", events(11), expected=0)  # more than a group is a group of its own
            assert points.pop("append.after_commit") == 1


async def test_one_callers_conflict_does_not_fail_the_others(one_lane: PostgresEventStore) -> None:
    outcomes = await asyncio.gather(
        *(one_lane.append(f"table-{n}", events(1), expected=n % 2) for n in range(20)), return_exceptions=True
    )
    assert [type(one) for one in outcomes] == [Appended, VersionConflict] * 10


async def test_callers_of_one_stream_follow_each_other_in_one_group(one_lane: PostgresEventStore) -> None:
    outcomes = await asyncio.gather(
        one_lane.append("table-1", events(2), expected=0),
        one_lane.append("table-1", events(1), expected=0),
        one_lane.append("table-1", events(3), expected=2),
        one_lane.append_all([StreamAppend("table-1", 5, events(1)), StreamAppend("table-2", 1, events(1))]),
        one_lane.append("table-1", events(1), expected=5),
        return_exceptions=True,
    )
    assert [type(one) for one in outcomes] == [Appended, VersionConflict, Appended, VersionConflict, Appended]
    assert_chained(await one_lane.read_stream("table-1"))
    assert (await one_lane.stream_head("table-1")).position == 6


async def test_a_shard_that_is_held_delays_its_own_callers_only(
    one_lane: PostgresEventStore, database: str
) -> None:
    names = streams_of_shard(5)
    first, second = next(names), next(names)
    async with asyncio.timeout(DEADLINE_S):
        async with shard_held(database, 5) as other:
            waiting: list[asyncio.Future[object]] = [
                asyncio.ensure_future(one_lane.append(first, events(1), expected=0))
            ]
            await until_waiting(other)
            waiting += [
                asyncio.ensure_future(one_lane.append(first, events(1), expected=1)),
                asyncio.ensure_future(one_lane.append(second, events(1), expected=Expect.ANY)),
                asyncio.ensure_future(
                    one_lane.append_all(
                        [StreamAppend(first, 2, events(1)), StreamAppend(stream_of_shard(6), 2, events(1))]
                    )
                ),
            ]
            for n in range(3):
                await one_lane.append(stream_of_shard(6), events(1), expected=n)
            assert not any(one.done() for one in waiting)
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    # The last one asked for the other stream to be where it was then: since, that has gone on.
    assert [type(one) for one in outcomes] == [Appended, Appended, Appended, VersionConflict]
    assert_chained(await one_lane.read_stream(first))
    page = await one_lane.read_shard(5)
    assert [(one.stream, one.stream_position) for one in page.events] == [(first, 1), (first, 2), (second, 1)]


async def test_a_shard_that_is_held_too_long_is_given_up(database: str) -> None:
    limits = SessionLimits(lock_timeout_ms=50)
    async with (
        await open_pool(database, application_name="test", limits=limits) as pool,
        PostgresEventStore(pool, settings=ONE_LANE) as store,
    ):
        async with shard_held(database, 5):
            outcomes = await asyncio.gather(
                *(store.append(stream_of_shard(n), events(1), expected=0) for n in (4, 5, 5, 6)),
                return_exceptions=True,
            )
        assert [type(one) for one in outcomes] == [Appended, ShardBusy, ShardBusy, Appended]
        assert (await store.append(stream_of_shard(5), events(1), expected=0)).first_position == 1


async def test_a_full_queue_refuses_at_once(pool: Pool) -> None:
    limits = AppenderLimits(lanes=1, queue_appends=3, queue_bytes=1_000)
    async with PostgresEventStore(pool, settings=StoreSettings(appender=limits)) as store:
        outcomes = await asyncio.gather(
            *(store.append(f"a-{n}", events(1), expected=0) for n in range(5)), return_exceptions=True
        )
        assert [type(one) for one in outcomes] == [Appended] * 3 + [Overloaded] * 2
        large = [[event(b"x" * 600)] for _ in range(3)]
        outcomes = await asyncio.gather(
            *(store.append(f"b-{n}", one, expected=0) for n, one in enumerate(large)), return_exceptions=True
        )
        assert [type(one) for one in outcomes] == [Appended, Overloaded, Overloaded]
        # Alone, an append may be larger than the whole queue: else it could never be stored.
        assert (await store.append("c-1", [event(b"x" * 2_000)], expected=0)).first_position == 1


async def test_a_deadline_in_the_queue_means_that_nothing_is_stored(database: str) -> None:
    async with (
        await open_pool(database, application_name="test", min_size=1, max_size=1) as pool,
        PostgresEventStore(pool, settings=ONE_LANE) as store,
    ):
        async with pool.acquire():  # nothing can be sent
            with pytest.raises(DeadlineExceeded):
                await store.append("table-1", events(1), expected=0, timeout_s=0.01)
            cancelled = asyncio.ensure_future(store.append("table-1", events(1), expected=0))
            await asyncio.sleep(0)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
        assert (await store.append("table-1", events(2), expected=0)).last_position == 2


async def test_a_deadline_after_the_batch_was_sent_leaves_the_outcome_unknown(
    pool: Pool, database: str
) -> None:
    sent = events(1)
    stream = stream_of_shard(5)
    async with PostgresEventStore(pool, settings=ONE_LANE) as store:
        async with shard_held(database, 5) as other:
            waiting = asyncio.ensure_future(store.append(stream, sent, expected=0, timeout_s=1.5))
            await until_waiting(other)
            with pytest.raises(OutcomeUnknown) as unknown:
                await waiting
        assert unknown.value.event_ids == (sent[0].event_id,)
        assert (await store.append(stream, sent, expected=0)).last_position == 1
    assert unknown.value.stored is None


async def test_an_event_that_the_database_refuses_fails_alone(new_database: Callable[[], str]) -> None:
    async with (
        await open_pool(new_database(), application_name="test") as pool,
        PostgresEventStore(pool, settings=ONE_LANE) as store,
    ):
        async with pool.acquire() as connection:
            await connection.execute("ALTER TABLE eventstore.events ADD CHECK (type <> 'Bad')")
        kinds = ["Bad" if n in (3, 7) else "Good" for n in range(9)]
        outcomes = await asyncio.gather(
            *(store.append(f"a-{n}", events(1, kind=kind), expected=0) for n, kind in enumerate(kinds)),
            return_exceptions=True,
        )
        assert [n for n, one in enumerate(outcomes) if isinstance(one, AppendFailed)] == [3, 7]
        assert sum(isinstance(one, Appended) for one in outcomes) == 7
        assert sum(await store.shard_heads()) == 7


async def test_an_id_that_is_used_elsewhere_fails_alone(one_lane: PostgresEventStore) -> None:
    used = events(1)
    await one_lane.append("a-1", used, expected=0)
    outcomes = await asyncio.gather(
        one_lane.append("a-2", events(1), expected=0),
        one_lane.append("a-3", used, expected=0),
        one_lane.append("a-1", used, expected=1),
        one_lane.append("a-4", events(1), expected=0),
        return_exceptions=True,
    )
    # The third asks for what is stored already, at the wrong place: it is told where.
    assert [type(one) for one in outcomes] == [Appended, EventIdReused, Appended, Appended]
    assert isinstance(outcomes[2], Appended)
    assert (outcomes[2].already, outcomes[2].first_position) == (True, 1)


async def test_several_stores_append_to_the_same_streams(pool: Pool) -> None:
    async with (
        PostgresEventStore(pool) as one,
        PostgresEventStore(pool, settings=ONE_LANE) as two,
        PostgresEventStore(pool) as three,
    ):
        await asyncio.gather(
            *(
                store.append(f"table-{n % 7}", events(2), expected=Expect.ANY)
                for n in range(60)
                for store in (one, two, three)
            )
        )
        for n in range(7):
            assert_chained(await one.read_stream(f"table-{n}"))
        assert sum(await one.shard_heads()) == 360


async def test_closing_answers_who_waits_and_refuses_who_comes(pool: Pool) -> None:
    store = PostgresEventStore(pool)
    waiting = [asyncio.ensure_future(store.append(f"a-{n}", events(1), expected=0)) for n in range(20)]
    await asyncio.sleep(0)
    await store.close()
    assert {type(one) for one in await asyncio.gather(*waiting)} == {Appended}
    with pytest.raises(AppenderClosed):
        await store.append("a-1", events(1), expected=1)


async def test_a_private_part_without_a_keyring_is_refused(pool: Pool) -> None:
    async with PostgresEventStore(pool, settings=ONE_LANE) as store:
        outcomes = await asyncio.gather(
            store.append("a-1", events(1), expected=0),
            store.append("a-2", [event(private=b"secret")], expected=0),
            return_exceptions=True,
        )
    assert [type(one) for one in outcomes] == [Appended, InvalidAppend]


async def test_a_defect_leaves_no_caller_waiting_and_does_not_last(one_lane: PostgresEventStore) -> None:
    points: list[str] = []

    def break_once(point: str) -> None:
        points.append(point)
        if point == "append.before_send" and points.count(point) == 1:
            raise RuntimeError("a defect")

    with arm(break_once):
        outcomes = await asyncio.gather(
            *(one_lane.append(f"a-{n}", events(1), expected=0) for n in range(3)), return_exceptions=True
        )
    assert {type(one) for one in outcomes} == {OutcomeUnknown}
    assert (await one_lane.append("a-1", events(1), expected=0)).first_position == 1


async def test_what_the_server_rolled_back_through_no_fault_is_tried_again(
    one_lane: PostgresEventStore,
) -> None:
    points: list[str] = []

    def deadlock_twice(point: str) -> None:
        points.append(point)
        if point == "append.before_send" and points.count(point) <= 2:
            raise asyncpg.DeadlockDetectedError

    with arm(deadlock_twice):
        assert (await one_lane.append("a-1", events(1), expected=0)).first_position == 1
    assert points.count("append.before_send") == 3


async def test_an_appender_of_its_own(pool: Pool) -> None:
    told: list[Appended] = []
    async with GroupAppender(pool, on_stored=told.extend) as appender:
        waiting = asyncio.ensure_future(appender.append("a-1", events(2), expected=0))
        await asyncio.sleep(0)
        assert appender.waiting == 1
        appended = await waiting
        assert appender.waiting == 0
    assert told == [appended]


async def test_what_serves_many_callers_carries_nothing_of_the_first(
    postgres_store: PostgresEventStore,
) -> None:
    caller: ContextVar[str] = ContextVar("caller", default="nobody")
    seen: dict[str, str] = {}
    caller.set("the first")
    with arm(lambda point: seen.update({point: caller.get()})):
        await postgres_store.append(stream_of_shard(3), events(1), expected=Expect.ANY)
        await postgres_store.close()
    assert seen["append.queued"] == "the first"
    assert {seen[point] for point in ("append.before_send", "append.after_commit", "notify.sent")} == {
        "nobody"
    }
