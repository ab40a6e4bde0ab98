from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from messaging.consumer.metrics import ConsumerMetrics, Measured
from servicekit.metrics import check_registry
from tests.eventstore.samples import stream_of_shard
from tests.messaging.consumer.test_parking import Poisoned
from tests.messaging.consumer.world import FOLLOWER, SERVICE, World, running
from tests.messaging.waiting import until

POISONED = stream_of_shard(4)


async def test_what_a_consumer_does_is_counted(world: World) -> None:
    registry = CollectorRegistry()
    measured = Measured(ConsumerMetrics(registry), FOLLOWER, SERVICE)
    await world.source.append(POISONED, 4)
    await world.source.append(stream_of_shard(5), 6)
    await world.source.publish(leave_out={2})
    await world.source.send_records([(9, b"x", b"y", [])])
    handler = Poisoned({(POISONED, 3)})
    consumer = world.consumer(handler, observer=measured)
    measured.watch(consumer)

    def shown() -> dict[str, float]:
        labels = f'{{follower="{FOLLOWER}",source="{SERVICE}"'
        return {
            line.rpartition(" ")[0].replace(f"{labels},", "{").replace(f"{labels}}}", ""): float(
                line.rpartition(" ")[2]
            )
            for line in generate_latest(registry).decode().splitlines()
            if not line.startswith("#")
        }

    async with running(consumer):
        await until(lambda: shown().get("upcard_consumer_dead_letters_total") == 1)
        await until(lambda: shown()["upcard_consumer_lag_events"] == 0)
        await until(lambda: "upcard_consumer_garbage_records_total" in shown())
        found = shown()
        check_registry(registry)
    assert found["upcard_consumer_shards"] == 64
    assert found["upcard_consumer_connected_ratio"] == 1
    assert found["upcard_consumer_shards_stopped"] == 0
    # Seen between two records, or at the end when the heads were compared first.
    missing = [
        value for name, value in found.items() if name.startswith("upcard_consumer_events_missing_total{")
    ]
    assert sum(missing) >= 2
    assert found["upcard_consumer_garbage_records_total"] == 1
