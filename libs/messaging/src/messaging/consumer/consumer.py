"""A consumer of another service's events: over Kafka, and over the feed what Kafka does not bring."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from eventstore import EventFilter
from eventstore.events import EVERYTHING
from eventstore.following import Applier, DatabaseAway, Page
from messaging.broker import BrokerSettings
from messaging.consumer.board import Board, Shard
from messaging.consumer.delivering import Delivery
from messaging.consumer.filling import Filler
from messaging.consumer.heads_watch import HeadsWatch
from messaging.consumer.membership import Membership, Records
from messaging.consumer.observer import ConsumerObserver, Logged
from messaging.consumer.runs import Record, pages_of
from messaging.consumer.settings import ConsumerSettings
from messaging.consumer.troubles import PASSING
from messaging.dead_letters.sender import DeadLetterSender
from messaging.faults import reach
from messaging.feed import Feed
from messaging.topics import TopicSettings, topic_of, topics_of

DEFAULT_SETTINGS = ConsumerSettings()
ONE_CLUSTER = TopicSettings()


@dataclass(frozen=True, slots=True)
class ConsumerStatus:
    """How a consumer stands, for readiness and for people."""

    connected: bool
    """Whether it is a member of its group."""
    shards: int
    """How many shards are its own."""
    lag: int | None
    """Events still to come in these when the source was last asked; None: it has not been asked."""
    lag_age_s: float | None
    """How long ago that was, in seconds: a source that does not answer says nothing about the lag."""
    stopped: tuple[int, ...]
    """Shards that stand still until a person has looked."""
    filling: tuple[int, ...]
    """Shards that are read over the feed."""


class Consumer:
    """Follows one service's log for one follower. Several of one group share its shards.

    The position in the database decides which events still have no effect: see `eventstore.following`. Kafka
    is where events come from quickly, its committed offsets are a hint; the feed is where they come from for
    certain. `run` once; everything it opens it closes. It keeps no connection of the pool, and takes up to
    five for moments. `group`: the Kafka group, unless it is to be named after follower and source.
    """

    def __init__(  # noqa: PLR0913 - what a consumer is made of; the last six have defaults that fit most
        self,
        applier: Applier,
        feed: Feed,
        broker: BrokerSettings,
        *,
        topic: str | None = None,
        group: str | None = None,
        wanted: EventFilter = EVERYTHING,
        topic_settings: TopicSettings = ONE_CLUSTER,
        settings: ConsumerSettings = DEFAULT_SETTINGS,
        observer: ConsumerObserver | None = None,
        dead_letters: DeadLetterSender | None = None,
    ) -> None:
        self._applier = applier
        self._feed = feed
        self._wanted = wanted
        self._settings = settings
        self._observer = Logged() if observer is None else observer
        self._topic = topic_of(applier.source) if topic is None else topic
        self._board = Board()
        self._delivery = Delivery(applier, feed, self._board, settings, self._observer)
        self._dead_letters = dead_letters
        self._membership = Membership(
            broker,
            self._topic,
            f"{applier.follower}-{applier.source}" if group is None else group,
            topics=topics_of(self._topic, topic_settings),
            settings=settings,
            observer=self._observer,
            on_revoked=self._revoked,
            on_assigned=self._assigned,
            on_change=self._board.changed.set,
        )
        self._filler = Filler(feed, self._board, self._delivery, wanted, settings, self._observer)
        self._heads = HeadsWatch(applier, self._board, self._delivery, settings, self._observer)
        self._stopping = asyncio.Event()

    async def run(self, ending: asyncio.Event | None = None) -> None:
        """Follow until told to `stop`, or until `ending` is set.

        Then the batch under way is ended, Kafka told, and the group left: that takes milliseconds, and 20 s
        at the longest, when neither broker nor database answers. Raises HandlerUnfit, and whatever nobody
        expected.
        """
        settings = self._settings
        try:
            async with asyncio.TaskGroup() as tasks:
                jobs = [
                    tasks.create_task(one)
                    for one in (
                        self._membership.run(),
                        self._deliver(),
                        self._filler.run(),
                        self._every(settings.heads_interval_s, "heads", self._look_at_heads),
                        self._every(settings.retry_interval_s, "parked", self._see_to_parked),
                        self._every(settings.commit_interval_s, "commit", self._commit),
                        self._stop_when(ending),
                    )
                ]
                await self._stopping.wait()
                await self._delivery.wait_until_idle(settings.stop_timeout_s)
                for job in jobs:
                    job.cancel()
        except BaseExceptionGroup as group:
            # The group ends with its first failure: the others were cancelled.
            raise group.exceptions[0] from None

    def stop(self) -> None:
        """Let `run` end. May be called from a signal's handler."""
        self._stopping.set()
        self._board.changed.set()

    async def _stop_when(self, ending: asyncio.Event | None) -> None:
        if ending is not None:
            await ending.wait()
            self.stop()

    @property
    def status(self) -> ConsumerStatus:
        """How it stands now, from memory."""
        lags = [shard.lag for shard in self._board]
        compared_at = self._heads.compared_at
        return ConsumerStatus(
            self._membership.member,
            len(self._board),
            sum(lag for lag in lags if lag is not None) if None not in lags else None,
            None if compared_at is None else asyncio.get_running_loop().time() - compared_at,
            tuple(shard.number for shard in self._board if shard.stopped is not None),
            tuple(shard.number for shard in self._board if shard.fill_to is not None),
        )

    async def _deliver(self) -> None:
        while not self._stopping.is_set():
            self._board.changed.clear()
            await self._read_positions()
            self._membership.listen_only_to({shard.number for shard in self._board if shard.takes_records})
            records = await self._membership.poll(self._settings.poll_s, self._board.changed)
            if records and not self._stopping.is_set():
                async with self._delivery.under_way():
                    await self._take(records)

    async def _take(self, records: Records) -> None:
        await self._read_positions()  # shards may have come since
        # A round for each page that a shard has: nearly always it has one.
        queues: dict[int, list[Page]] = {}
        for number, of_shard in records.items():
            # Of a shard that is filled, or stands still, only what was on its way comes: it comes again.
            if (shard := self._open(number)) is not None:
                pages = list(pages_of(self._applier.source, of_shard, self._wanted, self._garbage))
                shard.deliveries += any(page.through > (shard.position or 0) for page in pages)
                queues[number] = pages[::-1]
        while queues:
            await self._delivery.apply([pages.pop() for pages in queues.values() if pages])
            queues = {number: pages for number, pages in queues.items() if pages and self._open(number)}
        for number, of_shard in records.items():
            if (shard := self._open(number)) is not None:
                shard.offset = of_shard[-1].offset + 1

    def _open(self, number: int) -> Shard | None:
        """The shard, if it is ours and Kafka's records of it are taken."""
        shard = self._board.get(number)
        return shard if shard is not None and shard.takes_records else None

    def _garbage(self, record: Record, why: str) -> None:
        self._observer.garbage(self._topic, record.partition, record.offset, why)

    async def _read_positions(self) -> None:
        while self._board.unread():
            try:
                await self._delivery.read_positions()
            except DatabaseAway as error:
                self._observer.trouble("database", error)
                await asyncio.sleep(self._settings.database_pause_s)

    async def _look_at_heads(self) -> None:
        await self._heads.look(member=self._membership.member, more_in_kafka=self._membership.has_more)

    async def _see_to_parked(self) -> None:
        ours = [shard.number for shard in self._board if shard.position is not None]
        if not ours:
            return
        await self._applier.retry_parked(ours)
        if self._dead_letters is not None and (sent := await self._dead_letters.send(ours)):
            self._observer.dead_letters(sent)

    async def _commit(self) -> None:
        await self._tell_kafka(self._settings.broker_timeout_s)

    async def _tell_kafka(self, timeout_s: float) -> None:
        offsets = {
            shard.number: shard.offset
            for shard in self._board
            if shard.offset is not None and shard.offset != shard.committed
        }
        if await self._membership.commit(offsets, timeout_s=timeout_s):
            for number, offset in offsets.items():
                if (shard := self._board.get(number)) is not None:
                    shard.committed = offset
            reach("consumer.committed")

    async def _every(self, interval_s: float, what: str, action: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                await action()
            except PASSING as error:
                self._observer.trouble(what, error)

    async def _assigned(self, shards: Collection[int]) -> None:
        self._board.assign(shards)
        self._observer.assigned(len(shards), by_group=True)

    async def _revoked(self, shards: Collection[int]) -> None:
        if any(self._board.get(number) for number in shards):
            reach("consumer.revoked")
            wait_s = self._settings.revoke_wait_s / 2
            await self._delivery.wait_until_idle(wait_s)
            await self._tell_kafka(wait_s)
            self._board.drop(shards)
