"""One relay is active, another takes over, and a loser moves nothing."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable

import pytest

from eventstore.coordination import LeaseLost, acquire
from eventstore.postgres import Pool, PostgresEventStore
from messaging.faults import POINTS, arm
from messaging.relay import Relay
from messaging.relay.positions import claim_positions, look_at_positions, store_positions
from tests.messaging.relay.processes import relay_process, said
from tests.messaging.relay.rig import Rig, fill
from tests.messaging.relay.watching import (
    DEADLINE_S,
    Watcher,
    assert_all_published,
    running,
    until,
    until_published,
)

NewRelay = Callable[..., Relay]
RELAY_POINTS = sorted(point for point in POINTS if point.startswith("relay."))


async def test_every_point_is_reached(
    store: PostgresEventStore, pool: Pool, topic: str, new_relay: NewRelay
) -> None:
    reached: Counter[str] = Counter()
    with arm(lambda point: reached.update([point])):
        await fill(store)
        async with running(new_relay()):
            await until_published(pool, topic)
    assert RELAY_POINTS
    assert [point for point in RELAY_POINTS if not reached[point]] == []


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("point", RELAY_POINTS)
async def test_killed_anywhere_nothing_is_left_out(rig: Rig, point: str, times: int) -> None:
    await fill(rig.store)
    async with relay_process(rig.stack, rig.database, rig.topic, die_at=point, times=times) as process:
        async with asyncio.timeout(DEADLINE_S):
            assert await process.wait() == -signal.SIGKILL
        await fill(rig.store)
        watcher = Watcher()
        async with running(rig.new_relay(observer=watcher)):
            await until_published(rig.pool, rig.topic)
        assert watcher.tokens == [2], "it took over from the one that died"
    await assert_all_published(rig.store, rig.broker, rig.topic)


async def test_the_second_takes_over(rig: Rig) -> None:
    first, second = Watcher(), Watcher()
    async with running(rig.new_relay(observer=first)) as stop_first:
        await until(lambda: first.tokens, "the first is active")
        async with running(rig.new_relay(observer=second)):
            await fill(rig.store)
            await until_published(rig.pool, rig.topic)
            assert second.tokens == []
            stop_first.set()
            await until(lambda: second.tokens, "the second is active")
            await fill(rig.store)
            await until_published(rig.pool, rig.topic)
    assert (first.tokens, second.tokens) == ([1], [2])
    assert await assert_all_published(rig.store, rig.broker, rig.topic) == 0


async def test_one_that_was_stopped_wakes_up_as_a_loser(rig: Rig) -> None:
    """SIGSTOP in the middle; the other one takes over; both live on."""
    await fill(rig.store)
    async with relay_process(rig.stack, rig.database, rig.topic) as process:
        assert await said(process, "active") == "active 1"
        process.send_signal(signal.SIGSTOP)
        watcher = Watcher()
        async with running(rig.new_relay(observer=watcher)):
            await until_published(rig.pool, rig.topic)
            assert watcher.tokens == [2]
            process.send_signal(signal.SIGCONT)
            assert "lost" in await said(process, "passive")
            await fill(rig.store)
            await until_published(rig.pool, rig.topic)
            assert watcher.passives == []
    await assert_all_published(rig.store, rig.broker, rig.topic)


async def test_a_lease_that_was_taken_is_waited_for_again(rig: Rig) -> None:
    async with running(rig.new_relay(lease_ttl_s=0.6)):
        await until(lambda: rig.watcher.tokens, "it is active")
        async with rig.pool.acquire() as connection, connection.transaction():
            await connection.execute("UPDATE eventstore.leases SET expires_at = '-infinity'")
            thief = await acquire(connection, f"relay {rig.topic}", holder="thief", ttl_s=0.5)
        assert thief is not None
        await until(lambda: len(rig.watcher.tokens) == 2, "it is active again")
        await fill(rig.store)
        await until_published(rig.pool, rig.topic)
    assert rig.watcher.tokens[1] > thief.token
    assert "lost" in rig.watcher.passives[0]


async def test_a_loser_cannot_move_a_position(pool: Pool, topic: str) -> None:
    async with pool.acquire() as connection:
        assert set((await claim_positions(connection, topic, 1)).positions.values()) == {0}
        assert await store_positions(connection, topic, 1, [(5, 0, 3), (6, 0, 4)]) == {5, 6}
        found = await claim_positions(connection, topic, 2)
        assert (found.positions[5], found.positions[6]) == (3, 4)
        assert await store_positions(connection, topic, 1, [(5, 3, 9)]) == frozenset()
        with pytest.raises(LeaseLost):
            await look_at_positions(connection, topic, 1)
        with pytest.raises(LeaseLost):
            await claim_positions(connection, topic, 1)
        assert await store_positions(connection, topic, 2, [(5, 3, 9)]) == {5}


async def test_a_position_is_moved_only_from_where_it_was(pool: Pool, topic: str) -> None:
    async with pool.acquire() as connection:
        await claim_positions(connection, topic, 1)
        assert await store_positions(connection, topic, 1, [(5, 0, 3), (6, 1, 4)]) == {5}
        assert (await look_at_positions(connection, topic, 1)).positions[6] == 0


async def test_topics_have_positions_of_their_own(pool: Pool, topic: str) -> None:
    async with pool.acquire() as connection:
        await claim_positions(connection, topic, 5)
        await claim_positions(connection, f"{topic}.other", 1)
        await store_positions(connection, topic, 5, [(5, 0, 3)])
        assert (await look_at_positions(connection, f"{topic}.other", 1)).positions[5] == 0
