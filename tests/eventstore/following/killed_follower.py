"""A program that follows a log and kills itself at a fault point: started by a test, never imported."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace

from eventstore.faults import arm
from eventstore.following import OWN, Applier, Page
from eventstore.postgres import PostgresEventStore, open_pool
from tests.eventstore.following.effects import FOLLOWER, QUICK, Poisoned


async def main(dsn: str, shard: int, poison: str, die_at: str, after: int) -> None:
    """Apply the shard's events page by page; die when the point is reached for the n-th time.

    Without poison: carry out the retries that were asked for, too.
    """
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        follower = Applier(pool, FOLLOWER, OWN, Poisoned({(poison, 5)}), policy=replace(QUICK, batch_max=3))
        with arm(die):
            while True:
                at = (await follower.positions([shard]))[shard].position
                if not poison:
                    await follower.retry_parked()
                page = await store.read_shard(shard, after=at, limit=7)
                if not page.events:
                    return
                await follower.apply([Page.of_shard(page, after=at)])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])))
