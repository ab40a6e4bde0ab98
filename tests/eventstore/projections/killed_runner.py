"""A program that keeps a projection up to date and kills itself at a fault point: started by a test."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool
from tests.eventstore.projections.views import PROJECTION, running, until_no_lag


async def main(dsn: str, die_at: str, after: int) -> None:
    """Follow until nothing is left, or die when the point is reached for the n-th time."""
    reached = 0

    def die(point: str) -> None:
        nonlocal reached
        reached += point == die_at
        if reached == after:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        with arm(die):
            async with running(pool, store, PROJECTION) as task:
                await until_no_lag(pool, task)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
