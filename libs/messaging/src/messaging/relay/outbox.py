"""What of each shard is read, sent, acknowledged and stored: the relay's memory, without any I/O."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from eventstore import SHARDS
from messaging.relay.producer import Batch


@dataclass(slots=True)
class _Sent:
    batch: Batch
    since_s: float
    future: "asyncio.Future[object]"


@dataclass(slots=True)
class _Shard:
    read: int
    """Last position that was taken out of the log."""
    acknowledged: int
    """Last position up to which the broker has everything."""
    stored: int
    """Last position that is in the database."""
    generation: int = 0
    """Grows whenever what was read and sent so far counts no more."""
    sent: deque[_Sent] = field(default_factory=deque)


class Outbox:
    """The 64 shards of one connection to the broker."""

    def __init__(self, positions: Mapping[int, int]) -> None:
        self._shards = [
            _Shard(positions[shard], positions[shard], positions[shard]) for shard in range(SHARDS)
        ]
        self._sent_bytes = 0
        self.changed = asyncio.Event()
        """Set when a batch was acknowledged or failed."""

    @property
    def sent_bytes(self) -> int:
        """Bytes that are sent and not acknowledged."""
        return self._sent_bytes

    def read(self, shard: int) -> int:
        """Last position that was taken out of the log."""
        return self._shards[shard].read

    def generation(self, shard: int) -> int:
        """The number of the shard's present beginning: what was read under another counts no more."""
        return self._shards[shard].generation

    def was_read(self, shard: int, through: int) -> None:
        """Events up to this position were taken out of the log."""
        self._shards[shard].read = through

    def was_sent(self, batch: Batch, generation: int, future: "asyncio.Future[object]") -> None:
        """A batch is under way; it counts for nothing when the shard has begun elsewhere meanwhile."""
        if self._shards[batch.shard].generation != generation:
            _unwatch(future)
            return
        self._shards[batch.shard].sent.append(_Sent(batch, time.monotonic(), future))
        self._sent_bytes += batch.size_bytes
        future.add_done_callback(lambda _: self.changed.set())

    def take_acknowledged(self, shard: int) -> int:
        """Go on over the next batches that the broker has; how many events that were.

        Raises what a batch failed with when it is the next one; it and later ones stay.
        """
        one = self._shards[shard]
        events = 0
        while one.sent and one.sent[0].future.done():
            first = one.sent[0]
            if events and first.future.exception() is not None:
                break  # what came before it first
            first.future.result()
            if first.batch.after != one.acknowledged:
                raise AssertionError(f"shard {shard}: {first.batch} does not follow {one.acknowledged}")
            one.sent.popleft()
            self._sent_bytes -= first.batch.size_bytes
            one.acknowledged = first.batch.through
            events += first.batch.events
        return events

    def acknowledged(self, shard: int) -> int:
        """Last position up to which the broker has everything."""
        return self._shards[shard].acknowledged

    def first_sent(self, shard: int) -> Batch | None:
        """The oldest batch of a shard that is under way, or has failed."""
        sent = self._shards[shard].sent
        return sent[0].batch if sent else None

    def overdue(self, after_s: float) -> int | None:
        """A shard with a batch that has been under way for longer than this."""
        begun_s = time.monotonic() - after_s
        for shard, one in enumerate(self._shards):
            if one.sent and one.sent[0].since_s < begun_s and not one.sent[0].future.done():
                return shard
        return None

    def to_store(self) -> list[tuple[int, int, int]]:
        """What is acknowledged and not in the database: shard, stored position, acknowledged position."""
        return [
            (shard, one.stored, one.acknowledged)
            for shard, one in enumerate(self._shards)
            if one.acknowledged != one.stored
        ]

    def was_stored(self, shard: int, position: int) -> None:
        """This position is in the database now."""
        self._shards[shard].stored = position

    def moved_by_others(self, positions: Mapping[int, int]) -> list[int]:
        """The shards whose position in the database is not the one that we stored."""
        return [shard for shard, one in enumerate(self._shards) if positions[shard] != one.stored]

    def begin_at(self, shard: int, position: int) -> None:
        """Read the shard from here again. What is under way counts no more, whatever becomes of it."""
        one = self._shards[shard]
        self._forget(one)
        one.read = one.acknowledged = one.stored = position
        one.generation += 1

    def again(self, shard: int) -> None:
        """Read the shard again from where the broker has everything."""
        one = self._shards[shard]
        self._forget(one)
        one.read = one.acknowledged
        one.generation += 1

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not any(one.sent for one in self._shards)

    def give_up(self) -> None:
        """Wait for nothing any more."""
        for one in self._shards:
            self._forget(one)

    def _forget(self, one: _Shard) -> None:
        for sent in one.sent:
            self._sent_bytes -= sent.batch.size_bytes
            _unwatch(sent.future)
        one.sent.clear()


def _unwatch(future: "asyncio.Future[object]") -> None:
    # Not cancelled: behind it stands another one of aiokafka's, whose error nobody would look at then.
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
