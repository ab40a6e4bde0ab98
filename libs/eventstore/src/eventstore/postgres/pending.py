"""Callers that wait for their append."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

from eventstore.events import Appended
from eventstore.postgres.append_call import Request


@dataclass(slots=True, eq=False)
class Pending:
    """One caller's request, and where its answer goes. The future is done early when the caller has gone."""

    request: Request
    answer: "asyncio.Future[tuple[Appended, ...]]"
    shards: frozenset[int]
    events: int
    size_bytes: int
    sent: bool = False
    """Whether it was sent to the database, and may be stored for all that is known."""
    lost: bool = False
    """Whether the connection was lost after it was sent: that try may be stored, now or a little later."""

    @property
    def event_ids(self) -> tuple[UUID, ...]:
        """The ids to look for when the outcome is not known."""
        return tuple(event.event_id for leg in self.request for event in leg.events)

    @property
    def lane_shard(self) -> int:
        """The shard that decides in which queue it waits."""
        return min(self.shards)

    def fail(self, error: Exception) -> None:
        """Tell the caller, if it still waits."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def succeed(self, appended: tuple[Appended, ...]) -> None:
        """Tell the caller, if it still waits."""
        if not self.answer.done():
            self.answer.set_result(appended)


@dataclass(slots=True)
class PendingQueue:
    """First in, first out. Batches are bounded; event ids are never twice in one."""

    batch_events: int
    batch_bytes: int
    waiting: deque[Pending] = field(default_factory=deque)

    def take_batch(self) -> list[Pending]:
        """The callers at the front whose requests fit in one batch, at least one if any still waits."""
        batch: list[Pending] = []
        events = size_bytes = 0
        ids: set[UUID] = set()
        while self.waiting:
            pending = self.waiting[0]
            if pending.answer.done():  # the caller has gone: it is not stored
                self.waiting.popleft()
                continue
            fits = (
                events + pending.events <= self.batch_events
                and size_bytes + pending.size_bytes <= self.batch_bytes
            )
            if batch and not (fits and ids.isdisjoint(pending.event_ids)):
                break
            self.waiting.popleft()
            batch.append(pending)
            events += pending.events
            size_bytes += pending.size_bytes
            if self.waiting:
                ids.update(pending.event_ids)
        return batch
