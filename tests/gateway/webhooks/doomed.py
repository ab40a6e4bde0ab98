"""A gateway that follows events and sends webhooks, and kills itself at a fault point: a test starts it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool
from tests.gateway.webhooks.receiving import Receiver
from tests.gateway.webhooks.world import HookWorld


async def main(dsn: str, die_at: str, after: int) -> None:
    """Live, and die at the n-th such point."""
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        world = HookWorld(pool, store, Receiver())  # the receiver runs with the test
        with arm(die):
            await world.follow()
            await world.send()
            await world.quiet()
            await world.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
