"""Following shards: what is there, then what comes. The position decides, never a wake-up."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from eventstore.errors import LogBroken
from eventstore.events import EventFilter, ShardPage
from eventstore.faults import reach
from eventstore.postgres.connections import Pool
from eventstore.postgres.reading import read_shard, shard_heads
from eventstore.postgres.wake_up import Listener


@contextlib.asynccontextmanager
async def subscribe(
    pool: Pool,
    listener: Listener,
    after: Mapping[int, int],
    *,
    page: int,
    wanted: EventFilter,
    poll_interval_s: float,
) -> AsyncIterator[AsyncIterator[ShardPage]]:
    """See `port.Reader.subscribe`. Raises LogBroken when a position lies beyond its shard's head.

    Errors of the connection are raised as they are: whoever follows knows its position, and subscribes again.
    """
    with listener.sleeper() as woken:
        pages = _pages(pool, woken, dict(after), page, wanted, poll_interval_s)
        try:
            yield pages
        finally:
            await pages.aclose()


async def _pages(
    pool: Pool,
    woken: asyncio.Event,
    positions: dict[int, int],
    limit: int,
    wanted: EventFilter,
    poll_interval_s: float,
) -> AsyncGenerator[ShardPage, None]:
    while True:
        # Cleared before looking: whatever is appended after the look sets it again.
        woken.clear()
        behind = await _behind(pool, positions)
        # One page a shard and turn, so that a long one does not keep the others waiting.
        for shard in behind:
            async with pool.acquire() as connection:
                found = await read_shard(connection, shard, positions[shard], limit, wanted)
            reach("subscription.page")
            positions[shard] = found.through
            yield found
        if not behind:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(poll_interval_s):
                    await woken.wait()


async def _behind(pool: Pool, positions: Mapping[int, int]) -> list[int]:
    async with pool.acquire() as connection:
        heads = await shard_heads(connection)
    for shard, position in positions.items():
        if heads[shard] < position:
            raise LogBroken(f"shard {shard}: position {position} is beyond its head {heads[shard]}")
    return [shard for shard, position in positions.items() if heads[shard] > position]
