"""Whatever happens to relays, in whatever order: the whole log arrives, each shard in its order."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable

import pytest

from eventstore import Expect
from eventstore.coordination import LeaseLost, acquire
from messaging.relay import NothingToRepublish, republish
from messaging.relay.positions import look_at_positions, store_positions
from tests.eventstore.samples import events
from tests.messaging.relay.rig import Rig
from tests.messaging.relay.watching import DEADLINE_S, Watcher, assert_all_published, running, until_published

STREAMS = 12
ROUNDS = 25


class Trouble:
    """Two relays and everything that may happen to them."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self._rig = rig
        self._random = random.Random(seed)
        self._relays: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """So many random steps; the relays are gone at the end."""
        steps: list[Callable[[], Awaitable[None]]] = [
            self.append,
            self.append,
            self.start,
            self.start,
            self.kill,
            self.steal,
            self.publish_again,
            self.move_as_a_loser,
        ]
        try:
            for _ in range(ROUNDS):
                await self._random.choice(steps)()
                await asyncio.sleep(self._random.uniform(0, 0.1))
        finally:
            while self._relays:
                await self.kill()

    async def append(self) -> None:
        """A few events to a few streams."""
        for _ in range(self._random.randint(1, 5)):
            stream = f"round-t{self._random.randrange(STREAMS)}.1"
            count = self._random.randint(1, 30)
            await self._rig.store.append(stream, events(count), expected=Expect.ANY)

    async def start(self) -> None:
        """Another relay, if there are not two already."""
        if len(self._relays) < 2:
            relay = self._rig.new_relay(
                observer=Watcher(), lease_ttl_s=0.5, turn_events=20, batch_bytes=2_000, store_interval_s=0.001
            )
            self._relays.append(asyncio.ensure_future(relay.run()))

    async def kill(self) -> None:
        """A relay ends in the middle of whatever it does."""
        if self._relays:
            relay = self._relays.pop(self._random.randrange(len(self._relays)))
            relay.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await relay

    async def steal(self) -> None:
        """Somebody else gets the lease for a moment."""
        async with self._rig.pool.acquire() as connection, connection.transaction():
            await connection.execute("UPDATE eventstore.leases SET expires_at = '-infinity'")
            await acquire(connection, f"relay {self._rig.topic}", holder="thief", ttl_s=0.1)

    async def publish_again(self) -> None:
        """Some shards from anywhere."""
        shards = self._random.sample(range(64), 20)
        async with self._rig.pool.acquire() as connection:
            with contextlib.suppress(NothingToRepublish):
                await republish(
                    connection,
                    self._rig.topic,
                    shards,
                    from_position=self._random.randint(1, 40),
                    asked_by="a test",
                    reason="at random",
                )

    async def move_as_a_loser(self) -> None:
        """One that lost its lease long ago tries to store what it believes."""
        async with self._rig.pool.acquire() as connection:
            token = await connection.fetchval("SELECT max(token) FROM messaging.relay_positions")
            if token is not None and token > 1:
                moves = [(shard, position, 10**6) for shard in range(64) for position in (0, 1, 2, 3)]
                assert await store_positions(connection, self._rig.topic, token - 1, moves) == frozenset()
                with pytest.raises(LeaseLost):
                    await look_at_positions(connection, self._rig.topic, token - 1)


@pytest.mark.parametrize("seed", range(3))
async def test_everything_arrives(rig: Rig, seed: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        await Trouble(rig, seed).run()
        async with running(rig.new_relay()):
            await until_published(rig.pool, rig.topic)
    await assert_all_published(rig.store, rig.broker, rig.topic)
