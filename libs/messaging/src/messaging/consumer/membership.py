"""Membership of a consumer group: which shards are ours, and their records. See ADR 0007.

FastStream declares the subscription, aiokafka keeps it up, and our own loop takes the records: a batch leaves
here when it is asked for and not before, and nothing is acknowledged by anyone but us.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import ConsumerStoppedError, IllegalStateError, KafkaError
from faststream import AckPolicy

from eventstore import SHARDS
from messaging.broker import BrokerSettings, kafka_broker
from messaging.consumer.observer import ConsumerObserver
from messaging.consumer.runs import Record
from messaging.consumer.settings import ConsumerSettings
from messaging.topics import Difference, TopicSpec, TopicUnusable, ensure_topics

Records = Mapping[int, Sequence[Record]]
"""Records by shard, each shard's in their order."""

_POSITION_S = 0.1
"""Longest wait for where a partition is read next, which is known but just after a rebalance."""

OnShards = Callable[[Collection[int]], Awaitable[None]]


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Hands rebalances on. aiokafka only logs what this raises."""

    def __init__(self, revoked: OnShards, assigned: OnShards) -> None:
        self._revoked = revoked
        self._assigned = assigned

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        await self._revoked([one.partition for one in revoked])

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        await self._assigned([one.partition for one in assigned])


class Membership:
    """One member of a group. `run` keeps it up for ever; the rest may be called at any time.

    `on_revoked` is awaited before the group goes on without these shards (it may take `revoke_wait_s`),
    `on_assigned` when shards have been given to us; `on_change` is called when there are records to be had.
    """

    def __init__(  # noqa: PLR0913 - what a membership is made of
        self,
        broker: BrokerSettings,
        topic: str,
        group: str,
        *,
        topics: Sequence[TopicSpec],
        settings: ConsumerSettings,
        observer: ConsumerObserver,
        on_revoked: OnShards,
        on_assigned: OnShards,
        on_change: Callable[[], None],
    ) -> None:
        self._broker = broker
        self._topic = topic
        self._group = group
        self._topics = topics
        self._settings = settings
        self._observer = observer
        self._on_revoked = on_revoked
        self._on_assigned = on_assigned
        self._consumer: Any = None  # aiokafka has no types
        self._fetching: asyncio.Task[Records] | None = None
        self._on_change = on_change
        self._differences: set[Difference] = set()
        self._broken = asyncio.Event()
        self._failures = 0
        self.member = False
        """Whether the group has told us our shards, and has not taken them back."""

    async def run(self) -> None:
        """Be a member, and become one again whenever that ends. Leaves the group when cancelled."""
        pause_s = self._settings.broker_first_pause_s
        while True:
            try:
                await self._make_topics()
                async with self._belonging():
                    pause_s = self._settings.broker_first_pause_s
                    await self._watch()
            except (KafkaError, OSError, TimeoutError) as error:
                self._observer.trouble("broker", error)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, self._settings.broker_longest_pause_s)

    async def poll(self, timeout_s: float, woken: asyncio.Event) -> Records:
        """The next records; nothing when none come in time, or when woken.

        Those after them are asked for at once, so that they come while these are applied: one batch ahead. If
        these were all that there was, after `gather_s`: what comes meanwhile is one batch.
        """
        self._ask()
        # aiokafka waits without any limit while a group is being formed: so it is asked in a task of its own.
        waking = asyncio.create_task(woken.wait())
        waiting: set[asyncio.Task[Any]] = {waking} if self._fetching is None else {waking, self._fetching}
        try:
            await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waking.cancel()
        if self._fetching is None or not self._fetching.done():
            return {}
        fetched, self._fetching = self._fetching, None
        records: Records = {} if fetched.cancelled() else fetched.result()
        few = 0 < sum(map(len, records.values())) < self._settings.batch_records
        self._ask(self._settings.gather_s if few else 0.0)
        return records

    def _ask(self, after_s: float = 0.0) -> None:
        if self._fetching is None and self._consumer is not None and not self._broken.is_set():
            self._fetching = asyncio.create_task(self._fetch(self._consumer, after_s))

    def listen_only_to(self, shards: Collection[int]) -> None:
        """Take records of these shards alone, of those that are ours. A rebalance forgets this."""
        if self._consumer is None:
            return
        with contextlib.suppress(IllegalStateError):  # they have just been taken away
            paused = self._consumer.paused()
            for partition in self._consumer.assignment():
                if partition.partition in shards and partition in paused:
                    self._consumer.resume(partition)
                elif partition.partition not in shards and partition not in paused:
                    self._consumer.pause(partition)

    async def has_more(self, shard: int) -> bool:
        """Whether the shard's partition has records that were not taken, by the broker's last answer."""
        partition = TopicPartition(self._topic, shard)
        if self._consumer is None or partition not in self._consumer.assignment():
            return False
        end = self._consumer.highwater(partition)
        if end is None:
            return True  # it has not been asked for this partition yet
        try:
            async with asyncio.timeout(_POSITION_S):
                next_offset: int = await self._consumer.position(partition)
        except (KafkaError, TimeoutError):
            return False
        return bool(next_offset < end)

    async def commit(self, offsets: Mapping[int, int], *, timeout_s: float) -> bool:
        """Tell Kafka the next offsets of shards; whether it has noted them. If not, a restart is slower."""
        if self._consumer is None or not offsets:
            return False
        partitions = {TopicPartition(self._topic, shard): offset for shard, offset in offsets.items()}
        try:
            async with asyncio.timeout(timeout_s):
                await self._consumer.commit(partitions)
        except (KafkaError, TimeoutError) as error:
            self._observer.trouble("commit", error)
            return False
        return True

    async def _make_topics(self) -> None:
        timeout_s = self._settings.broker_timeout_s
        try:
            differences = await ensure_topics(self._broker, self._topics, timeout_s=timeout_s)
        except TopicUnusable as error:
            # It may not be ours to make, and be there all the same: joining the group will tell.
            self._observer.trouble("topics", error)
            return
        for difference in differences:
            if difference not in self._differences:
                self._differences.add(difference)
                self._observer.topic_differs(str(difference))

    @contextlib.asynccontextmanager
    async def _belonging(self) -> AsyncIterator[None]:
        settings = self._settings
        broker = kafka_broker(self._broker)
        subscriber = broker.subscriber(
            self._topic,
            group_id=self._group,
            listener=_Listener(self._revoked, self._assigned),
            ack_policy=AckPolicy.MANUAL,
            batch=True,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=settings.fetch_max_wait_ms,
            fetch_max_bytes=settings.fetch_max_bytes,
            max_partition_fetch_bytes=settings.partition_fetch_bytes,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            rebalance_timeout_ms=settings.rebalance_timeout_ms,
            max_poll_interval_ms=settings.max_poll_interval_ms,
        )
        try:
            async with asyncio.timeout(settings.join_timeout_s):
                await broker.connect()
                # Without a handler it runs no loop of its own: the consumer is ours to ask.
                await subscriber.start()
            self._broken.clear()
            self._failures = 0
            self._consumer = subscriber.consumer
            self._on_change()
            yield
        finally:
            # What is under way may end, and Kafka is told of it if it can be.
            if self._broken.is_set():
                self._consumer = None
            self._broken.set()
            if self._fetching is not None:
                self._fetching.cancel()
            if self.member:
                await self._revoked(range(SHARDS))
            self._consumer = None
            await _leave(subscriber, settings.leave_timeout_s)
            await broker.stop()

    async def _watch(self) -> None:
        """Until it is broken: see that the topic has its partitions, which a broker that lost all has not."""
        while not self._broken.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.topics_interval_s):
                    await self._broken.wait()
            known = self._consumer.partitions_for_topic(self._topic)
            if known is None or len(known) < SHARDS:
                await self._make_topics()

    async def _fetch(self, consumer: Any, after_s: float) -> Records:  # noqa: ANN401 - aiokafka has no types
        settings = self._settings
        await asyncio.sleep(after_s)
        try:
            found = await consumer.getmany(
                timeout_ms=round(settings.poll_s * 1_000), max_records=settings.batch_records
            )
        except ConsumerStoppedError:
            return {}
        except Exception as error:  # noqa: BLE001 - whatever cannot be unpacked: Kafka must not end a consumer
            self._observer.trouble("records", error)
            self._failures += 1
            if self._failures >= settings.failures_until_rejoin:
                self._broken.set()
            else:
                await asyncio.sleep(settings.broker_first_pause_s)
            return {}
        self._failures = 0
        return {partition.partition: records for partition, records in found.items()}

    async def _revoked(self, shards: Collection[int]) -> None:
        self.member = False
        await self._on_revoked(shards)

    async def _assigned(self, shards: Collection[int]) -> None:
        self.member = True
        await self._on_assigned(shards)


async def _leave(subscriber: Any, timeout_s: float) -> None:  # noqa: ANN401 - the consumer in it has no types
    consumer = subscriber.consumer
    try:
        async with asyncio.timeout(timeout_s):
            await subscriber.stop()
    except (KafkaError, TimeoutError):
        # Interrupted it leaves its tasks and connections behind.
        if consumer is None:
            return
        with contextlib.suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(timeout_s):
                if consumer._fetcher is not None:  # noqa: SLF001 - there is no public way
                    await consumer._fetcher.close()  # noqa: SLF001 - likewise
                await consumer._client.close()  # noqa: SLF001 - likewise
