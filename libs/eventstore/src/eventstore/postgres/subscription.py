"""Following shards: what is there, then what comes. The position decides, never a wake-up."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from eventstore.errors import LogBroken
from eventstore.events import EventFilter, ShardPage
from eventstore.faults import reach
from eventstore.postgres.connections import Pool
from eventstore.postgres.reading import Span, read_shards, shard_heads
from eventstore.postgres.wake_up import Listener


@contextlib.asynccontextmanager
async def subscribe(  # noqa: PLR0913 - a store and what its reader asked for
    pool: Pool,
    listener: Listener,
    after: Mapping[int, int],
    *,
    page: int,
    wanted: EventFilter,
    poll_interval_s: float,
    gather_s: float = 0.0,
) -> AsyncIterator[AsyncIterator[ShardPage]]:
    """See `port.Reader.subscribe`. Raises LogBroken when a position lies beyond its shard's head.

    Errors of the connection are raised as they are: whoever follows knows its position, and subscribes again.
    """
    with listener.sleeper() as woken:
        pages = _pages(pool, woken, dict(after), page, wanted, poll_interval_s, gather_s)
        try:
            yield pages
        finally:
            await pages.aclose()


async def _pages(  # noqa: PLR0913, PLR0917 - what `subscribe` is given, and who wakes
    pool: Pool,
    woken: asyncio.Event,
    positions: dict[int, int],
    limit: int,
    wanted: EventFilter,
    poll_interval_s: float,
    gather_s: float,
) -> AsyncGenerator[ShardPage, None]:
    loop = asyncio.get_running_loop()
    while True:
        # Cleared before looking: whatever is appended after the look sets it again.
        woken.clear()
        began = loop.time()
        spans = await _behind(pool, positions, limit)
        if spans:
            # All that are behind in one question, so that a long one does not keep the others waiting.
            async with pool.acquire() as connection:
                found = await read_shards(connection, spans, wanted)
            for page in found:
                reach("subscription.page")
                positions[page.shard] = page.through
                yield page
            if sum(len(page.events) for page in found) < limit:
                # Nearly everything is read: what comes in the next moment is read together.
                await asyncio.sleep(max(0.0, began + gather_s - loop.time()))
        else:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(poll_interval_s):
                    await woken.wait()


async def _behind(pool: Pool, positions: Mapping[int, int], limit: int) -> list[Span]:
    """What is to be read next: of each shard that is behind its part of `limit` events."""
    async with pool.acquire() as connection:
        heads = await shard_heads(connection)
    for shard, position in positions.items():
        if heads[shard] < position:
            raise LogBroken(f"shard {shard}: position {position} is beyond its head {heads[shard]}")
    behind = [(shard, position) for shard, position in positions.items() if heads[shard] > position]
    each = max(1, limit // max(1, len(behind)))
    return [
        Span(shard, position, min(position + each, heads[shard]), heads[shard]) for shard, position in behind
    ]
