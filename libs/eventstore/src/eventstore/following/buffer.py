"""Pages that were read and are still to be applied: what comes meanwhile goes in the next transaction."""

import asyncio
from collections.abc import Mapping

from eventstore.events import ShardPage
from eventstore.following.pages import Page


class PageBuffer:
    """A bounded buffer between one that reads pages and one that applies them, one page a shard.

    Whoever applies takes everything that has come during its last transaction: batches are as large as they
    have to be, and nobody waits for a timer. It is full with `events_max` events; it may hold one page more.
    """

    def __init__(self, after: Mapping[int, int], *, events_max: int) -> None:
        self._after = dict(after)
        self._events_max = events_max
        self._pages: dict[int, Page] = {}
        self._events = 0
        self._failure: Exception | None = None
        self._changed = asyncio.Condition()

    async def put(self, page: ShardPage) -> None:
        """Add the next page of a shard; waits for room."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._events < self._events_max)
            after = self._after.get(page.shard, 0)
            self._after[page.shard] = page.through
            added = Page.of_shard(page, after=after)
            before = self._pages.get(page.shard)
            self._pages[page.shard] = added if before is None else before.joined(added)
            self._events += len(page.events)
            self._changed.notify_all()

    async def fail(self, failure: Exception) -> None:
        """No more pages come: whoever takes is told why, once what was read is taken."""
        async with self._changed:
            self._failure = failure
            self._changed.notify_all()

    async def take(self, timeout_s: float) -> list[Page]:
        """Everything there is, by shard; waits for something, but no longer than this.

        Raises what `fail` was given.
        """
        async with self._changed:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._changed.wait_for(lambda: self._pages or self._failure)
            except TimeoutError:
                return []
            if not self._pages and self._failure is not None:
                raise self._failure
            pages = [self._pages[shard] for shard in sorted(self._pages)]
            self._pages.clear()
            self._events = 0
            self._changed.notify_all()
            return pages
