"""Reading over the feed what Kafka did not bring: a page of each shard in turn, until it has caught up."""

import asyncio
import contextlib

from eventstore import EventFilter
from eventstore.errors import HistoryDetached
from eventstore.following import Page
from messaging.consumer.board import Board, Shard
from messaging.consumer.delivering import Delivery
from messaging.consumer.observer import ConsumerObserver
from messaging.consumer.settings import ConsumerSettings
from messaging.consumer.troubles import PASSING
from messaging.faults import reach
from messaging.feed import LARGEST_PAGE_EVENTS, Feed, FeedHistoryDetached


class Filler:
    """Fills the shards of a board that are marked for it (`Board.fill`)."""

    def __init__(
        self,
        feed: Feed,
        board: Board,
        delivery: Delivery,
        wanted: EventFilter,
        settings: ConsumerSettings,
        observer: ConsumerObserver,
    ) -> None:
        self._feed = feed
        self._board = board
        self._delivery = delivery
        self._wanted = wanted
        self._settings = settings
        self._observer = observer

    async def run(self) -> None:
        """Fill for ever. A feed that fails is asked again after a pause; other shards do not wait for it."""
        while True:
            self._board.to_fill.clear()
            due, pause_s = self._due()
            if due:
                await self._fill(due)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._board.to_fill.wait()

    def _due(self) -> tuple[list[Shard], float]:
        now = asyncio.get_running_loop().time()
        marked = [
            shard
            for shard in self._board
            if shard.fill_to is not None and shard.stopped is None and shard.position is not None
        ]
        due = [shard for shard in marked if shard.fill_at <= now]
        pause_s = min((shard.fill_at - now for shard in marked), default=self._settings.poll_s)
        return due[: self._settings.fills_at_once], min(max(pause_s, 0.0), self._settings.poll_s)

    async def _fill(self, due: list[Shard]) -> None:
        before = [shard.position or 0 for shard in due]
        read = await asyncio.gather(*map(self._read, due, before))
        pages = [page for page in read if page is not None]
        if not pages:
            return
        reach("consumer.filled")
        async with self._delivery.under_way():
            await self._delivery.apply(pages)
        for shard, page, position in zip(due, read, before, strict=True):
            if page is not None and self._board.get(shard.number) is shard:
                self._account(shard, position)

    async def _read(self, shard: Shard, position: int) -> Page | None:
        """The next page, which begins with the event that was applied last.

        Its hash is compared once more: what follows another history would otherwise look like ours.
        """
        try:
            try:
                return await self._page(shard.number, max(0, position - 1))
            except (FeedHistoryDetached, HistoryDetached):
                return await self._page(shard.number, position)  # that one has gone, perhaps no others
        except PASSING as error:
            self._observer.trouble("feed", error)
            self._postpone(shard)
            return None

    async def _page(self, number: int, after: int) -> Page:
        limit = min(self._settings.fill_events + 1, LARGEST_PAGE_EVENTS)
        return await self._feed.read_shard(number, after=after, limit=limit, wanted=self._wanted)

    def _account(self, shard: Shard, before: int) -> None:
        came = (shard.position or 0) - before
        if came > 0:
            shard.fill_tries = 0
            self._observer.filled(shard.number, came)
        else:
            # Kafka had more than the log has, or whoever answers is behind: in an epoch that is over, say.
            self._postpone(shard)
        caught_up = (shard.position or 0) >= (shard.fill_to or 0)
        if caught_up or shard.fill_tries > self._settings.fill_empty_tries:
            shard.fill_to, shard.fill_tries, shard.fill_at = None, 0, 0.0
            self._board.changed.set()

    def _postpone(self, shard: Shard) -> None:
        settings = self._settings
        doubled_s = settings.fill_first_pause_s * 2.0 ** min(shard.fill_tries, 20)
        shard.fill_tries += 1
        shard.fill_at = asyncio.get_running_loop().time() + min(doubled_s, settings.fill_longest_pause_s)
