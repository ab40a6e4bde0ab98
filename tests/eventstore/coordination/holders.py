"""Holders of leases for tests: a program that holds one, a thief, a clock."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass

from eventstore.coordination import acquire, hold_lease, lease_holders
from eventstore.faults import arm
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, open_pool


@dataclass
class Clock:
    """A clock that a test moves."""

    now_s: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


async def steal(pool: Pool, name: str) -> None:
    """Take a lease as if its time had been over."""
    async with pool.acquire() as connection:
        await connection.execute(
            "UPDATE eventstore.leases SET expires_at = '-infinity' WHERE name = $1", name
        )
        assert await acquire(connection, name, holder="thief", ttl_s=60) is not None


async def until_held_by(pool: Pool, holder: str | None) -> None:
    """Prepare an empty database; with a holder, check that it holds something."""
    async with pool.acquire() as connection:
        await prepare_event_log(connection)
        if holder is not None:
            assert holder in {one.holder for one in await lease_holders(connection)}


async def _hold(dsn: str, name: str, ttl_s: float, die_at: str) -> None:
    def die(point: str) -> None:
        if point == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async with await open_pool(dsn, application_name="holder", min_size=1) as pool:
        with arm(die):
            await _until_lost(pool, name, ttl_s)


async def _until_lost(pool: Pool, name: str, ttl_s: float) -> None:
    async with hold_lease(pool, name, holder="a", ttl_s=ttl_s) as held:
        print(held.token, flush=True)  # noqa: T201 - it is how the test knows
        await held.lost.wait()
        assert not held.still_held()
        print("lost", flush=True)  # noqa: T201 - likewise


if __name__ == "__main__":
    asyncio.run(_hold(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]))
