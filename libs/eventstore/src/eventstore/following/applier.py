"""The engine: events of a log, applied once each."""

import asyncio
import time
from collections.abc import Collection, Sequence
from functools import partial

from eventstore.events import RecordedEvent
from eventstore.following import parking, positions, stops
from eventstore.following.application import Application, Outcome, Tally
from eventstore.following.batches import Batch, batches_of, halves, size_of
from eventstore.following.errors import FollowerStopped, ForkSeen, TooManyKept
from eventstore.following.failures import text_of
from eventstore.following.handler import Announcer, Handler
from eventstore.following.observer import Observer, Silent
from eventstore.following.pages import Applied, Page, Position
from eventstore.following.policy import DEFAULT_POLICY, Policy, WhenFailing
from eventstore.following.retries import Retries
from eventstore.following.transactions import Fault, Progress, Transactions
from eventstore.postgres.connections import Connection, Pool
from eventstore.private import Keyring


class Applier:
    """Applies events of one source for one follower, each exactly once, in transactions with the position.

    Holds no state but its arguments: the positions in the database decide, locked in each transaction, so any
    number of appliers for the same follower may run at once, in any number of processes (they only waste
    work). `source` is `OWN` for this database's own log, else the name of the service. `store` is told what
    handlers appended, `keyring` is for private parts of that. Methods may be called from several tasks.
    """

    def __init__(  # noqa: PLR0913 - the last four have defaults that fit most
        self,
        pool: Pool,
        follower: str,
        source: str,
        handler: Handler,
        *,
        policy: Policy = DEFAULT_POLICY,
        store: Announcer | None = None,
        keyring: Keyring | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.follower = follower
        self.source = source
        self._policy = policy
        self._observer = Silent() if observer is None else observer
        self._transactions = Transactions(pool, follower, source, policy, self._observer)
        self._application = Application(follower, source, handler, keyring, policy.parked_events_max)
        self._retries = Retries(self._application, self._transactions, self._announce)
        self._store = store

    async def positions(self, shards: Collection[int]) -> dict[int, Position]:
        """Where this follower stands, by shard; rows that are missing are made, at 0.

        A stopped shard is among them and says so (`Position.stopped`). Raises DatabaseAway.
        """

        async def read(connection: Connection, progress: Progress) -> dict[int, Position]:
            progress.reads = True
            found = await positions.read_positions(connection, self.follower, self.source, shards)
            if len(found) < len(set(shards)):
                await positions.make_positions(connection, self.follower, self.source, shards)
                found = await positions.read_positions(connection, self.follower, self.source, shards)
            return found

        return await self._transactions.run(read)

    async def apply(self, pages: Sequence[Page]) -> Applied:
        """Give the pages' events their effect: several shards in one transaction, at most one page a shard.

        Events at or before the known position are left out, their hashes compared. When more than `batch_max`
        events come, or some fail, it takes several transactions; when this raises, earlier ones of them may
        have been committed, and the positions tell.

        Raises Gap (the caller reads what is missing), ForkSeen (first seen, and noted), EpochChanged (the
        caller calls `check_heads`), each before anything of its transaction; FollowerStopped (all shards; or
        `forked`: leave that shard out); DatabaseAway; HandlerUnfit; or what the database says of a statement
        of ours (a table is missing, or a right).
        """
        tally = Tally()
        todo = batches_of(pages, self._policy.batch_max)[::-1]
        while todo:
            batch = todo.pop()
            try:
                tally.add(await self._applied(batch))
            except (Fault, TooManyKept) as fault:
                if size_of(batch) > 1:
                    # One of them spoils it for all, and the error does not say which.
                    self._observer.retried(self.follower, self.source, "halved")
                    todo += halves(batch)[::-1]
                else:
                    tally.add(await self._alone(batch, fault))
            except ForkSeen as fork:
                await self.note_fork(fork)
                raise
        for page in pages:
            if page.head is not None:
                self._observer.lag(self.follower, self.source, page.shard, max(0, page.head - page.through))
        return tally.total

    async def retry_parked(self, shards: Collection[int] | None = None, *, streams_max: int = 100) -> int:
        """Carry out what `request_retry` asked for, for these shards (None: all); to be called now and then.

        Every second, say; costs one look at an index when nothing was asked for. Returns how many events had
        their effect. A stream whose event fails once more stays parked. Raises DatabaseAway, HandlerUnfit.
        """
        return await self._retries.carry_out(shards, streams_max)

    async def note_fork(self, fork: ForkSeen) -> None:
        """Note in the database that a shard's history is another one: it stays stopped until resumed."""

        async def note(connection: Connection, _: Progress) -> None:
            await stops.note_forked(connection, self.follower, self.source, fork)

        await self._transactions.run(note)
        self._observer.stopped(self.follower, self.source, fork.shard, stops.FORKED)

    async def accept_epoch(self, position: Position, epoch: int) -> bool:
        """Note the epoch in which a position was checked (`check_heads` does); False when it has moved on."""

        async def accept(connection: Connection, _: Progress) -> bool:
            return await positions.accept_epoch(connection, self.follower, self.source, position, epoch)

        return await self._transactions.run(accept)

    async def _applied(self, batch: Batch) -> Outcome:
        began = time.monotonic()
        outcome = await self._transactions.run(partial(self._application.apply, batch))
        self._announce(outcome, time.monotonic() - began)
        return outcome

    def _announce(self, outcome: Outcome, took_s: float) -> None:
        if outcome.appended and self._store is not None:
            self._store.announce(outcome.appended)
        if outcome.events:
            self._observer.applied(self.follower, self.source, outcome.events, took_s)
        for why, events in outcome.skipped():
            self._observer.skipped(self.follower, self.source, why, events)

    async def _alone(self, batch: Batch, fault: Fault | TooManyKept) -> Outcome:
        # It is this event. Others of its shard wait meanwhile: they come after it.
        tried = 1
        while isinstance(fault, Fault) and tried < self._policy.attempts:
            self._observer.retried(self.follower, self.source, "failed")
            await asyncio.sleep(self._policy.pause_s(tried))
            tried += 1
            try:
                return await self._applied(batch)
            except (Fault, TooManyKept) as again:
                fault = again
        error = fault.error if isinstance(fault, Fault) else fault
        if isinstance(fault, Fault) and self._policy.when_failing is WhenFailing.PARK:
            outcome = await self._transactions.run(partial(self._park, batch, error))
            if outcome is not None:
                self._announce(outcome, 0.0)
                for stream in outcome.parked:
                    self._observer.parked(self.follower, self.source, stream)
                return outcome
        (event,) = [event for page in batch for event in page.events]
        if await self._transactions.run(partial(self._note_failed, event, error)):
            self._observer.stopped(self.follower, self.source, event.shard, stops.FAILED)
            where = f"{event.stream} at {event.stream_position}"
            raise FollowerStopped(
                self.follower, self.source, event.shard, stops.FAILED, f"{where}: {text_of(error, 200)}"
            ) from error
        return await self._applied(batch)

    async def _park(
        self, batch: Batch, error: BaseException, connection: Connection, _: Progress
    ) -> Outcome | None:
        # None: so many are parked that this one must not be.
        planned = await self._application.plan(connection, batch)
        for event in planned.new:
            if await parking.parked_count(connection, self.follower, self.source) >= (
                self._policy.parked_streams_max
            ):
                return None
            await parking.park(connection, self.follower, self.source, event, self._policy.attempts, error)
        await self._application.move(connection, planned)
        return Outcome(planned=planned, parked=tuple(event.stream for event in planned.new))

    async def _note_failed(
        self, event: RecordedEvent, error: BaseException, connection: Connection, _: Progress
    ) -> bool:
        # False: another owner has applied it meanwhile.
        known = await positions.lock_positions(connection, self.follower, self.source, [event.shard])
        if known[event.shard].position >= event.shard_position:
            return False
        await stops.note_failed(connection, self.follower, self.source, event, self._policy.attempts, error)
        return True
