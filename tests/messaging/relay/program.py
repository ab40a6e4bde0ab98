"""A relay as a process of its own, which may kill itself at a named point: `python -m … JSON`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from typing import Any

from eventstore.postgres import open_pool
from messaging.broker import BrokerSettings
from messaging.faults import arm
from messaging.relay import Relay, RelaySettings, SilentRelay
from messaging.topics import TopicSettings


class Telling(SilentRelay):
    """Prints when it becomes active and when it is no longer."""

    def active(self, token: int) -> None:
        print(f"active {token}", flush=True)  # noqa: T201 - it is how the test knows

    def passive(self, reason: str) -> None:
        print(f"passive {reason}", flush=True)  # noqa: T201 - likewise


async def _run(plan: dict[str, Any]) -> None:
    reached: Counter[str] = Counter()

    def hook(point: str) -> None:
        reached.update([point])
        if point == plan["die_at"] and reached[point] == plan["times"]:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(plan["dsn"], application_name="doomed", min_size=1) as pool:
        relay = Relay(
            pool,
            BrokerSettings(plan["bootstrap"], idempotent_producer=plan["idempotent"]),
            "table",
            topic=plan["topic"],
            settings=RelaySettings(
                topics=TopicSettings(plan["replication_factor"], plan["min_insync_replicas"]),
                lease_ttl_s=plan["ttl_s"],
                turn_events=20,
                # To reach a point several times, one batch is acknowledged before the next is sent;
                # otherwise the broker may acknowledge all of them before the first look.
                unacknowledged_bytes=16_000_000 if plan["times"] == 1 else 1,
                store_interval_s=0.001,
            ),
            observer=Telling(),
        )
        with arm(hook):
            await relay.run()


if __name__ == "__main__":
    asyncio.run(_run(json.loads(sys.argv[1])))
