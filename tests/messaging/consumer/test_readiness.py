from __future__ import annotations

import pytest

from messaging.consumer.readiness import lag_below
from servicekit.health import NotReady
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.world import World, running
from tests.messaging.waiting import until


async def test_a_consumer_that_is_far_behind_or_does_not_know_is_not_ready(world: World) -> None:
    consumer = world.consumer()
    with pytest.raises(NotReady, match="it is not known how far the consumer is behind"):
        await lag_below(consumer, 10).ask()
    await world.source.append(stream_of_shard(4), 3)
    await world.source.publish()
    async with running(consumer):
        await until(world.all_applied)
        await until(lambda: consumer.status.lag == 0)
        await lag_below(consumer, 0).ask()
        with pytest.raises(NotReady, match=r"was last known \d+ s ago"):
            await lag_below(consumer, 0, age_max_s=0).ask()
        await world.pool.execute("UPDATE eventstore.positions SET hash = sha256('other') WHERE shard = 4")
        await until(lambda: consumer.status.stopped == (4,))
        await world.source.append(stream_of_shard(4), 5)
        await world.pool.execute("UPDATE eventstore.positions SET hash = NULL WHERE shard = 4")
        await until(lambda: consumer.status.lag == 5)
        with pytest.raises(NotReady, match="5 events behind, at most 4 are borne"):
            await lag_below(consumer, 4).ask()
