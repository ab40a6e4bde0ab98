"""Publishing over one connection to the broker, until something ends it.

Two tasks side by side: one reads the log and sends, the other hears what the broker has and stores positions.
A position is stored only when everything up to it is acknowledged.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Final, TypeVar

from aiokafka.errors import (
    InvalidTimestampError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    PolicyViolationError,
    RecordListTooLargeError,
    UnknownError,
)

from eventstore import SHARDS, HistoryDetached, LogBroken
from eventstore.coordination.outages import bounded_call
from eventstore.postgres import Connection, Pool
from eventstore.postgres.reading import shard_heads
from eventstore.postgres.wake_up import Listener
from messaging.faults import reach
from messaging.relay.observer import RelayObserver
from messaging.relay.outbox import Outbox
from messaging.relay.positions import Found, look_at_positions, store_positions
from messaging.relay.producer import Batch, Producer
from messaging.relay.reading import Turn, read_turn
from messaging.relay.settings import RelaySettings
from messaging.relay.troubles import Troubles

T = TypeVar("T")

# What the broker says of one batch alone: the others of its connection are not concerned.
_TOO_LARGE: Final = (MessageSizeTooLargeError, RecordListTooLargeError)
_OF_ONE_SHARD: Final = (
    *_TOO_LARGE,
    InvalidTimestampError,
    PolicyViolationError,
    UnknownError,
    LogBroken,
    HistoryDetached,
)

_Read = list[tuple[int, int, list[Batch]]]
"""Shard, its generation when it was read, its batches."""


class Session:
    """One connection's work. `found`: the positions that were claimed under `token`."""

    def __init__(  # noqa: PLR0913 - put together in one place only
        self,
        pool: Pool,
        producer: Producer,
        topic: str,
        token: int,
        found: Found,
        *,
        settings: RelaySettings,
        observer: RelayObserver,
        troubles: Troubles,
    ) -> None:
        self._pool = pool
        self._producer = producer
        self._topic = topic
        self._token = token
        self._epoch = found.epoch
        self._outbox = Outbox(found.positions)
        self._settings = settings
        self._observer = observer
        self._troubles = troubles
        self._first = 0
        self._gathers_until_s = 0.0
        self._heard = asyncio.Event()
        self.progressed = False
        """Whether anything was acknowledged."""

    async def run(self, stopping: asyncio.Event) -> None:
        """Publish until `stopping` is set, then finish what is under way, within `stop_timeout_s`.

        Raises LeaseLost, KafkaError, TopicUnusable, or what asyncpg raises.
        """
        listener = Listener(self._pool)
        try:
            with listener.sleeper() as woken:
                storing = asyncio.ensure_future(self._store(woken))
                sending = asyncio.ensure_future(self._send(woken))
                stopped = asyncio.ensure_future(stopping.wait())
                try:
                    await asyncio.wait([storing, sending, stopped], return_when=asyncio.FIRST_COMPLETED)
                    for one in (storing, sending):
                        if one.done():
                            one.result()
                finally:
                    await _end(storing, sending, stopped)
                await self._finish()
        finally:
            self._outbox.give_up()
            await listener.close()

    async def _finish(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.stop_timeout_s):
                self._hear()
                while not self._outbox.idle:
                    await self._outbox.changed.wait()
                    self._outbox.changed.clear()
                    self._hear()
        await self._store_once()

    async def _send(self, woken: asyncio.Event) -> None:
        ahead = asyncio.ensure_future(self._read(woken))
        try:
            while True:
                read = await ahead
                ahead = asyncio.ensure_future(self._read(woken))  # the next turn, while this one is sent
                for shard, generation, batches in read:
                    for batch in batches:
                        await self._until_there_is_room(batch)
                        if self._outbox.generation(shard) == generation:
                            await self._send_one(batch, generation)
        finally:
            await _end(ahead)

    async def _until_there_is_room(self, batch: Batch) -> None:
        # It ends: what is under way is acknowledged in time, or the session ends.
        while (
            self._outbox.sent_bytes > 0
            and self._outbox.sent_bytes + batch.size_bytes > self._settings.unacknowledged_bytes
        ):
            self._heard.clear()
            await self._heard.wait()

    async def _send_one(self, batch: Batch, generation: int) -> None:
        try:
            future = await self._producer.send(batch)
        except KafkaTimeoutError:
            self._troubles.failed(batch.shard)
            raise
        self._outbox.was_sent(batch, generation, future)

    async def _read(self, woken: asyncio.Event) -> _Read:
        """The next turn's batches, as soon as there are any; under load, of all that gathered meanwhile."""
        await asyncio.sleep(max(0.0, self._gathers_until_s - time.monotonic()))
        while True:
            # Cleared before looking: whatever is appended after the look sets it again.
            woken.clear()
            began_s = time.monotonic()
            heads = await self._call(shard_heads)
            spans = self._spans(heads)
            if spans:
                generations = {shard: self._outbox.generation(shard) for shard in spans}
                turn, broken = await self._turn(spans)
                for shard, error in broken.items():
                    self._shard_failed(shard, error)
                if made := self._made(turn, generations):
                    if sum(map(len, turn.values())) < self._settings.turn_events // 2:
                        self._gathers_until_s = began_s + self._settings.gather_s
                    reach("relay.page_read")
                    return made
            await self._sleep(woken)

    async def _turn(self, spans: dict[int, tuple[int, int]]) -> tuple[Turn, dict[int, Exception]]:
        return await self._call(lambda connection: read_turn(connection, spans, self._settings.turn_bytes))

    def _spans(self, heads: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """What is to be read next of each shard that is behind; another one is the first each time."""
        self._observer.lag(
            sum(max(0, head - self._outbox.acknowledged(shard)) for shard, head in enumerate(heads))
        )
        behind: list[int] = []
        for shard in (*range(self._first, SHARDS), *range(self._first)):
            if self._troubles.paused(shard):
                continue
            if self._outbox.read(shard) > heads[shard]:
                error = LogBroken(f"shard {shard}: published beyond its head {heads[shard]}")
                self._shard_failed(shard, error)
            elif self._outbox.read(shard) < heads[shard]:
                behind.append(shard)
        each = max(1, self._settings.turn_events // max(1, len(behind)))
        return {
            shard: (after := self._outbox.read(shard), min(after + each, heads[shard])) for shard in behind
        }

    def _made(self, turn: Turn, generations: dict[int, int]) -> _Read:
        made: _Read = []
        for shard, events in turn.items():
            if self._outbox.generation(shard) != generations[shard]:
                continue  # it begins elsewhere since it was read
            most = self._troubles.most_events(shard)
            made.append((shard, generations[shard], self._producer.batches(shard, events, self._epoch, most)))
            self._outbox.was_read(shard, events[-1].shard_position)
            self._first = (shard + 1) % SHARDS
        return made

    async def _sleep(self, woken: asyncio.Event) -> None:
        retry_s = self._troubles.next_retry_s()
        poll_s = self._settings.poll_interval_s
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(poll_s if retry_s is None else min(poll_s, retry_s)):
                await woken.wait()

    async def _store(self, woken: asyncio.Event) -> None:
        looked_s = time.monotonic()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.poll_interval_s):
                    await self._outbox.changed.wait()
            self._outbox.changed.clear()
            self._hear()
            complete = await self._store_once()
            if not complete or time.monotonic() - looked_s >= self._settings.poll_interval_s:
                await self._look(woken)
                looked_s = time.monotonic()
            self._check_overdue()
            # What is acknowledged meanwhile is stored together.
            await asyncio.sleep(self._settings.store_interval_s)

    def _hear(self) -> None:
        """Take note of everything that the broker has said."""
        for shard in range(SHARDS):
            try:
                while events := self._outbox.take_acknowledged(shard):
                    self.progressed = True
                    self._troubles.succeeded(shard)
                    self._observer.acknowledged(shard, events, self._outbox.acknowledged(shard))
            except _OF_ONE_SHARD as error:
                self._shard_failed(shard, error)
        self._heard.set()

    async def _store_once(self) -> bool:
        """Store what is acknowledged. False when someone else moved a position of ours."""
        moves = self._outbox.to_store()
        if not moves:
            return True
        reach("relay.acknowledged")
        storing = asyncio.ensure_future(
            self._call(lambda connection: store_positions(connection, self._topic, self._token, moves))
        )
        try:
            moved = await asyncio.shield(storing)
        except asyncio.CancelledError:
            # Told to stop in the middle. What the database does has to be known, or the last store would
            # begin from where these positions were, move nothing, and all since be published again.
            await asyncio.wait([storing])  # it has a limit of its own
            if storing.exception() is None:
                self._stored(moves, storing.result())
            raise
        reach("relay.position_stored")
        self._stored(moves, moved)
        return len(moved) == len(moves)

    def _stored(self, moves: Sequence[tuple[int, int, int]], moved: Collection[int]) -> None:
        for shard, _, through in moves:
            if shard in moved:
                self._outbox.was_stored(shard, through)
        self._observer.stored(len(moved))

    async def _look(self, woken: asyncio.Event) -> None:
        found = await self._call(lambda connection: look_at_positions(connection, self._topic, self._token))
        self._epoch = found.epoch
        for shard in self._outbox.moved_by_others(found.positions):
            position = found.positions[shard]
            self._outbox.begin_at(shard, position)
            self._observer.reset(shard, position)
            woken.set()

    def _check_overdue(self) -> None:
        timeout_s = self._settings.acknowledge_timeout_s
        shard = self._outbox.overdue(timeout_s)
        if shard is not None:
            self._troubles.failed(shard)
            raise KafkaTimeoutError(f"shard {shard}: a batch was not acknowledged within {timeout_s} s")

    def _shard_failed(self, shard: int, error: Exception) -> None:
        first = self._outbox.first_sent(shard)
        if isinstance(error, _TOO_LARGE) and first is not None:
            self._troubles.too_large(shard, first.events)
        self._outbox.again(shard)
        self._observer.shard_failed(shard, error, self._troubles.failed(shard))

    async def _call(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        return await bounded_call(self._pool, self._settings.database_timeout_s, work)


async def _end(*tasks: "asyncio.Future[Any]") -> None:
    for one in tasks:
        one.cancel()
    await asyncio.wait(tasks)
    for one in tasks:
        if not one.cancelled():
            one.exception()  # seen: only one error can be raised
