"""Group commit: while one batch is being committed the next one queues, and is sent the moment that ends.

No caller waits for a timer. Each lane has a connection and serves the streams of some shards, so two
callers of one stream are served in their order. A shard that someone else holds is set aside: its callers
wait for it in a queue of their own, and the lane goes on with all others.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Self

from eventstore.checking import check_appends
from eventstore.errors import AppenderClosed, DeadlineExceeded, OutcomeUnknown, Overloaded
from eventstore.events import Appended, Expected, NewEvent, StreamAppend
from eventstore.faults import reach
from eventstore.port import DEFAULT_TIMEOUT_S
from eventstore.postgres.append_call import shards_of
from eventstore.postgres.batch_sender import BatchSender, OnStored, Retrying
from eventstore.postgres.connections import Pool
from eventstore.postgres.pending import Pending, PendingQueue
from eventstore.private import Keyring


@dataclass(frozen=True, slots=True)
class AppenderLimits:
    """Bounds of the appender. What does not fit in the queue is refused at once (Overloaded)."""

    lanes: int = 2
    """Connections that commit at the same time; a shard belongs to one of them.

    With two, one group is made while the other is committed. One alone makes larger groups and costs the
    server a quarter less; it is better where the processor is what is short.
    """
    batch_events: int = 2_000
    batch_bytes: int = 8_000_000
    queue_appends: int = 20_000
    queue_bytes: int = 128_000_000
    side_connections: int = 4
    """Most shards held by others that are waited for at the same time."""


DEFAULT_APPENDER_LIMITS = AppenderLimits()
DEFAULT_RETRYING = Retrying()

_NewSender = Callable[[], BatchSender]


class GroupAppender:
    """The `Appender` of Postgres. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        pool: Pool,
        *,
        on_stored: OnStored,
        keyring: Keyring | None = None,
        limits: AppenderLimits = DEFAULT_APPENDER_LIMITS,
        retrying: Retrying = DEFAULT_RETRYING,
    ) -> None:
        self._limits = limits
        self._waiting = 0
        self._waiting_bytes = 0
        self._closed = False
        side = asyncio.Semaphore(limits.side_connections)
        self._lanes = [
            _Lane(lambda: BatchSender(pool, keyring, retrying, on_stored), limits, side)
            for _ in range(limits.lanes)
        ]

    @property
    def waiting(self) -> int:
        """Callers that wait for an answer: a metric."""
        return self._waiting

    async def append(
        self,
        stream: str,
        events: Sequence[NewEvent],
        *,
        expected: Expected,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Appended:
        """See `port.Appender`."""
        (appended,) = await self.append_all([StreamAppend(stream, expected, events)], timeout_s=timeout_s)
        return appended

    async def append_all(
        self, appends: Sequence[StreamAppend], *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> tuple[Appended, ...]:
        """See `port.Appender`. A caller that is cancelled before its batch was sent has stored nothing."""
        pending = self._admit(appends)
        try:
            async with asyncio.timeout(timeout_s):
                return await pending.answer
        except TimeoutError as error:
            if not pending.answer.cancelled():
                return pending.answer.result()  # it came in the same instant
            if pending.sent:
                raise OutcomeUnknown(pending.event_ids, f"no answer within {timeout_s} s") from error
            raise DeadlineExceeded(f"not begun within {timeout_s} s") from error
        finally:
            if not pending.answer.cancel() and not pending.answer.cancelled():
                pending.answer.exception()  # seen, even when the caller was cancelled in the same instant
            self._waiting -= 1
            self._waiting_bytes -= pending.size_bytes

    def _admit(self, appends: Sequence[StreamAppend]) -> Pending:
        check_appends(appends)
        if self._closed:
            raise AppenderClosed("the appender is closed")
        size_bytes = sum(len(event.content) for one in appends for event in one.events)
        if self._waiting >= self._limits.queue_appends:
            raise Overloaded(f"{self._waiting} appends wait already")
        if self._waiting and self._waiting_bytes + size_bytes > self._limits.queue_bytes:
            raise Overloaded(f"{self._waiting_bytes} bytes wait already")
        pending = Pending(
            tuple(appends),
            asyncio.get_running_loop().create_future(),
            shards_of(appends),
            sum(len(one.events) for one in appends),
            size_bytes,
        )
        self._waiting += 1
        self._waiting_bytes += size_bytes
        self._lanes[pending.lane_shard % len(self._lanes)].put(pending)
        reach("append.queued")
        return pending

    async def close(self) -> None:
        """Refuse new callers, answer those that wait, give the connections back."""
        self._closed = True
        await asyncio.gather(*(lane.close() for lane in self._lanes))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Lane:
    """One queue, one connection, one batch at a time."""

    def __init__(self, new_sender: _NewSender, limits: AppenderLimits, side: asyncio.Semaphore) -> None:
        self._new_sender = new_sender
        self._sender = new_sender()
        self._limits = limits
        self._side = side
        self._queue = self._new_queue()
        self._set_aside: dict[int, PendingQueue] = {}
        self._worker: asyncio.Task[None] | None = None
        self._side_tasks: set[asyncio.Task[None]] = set()

    def put(self, pending: Pending) -> None:
        """Queue a caller, and see that someone serves it."""
        self._queue.waiting.append(pending)
        if self._worker is None:
            # In no caller's context: the worker serves many, and outlives this one's trace.
            self._worker = asyncio.create_task(self._work(), name="eventstore appender", context=Context())

    async def close(self) -> None:
        """Wait until everyone is answered."""
        while self._worker is not None or self._side_tasks:
            await asyncio.gather(*([self._worker] if self._worker else []), *self._side_tasks)
        await self._sender.close()

    def _new_queue(self) -> PendingQueue:
        return PendingQueue(self._limits.batch_events, self._limits.batch_bytes)

    async def _work(self) -> None:
        # Lives while there is work. A defect must not leave callers waiting for ever: they are told.
        batch: list[Pending] = []
        try:
            while self._queue.waiting:
                batch = self._without_set_aside(self._queue.take_batch())
                for pending, busy in await self._sender.send(batch, wait_for_shards=False):
                    self._put_aside(pending, busy.shard)
        except BaseException as error:
            for pending in batch:
                pending.fail(OutcomeUnknown(pending.event_ids, f"the appender broke ({error!r})"))
            for pending in self._queue.waiting:
                pending.fail(AppenderClosed(f"the appender broke ({error!r})"))
            self._queue.waiting.clear()
            raise
        finally:
            self._worker = None

    def _without_set_aside(self, batch: list[Pending]) -> list[Pending]:
        rest = []
        for pending in batch:
            held = next((shard for shard in pending.shards if shard in self._set_aside), None)
            if held is None:
                rest.append(pending)
            else:
                self._put_aside(pending, held)
        return rest

    def _put_aside(self, pending: Pending, shard: int) -> None:
        queue = self._set_aside.get(shard)
        if queue is None:
            queue = self._set_aside[shard] = self._new_queue()
            task = asyncio.create_task(
                self._work_aside(shard, queue),
                name=f"eventstore appender, shard {shard}",
                context=Context(),
            )
            self._side_tasks.add(task)
            task.add_done_callback(self._side_tasks.discard)
        queue.waiting.append(pending)

    async def _work_aside(self, shard: int, queue: PendingQueue) -> None:
        sender = self._new_sender()
        batch: list[Pending] = []
        try:
            async with self._side:
                while queue.waiting:
                    batch = queue.take_batch()
                    await sender.send(batch, wait_for_shards=True)
        except BaseException as error:
            for pending in [*batch, *queue.waiting]:
                pending.fail(OutcomeUnknown(pending.event_ids, f"the appender broke ({error!r})"))
            raise
        finally:
            # No await between the last look at the queue and this: nobody can have been put aside in between.
            del self._set_aside[shard]
            await sender.close()
