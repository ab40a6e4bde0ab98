"""The way of pages into the database: what is applied, and what each refusal of the applier means."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence

from eventstore.errors import HistoryDetached
from eventstore.following import (
    Applier,
    DatabaseAway,
    EpochChanged,
    FollowerStopped,
    ForkSeen,
    Gap,
    HeadsChecked,
    Page,
    SourceHead,
    check_heads,
)
from messaging.consumer.board import Board
from messaging.consumer.observer import ConsumerObserver
from messaging.consumer.settings import ConsumerSettings
from messaging.faults import reach
from messaging.feed import Feed, FeedError, FeedHistoryDetached

FAILED = "failed"
FORKED = "forked"

_EPOCH_TRIES = 3
"""How often the heads are compared for one batch before its shard waits."""


class Delivery:
    """Applies pages of the shards on a board, and keeps the board. Used by several tasks at once."""

    def __init__(
        self,
        applier: Applier,
        feed: Feed,
        board: Board,
        settings: ConsumerSettings,
        observer: ConsumerObserver,
    ) -> None:
        self._applier = applier
        self._feed = feed
        self._board = board
        self._settings = settings
        self._observer = observer
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextlib.asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Something is being done that a change of shards should wait for."""
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def wait_until_idle(self, timeout_s: float) -> bool:
        """Wait for what is under way; False when it takes longer, and goes on."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        return self._idle.is_set()

    async def read_positions(self) -> None:
        """Ask the database where the shards stand that have not been asked about. Raises DatabaseAway."""
        if unread := self._board.unread():
            self._board.read(await self._applier.positions(unread))

    async def apply(self, pages: Sequence[Page]) -> None:
        """Give these pages, one a shard, their effect. What cannot be applied is left out, and seen to.

        Pages of shards that are not ours (any longer) are left out. While the database is away it is tried
        again, for ever: nothing else could be done either. Raises HandlerUnfit.
        """
        waiting = {page.shard: page for page in pages}
        epochs_tried = 0
        while ready := self._ready(waiting):
            reach("consumer.received")
            try:
                await self._applier.apply(ready)
            except Gap as gap:
                self.missing(waiting.pop(gap.shard), found_after=gap.expected - 1)
            except ForkSeen as fork:
                del waiting[fork.shard]
                self._forked(fork)
            except EpochChanged as changed:
                epochs_tried += 1
                if epochs_tried > _EPOCH_TRIES or not await self._follow_epoch(changed):
                    self._fill_later(waiting.pop(changed.shard))
            except FollowerStopped as stop:
                self._stopped(stop)
            except DatabaseAway as error:
                self._observer.trouble("database", error)
                await asyncio.sleep(self._settings.database_pause_s)
            else:
                reach("consumer.applied")
                self._advance(ready)
                return

    def missing(self, page: Page, *, found_after: int) -> None:
        """A page came that does not follow: what is between comes over the feed, and so does the page."""
        if (shard := self._board.get(page.shard)) is None:
            return
        shard.position = found_after
        self._observer.missing(page.shard, page.after - found_after, tail=False)
        self._board.fill(shard, page.through)

    async def compare_heads(self, shards: Collection[int], *, hashes: bool) -> dict[int, SourceHead]:
        """Compare positions with the source: stops shards whose history is another. Returns the heads.

        Also finds out where the shards stand by the database: someone may have moved them. Raises FeedError,
        DatabaseAway.
        """
        checked, heads = await self._check(shards, hashes=hashes)
        for number in shards:
            shard = self._board.get(number)
            if shard is not None and shard.position is not None and number in heads:
                shard.position = heads[number].position - checked.behind.get(number, 0)
        await self._see_stops(checked.stopped)
        return heads

    async def _check(
        self, shards: Collection[int], *, hashes: bool
    ) -> tuple[HeadsChecked, dict[int, SourceHead]]:
        heads: dict[int, SourceHead] = {}

        async def ask() -> dict[int, SourceHead]:
            heads.update(await self._feed.heads())
            return heads

        async def hash_at(number: int, position: int) -> bytes | None:
            try:
                return await self._feed.hash_at(number, position)
            except (FeedHistoryDetached, HistoryDetached):
                known = (await self._applier.positions([number]))[number]
                if known.epoch != heads[number].epoch:
                    raise  # of a new history we have to be sure
                return known.hash  # nothing can be said against it

        checked = await check_heads(self._applier, shards, ask, hash_at, every_hash=hashes)
        for fork in checked.forks:
            self._forked(fork)
        for number in checked.new_epochs:
            if (shard := self._board.get(number)) is not None:
                shard.epoch = heads[number].epoch
        return checked, heads

    async def _see_stops(self, numbers: Collection[int]) -> None:
        """Shards that someone else has stopped, in the database."""
        unseen = [n for n in numbers if (shard := self._board.get(n)) is not None and shard.stopped is None]
        if not unseen:
            return
        for number, known in (await self._applier.positions(unseen)).items():
            if known.stopped is not None:
                self._stopped(
                    FollowerStopped(self._applier.follower, self._applier.source, number, known.stopped)
                )

    async def _follow_epoch(self, changed: EpochChanged) -> bool:
        """Whether to try again in the source's new epoch. All are compared: the others come next."""
        ours = {shard.number for shard in self._board if shard.stopped is None} | {changed.shard}
        try:
            _, heads = await self._check(ours, hashes=False)
        except (FeedError, DatabaseAway) as error:
            self._observer.trouble("epoch", error)
            return False
        # Kafka may know of an epoch that whoever answers us does not.
        return (heads[changed.shard].epoch or 0) >= changed.found

    def _ready(self, waiting: dict[int, Page]) -> list[Page]:
        for number in list(waiting):
            shard = self._board.get(number)
            if shard is None or shard.stopped is not None:
                del waiting[number]
        return [waiting[number] for number in sorted(waiting)]

    def _advance(self, pages: Sequence[Page]) -> None:
        for page in pages:
            shard = self._board.get(page.shard)
            if shard is None:
                continue
            if page.epoch is not None:
                if page.epoch < (shard.epoch or 0):
                    continue  # it was left out: of an epoch that is over
                shard.epoch = page.epoch
            shard.position = max(page.through, shard.position or 0)

    def _fill_later(self, page: Page) -> None:
        if (shard := self._board.get(page.shard)) is not None and shard.stopped is None:
            shard.fill_at = asyncio.get_running_loop().time() + self._settings.fill_longest_pause_s
            self._board.fill(shard, page.through)

    def _forked(self, fork: ForkSeen) -> None:
        shard = self._board.get(fork.shard)
        if shard is None or shard.stopped is None:
            self._observer.forked(fork.shard, str(fork))
        if shard is not None:
            shard.stopped, shard.fill_to = FORKED, None
            self._board.changed.set()

    def _stopped(self, stop: FollowerStopped) -> None:
        shard = self._board.get(stop.shard)
        if stop.kind == FORKED and (shard is None or shard.stopped is None):
            self._observer.forked(stop.shard, str(stop))
        elif stop.kind == FAILED:
            self._observer.trouble("stopped", stop)
        for one in self._board:
            if one.number == stop.shard or stop.kind == FAILED:
                one.stopped = one.stopped or stop.kind
        self._board.changed.set()
