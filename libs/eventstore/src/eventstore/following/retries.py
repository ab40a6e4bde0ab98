"""Trying parked streams again, when someone has asked for it."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from eventstore.events import RecordedEvent
from eventstore.following import parking
from eventstore.following.application import Application, Outcome
from eventstore.following.positions import lock_positions
from eventstore.following.transactions import Fault, Progress, Transactions
from eventstore.postgres.connections import Connection


@dataclass(slots=True)
class _Try:
    """One transaction's worth of kept events: which they are is known once they have been read."""

    stream: str
    shard: int
    size: int
    events: tuple[RecordedEvent, ...] = ()
    unparked: bool = False


@dataclass(frozen=True, slots=True)
class Retries:
    """Carries out the retries that were asked for, in the order of each stream, in bounded batches."""

    application: Application
    transactions: Transactions
    done: Callable[[Outcome, float], None]

    async def carry_out(self, shards: Collection[int] | None, streams_max: int) -> int:
        """Try at most so many streams; returns how many events had their effect."""

        async def requested(connection: Connection, progress: Progress) -> list[tuple[str, int]]:
            progress.reads = True
            return await parking.requested_retries(
                connection, self.application.follower, self.application.source, shards, streams_max
            )

        return sum(
            [await self._stream(stream, shard) for stream, shard in await self.transactions.run(requested)]
        )

    async def _stream(self, stream: str, shard: int) -> int:
        applied = 0
        size = largest = self.transactions.policy.batch_max
        failed_through = 0  # stream position of the last event of a batch that failed
        while True:
            attempt = _Try(stream, shard, size)
            began = time.monotonic()
            try:
                outcome = await self.transactions.run(partial(self._apply, attempt))
            except Fault as fault:
                if len(attempt.events) > 1:
                    failed_through = attempt.events[-1].stream_position
                    size = len(attempt.events) // 2
                    continue
                await self.transactions.run(partial(self._failed, attempt.events[0], fault.error))
                return applied
            self.done(outcome, time.monotonic() - began)
            applied += outcome.events
            if attempt.unparked:
                self.transactions.observer.unparked(
                    self.application.follower, self.application.source, stream
                )
            if attempt.unparked or not attempt.events:
                return applied
            # On the way to the one at fault the steps go on halving; past it they are large again.
            on_the_way = attempt.events[-1].stream_position < failed_through
            size = max(1, size // 2) if on_the_way else largest

    async def _apply(self, attempt: _Try, connection: Connection, progress: Progress) -> Outcome:
        # Under the lock of the position, as all that touches parked streams: later events of the stream are
        # put aside before it or come after it.
        follower, source = self.application.follower, self.application.source
        await lock_positions(connection, follower, source, [attempt.shard])
        attempt.events = await parking.first_parked(
            connection, follower, source, attempt.stream, attempt.size
        )
        if not attempt.events:
            return Outcome()
        appends = await self.application.handle(connection, attempt.events, progress)
        attempt.unparked = await parking.release(
            connection,
            follower,
            source,
            attempt.stream,
            attempt.shard,
            attempt.events[-1].stream_position,
        )
        appended = await self.application.append(connection, appends)
        return Outcome(events=len(attempt.events), appended=appended)

    async def _failed(
        self, event: RecordedEvent, error: BaseException, connection: Connection, _: Progress
    ) -> None:
        follower, source = self.application.follower, self.application.source
        await lock_positions(connection, follower, source, [event.shard])
        await parking.note_failed_again(connection, follower, source, event, error)
