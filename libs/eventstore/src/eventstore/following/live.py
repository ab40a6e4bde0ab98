"""Following a log at hand: what is there, then what comes, applied as it comes."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection

from eventstore.events import EVERYTHING, EventFilter, ShardPage
from eventstore.following.applier import Applier
from eventstore.following.buffer import PageBuffer
from eventstore.port import PAGE_EVENTS, Reader


class LiveFollower:
    """Brings an applier what a reader has for it.

    `events_max` bounds what lies read and not yet applied. `look_interval_s`: how often requested retries are
    looked for, and, while a shard is stopped, whether it was resumed. `gather_s`: under load, what comes in
    such a time is applied together, since each transaction costs more than the events in it.
    """

    def __init__(  # noqa: PLR0913 - each is a bound of its own
        self,
        store: Reader,
        applier: Applier,
        *,
        shards: Collection[int],
        events_max: int,
        look_interval_s: float,
        wanted: EventFilter = EVERYTHING,
        page: int = PAGE_EVENTS,
        gather_s: float = 0.1,
    ) -> None:
        self._store = store
        self._applier = applier
        self._shards = shards
        self._events_max = events_max
        self._look_interval_s = look_interval_s
        self._wanted = wanted
        self._page = page
        self._gather_s = gather_s
        self.progressed = False
        """Whether anything was applied; whoever counts failures sets it back."""

    async def follow(self) -> None:
        """Subscribe from where the positions are, apply what comes, for ever; if stopped, wait a little.

        Raises what the reader and the applier raise. It may be cancelled, and called again, at any moment.
        """
        positions = await self._applier.positions(self._shards)
        if any(one.stopped for one in positions.values()):
            await self._applier.retry_parked(self._shards)  # perhaps just what is in the way
            await asyncio.sleep(self._look_interval_s)
            return
        after = {shard: one.position for shard, one in positions.items()}
        buffer = PageBuffer(after, events_max=self._events_max)
        async with self._store.subscribe(
            after, page=self._page, wanted=self._wanted, gather_s=self._gather_s
        ) as pages:
            reading = asyncio.create_task(_read(pages, buffer), name=f"{self._applier.follower} reading")
            try:
                await self._apply(buffer)
            finally:
                reading.cancel()
                await asyncio.wait([reading])

    async def _apply(self, buffer: PageBuffer) -> None:
        looked_s = 0.0
        while True:
            pages = await buffer.take(self._look_interval_s)
            if pages:
                await self._applier.apply(pages)
                self.progressed = True
            if time.monotonic() - looked_s >= self._look_interval_s:
                await self._applier.retry_parked(self._shards)
                looked_s = time.monotonic()


async def _read(pages: AsyncIterator[ShardPage], buffer: PageBuffer) -> None:
    try:
        async for page in pages:
            await buffer.put(page)
    except Exception as error:  # noqa: BLE001 - whoever applies raises it
        await buffer.fail(error)
