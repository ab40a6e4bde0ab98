"""The relay publishes the whole log, each shard in its order, and stores how far it has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from eventstore import Expect, StreamAppend
from eventstore.coordination import lease_holders
from eventstore.postgres import Pool, PostgresEventStore
from messaging.envelope import decode, headers_of
from messaging.relay import Relay, RelaySettings, relay_positions
from tests.eventstore.samples import event, events, stream_of_shard
from tests.messaging.relay.rig import Rig, fill
from tests.messaging.relay.watching import (
    DEADLINE_S,
    Watcher,
    assert_all_published,
    records,
    running,
    until,
    until_published,
)

NewRelay = Callable[..., Relay]


async def test_what_is_there_and_what_comes(rig: Rig) -> None:
    await fill(rig.store, 100, 7)
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
        await fill(rig.store, 100, 3)
        await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_a_record_is_the_contract(rig: Rig) -> None:
    await rig.store.append(stream_of_shard(5), [event('{"a":1}')], expected=0)
    (stored,) = (await rig.store.read_shard(5)).events
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
    ((record,),) = [batch for batch in (await records(rig.broker, rig.topic)).values() if batch]
    assert record.partition == 5
    assert record.key == stored.stream.encode()
    assert record.value == b'{"a":1}'
    assert list(record.headers) == headers_of(stored, "table", 1)
    envelope = decode(
        service="table", partition=5, key=record.key, value=record.value, headers=record.headers
    )
    assert (envelope.event, envelope.epoch) == (stored, 1)


async def test_a_wake_up_ends_the_sleep(
    store: PostgresEventStore, pool: Pool, topic: str, new_relay: NewRelay
) -> None:
    """Without it, this would take an hour."""
    async with running(new_relay(poll_interval_s=3_600.0, lease_ttl_s=60.0)):
        for _ in range(3):
            await fill(store, 2, 1)
            await until_published(pool, topic)


async def test_without_wake_ups_it_polls(
    pool: Pool, topic: str, new_relay: NewRelay, watcher: Watcher
) -> None:
    async with running(new_relay(poll_interval_s=0.05)):
        await until(lambda: watcher.lags, "it has looked")
        async with pool.acquire() as connection:
            await connection.execute(
                "SELECT eventstore.append('{0}', '{table-1}', '{0}', '{1}', '{1}', ARRAY[uuidv7()], '{A}',"
                " ARRAY['x'::bytea], NULL, NULL, NULL, true, false)"
            )
        await until_published(pool, topic)


async def test_large_events_come_whole_and_in_order(rig: Rig) -> None:
    """Larger than a batch, larger than what a turn or all that is under way may have."""
    sizes = [10, 1_000_000, 10, 600_000, 600_000, 999_999, 10]
    await rig.store.append("round-t1.1", [event(b"x" * size) for size in sizes], expected=0)
    settings = {"turn_bytes": 500_000, "batch_bytes": 100_000, "unacknowledged_bytes": 300_000}
    async with running(rig.new_relay(**settings)):
        await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


@pytest.mark.parametrize("turn_events", [1, 7, 64, 1_000])
async def test_turns_of_any_size(rig: Rig, turn_events: int) -> None:
    await fill(rig.store, 40, 3)
    await rig.store.append("table-long", events(300), expected=0)
    async with running(rig.new_relay(turn_events=turn_events, batch_bytes=5_000)):
        await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_it_goes_on_from_its_position_after_a_stop(rig: Rig) -> None:
    for _ in range(3):
        await fill(rig.store, 30, 2)
        async with running(rig.new_relay()):
            await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0, "nothing is published again"
    assert rig.watcher.tokens == [1, 2, 3]
    assert rig.watcher.passives == ["stopped"] * 3
    assert rig.watcher.events == 180


async def test_a_stop_finishes_what_is_under_way(rig: Rig) -> None:
    await fill(rig.store, 200, 20)
    watcher = Watcher()
    # As long as it needs: a stop that runs out of time leaves the rest to be published again, which is right.
    async with running(rig.new_relay(observer=watcher, stop_timeout_s=30.0)) as stopping:
        await until(lambda: watcher.events > 0, "the first acknowledgement")
        stopping.set()
    async with running(rig.new_relay()):
        await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_a_stop_while_it_waits_for_the_lease(pool: Pool, topic: str, new_relay: NewRelay) -> None:
    first, second = Watcher(), Watcher()
    async with running(new_relay(observer=first)):
        await until(lambda: first.tokens, "the first is active")
        async with running(new_relay(observer=second)):
            pass
        assert second.tokens == []
    async with pool.acquire() as connection:
        assert [one.held for one in await lease_holders(connection, f"relay {topic}")] == [False]


async def test_appends_while_it_runs(rig: Rig) -> None:
    async def append(number: int) -> None:
        for _ in range(20):
            await rig.store.append_all(
                [
                    StreamAppend(f"round-t{number}.1", Expect.ANY, events(1)),
                    StreamAppend(f"table-t{number % 3}", Expect.ANY, events(2)),
                ]
            )

    async with running(rig.new_relay()):
        await asyncio.gather(*(append(number) for number in range(10)))
        await until_published(rig.pool, rig.topic)
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_how_far_it_is_can_be_asked(
    store: PostgresEventStore, pool: Pool, topic: str, new_relay: NewRelay
) -> None:
    await store.append(stream_of_shard(5), events(4), expected=0)
    async with pool.acquire() as connection:
        before = (await relay_positions(connection, topic))[5]
        assert (before.position, before.head, before.lag, before.moved_at) == (0, 4, 4, None)
        async with running(new_relay()):
            await until_published(pool, topic)
        after = (await relay_positions(connection, topic))[5]
        assert (after.position, after.head, after.lag) == (4, 4, 0)
        assert after.moved_at is not None
        assert [one.shard for one in await relay_positions(connection, topic)] == list(range(64))


async def test_the_epoch_is_the_one_at_the_time_of_publishing(rig: Rig) -> None:
    async with running(rig.new_relay()):
        await fill(rig.store, 1, 1)
        await until_published(rig.pool, rig.topic)
        async with rig.pool.acquire() as connection:
            await connection.execute(
                "INSERT INTO eventstore.epochs (epoch, reason, positions, hashes)"
                " SELECT 2, 'test', positions, hashes FROM eventstore.epochs"
            )
        looked = rig.watcher.lags
        before = len(looked)
        await until(lambda: len(looked) > before + 3, "it has looked again")
        await fill(rig.store, 1, 1)
        await until_published(rig.pool, rig.topic)
    (batch,) = [batch for batch in (await records(rig.broker, rig.topic)).values() if batch]
    assert [dict(one.headers)["ce_epoch"] for one in batch] == [b"1", b"2"]


async def test_a_missing_table_is_a_mistake_and_raised(pool: Pool, new_relay: NewRelay) -> None:
    async with pool.acquire() as connection:
        await connection.execute("DROP TABLE messaging.relay_positions")
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(Exception, match="relay_positions"):
            await new_relay().run()


@pytest.mark.parametrize("wrong", [{"turn_events": 0}, {"poll_interval_s": -1.0}, {"batch_bytes": 2_000_000}])
def test_settings_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"relay|batch"):
        RelaySettings(**wrong)  # type: ignore[arg-type]  # one wrong value at a time
