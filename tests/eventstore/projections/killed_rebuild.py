"""A program that rebuilds a projection and kills itself at a fault point: started by a test."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace

from eventstore.faults import arm
from eventstore.postgres import PostgresEventStore, open_pool
from eventstore.projections import Rebuilding, rebuild_projection
from tests.eventstore.projections.views import PROJECTION, QUICK


async def main(dsn: str, die_at: str, *, go_on: bool) -> None:
    """Rebuild; die when the point is reached."""

    def die(point: str) -> None:
        if point == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    how = Rebuilding(policy=replace(QUICK.policy, batch_max=60))
    async with await open_pool(dsn, application_name="doomed") as pool, PostgresEventStore(pool) as store:
        with arm(die):
            await rebuild_projection(store, pool, replace(PROJECTION, version=2), rebuilding=how, go_on=go_on)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], go_on=sys.argv[3] == "go on"))
