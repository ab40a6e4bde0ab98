"""What one transaction does with a batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from eventstore.events import Appended, RecordedEvent, StreamAppend
from eventstore.following.batches import Batch
from eventstore.following.errors import FollowerStopped
from eventstore.following.handler import Handler
from eventstore.following.pages import OWN, Applied
from eventstore.following.parking import check_room, hold, parked_among
from eventstore.following.planning import Planned, plan
from eventstore.following.positions import lock_positions, move_positions
from eventstore.following.transactions import Progress
from eventstore.postgres.append_call import append_in_transaction
from eventstore.postgres.connections import Connection
from eventstore.private import Keyring


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch compared with the locked positions: what is new, what waits with its stream, what moves."""

    new: tuple[RecordedEvent, ...] = ()
    held: tuple[RecordedEvent, ...] = ()
    moves: tuple[Planned, ...] = ()
    duplicates: int = 0
    stale: int = 0


NOTHING = PlannedBatch()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was committed."""

    planned: PlannedBatch = NOTHING
    events: int = 0
    appended: tuple[Appended, ...] = ()
    parked: tuple[str, ...] = ()

    def skipped(self) -> Iterator[tuple[str, int]]:
        """Why events were left out, and how many."""
        counts = {
            "duplicate": self.planned.duplicates,
            "stale": self.planned.stale,
            "held": len(self.planned.held),
        }
        return ((why, events) for why, events in counts.items() if events)


@dataclass(slots=True)
class Tally:
    """Outcomes, added up."""

    total: Applied = field(default_factory=Applied)

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
        self.total = replace(
            self.total,
            applied=self.total.applied + outcome.events,
            duplicates=self.total.duplicates + outcome.planned.duplicates,
            held=self.total.held + len(outcome.planned.held),
            stale=self.total.stale + outcome.planned.stale,
            parked=self.total.parked + outcome.parked,
        )


@dataclass(frozen=True, slots=True)
class Application:
    """The statements of such a transaction, in their order."""

    follower: str
    source: str
    handler: Handler
    keyring: Keyring | None
    parked_events_max: int

    async def apply(self, batch: Batch, connection: Connection, progress: Progress) -> Outcome:
        """Everything: lock, compare, handle, put aside, move, append.

        The append, which holds its shards up to the commit, comes last.
        """
        planned = await self.plan(connection, batch)
        appends = await self.handle(connection, planned.new, progress)
        # After the handler: had it swallowed an error of the database, the commit would be a rollback and not
        # say so. The next statement does.
        await self.move(connection, planned)
        return Outcome(planned, len(planned.new), await self.append(connection, appends))

    async def plan(self, connection: Connection, batch: Batch) -> PlannedBatch:
        """Lock the positions and compare. Raises Gap, ForkSeen, EpochChanged, FollowerStopped."""
        known = await lock_positions(connection, self.follower, self.source, [page.shard for page in batch])
        for shard, one in known.items():
            if one.stopped is not None:
                raise FollowerStopped(self.follower, self.source, shard, one.stopped)
        plans = [plan(page, known[page.shard], remembers=self.source != OWN) for page in batch]
        doubtful = {event.stream for one in plans if known[one.shard].parked for event in one.events}
        parked: frozenset[str] = frozenset()
        if doubtful:
            parked = await parked_among(connection, self.follower, self.source, doubtful)
        events = [event for one in plans for event in one.events]
        return PlannedBatch(
            tuple([event for event in events if event.stream not in parked]),
            tuple([event for event in events if event.stream in parked]),
            tuple([one for one in plans if one.moves]),
            sum(one.duplicates for one in plans),
            sum(one.stale for one in plans),
        )

    async def move(self, connection: Connection, planned: PlannedBatch) -> None:
        """Put events of parked streams aside, and move the positions past everything."""
        if planned.held:
            await check_room(connection, self.follower, self.source, planned.held, self.parked_events_max)
            await hold(connection, self.follower, self.source, planned.held)
        if planned.moves:
            await move_positions(connection, self.follower, self.source, planned.moves)

    async def handle(
        self, connection: Connection, events: Sequence[RecordedEvent], progress: Progress
    ) -> Sequence[StreamAppend]:
        """Give events their effect; returns what is to be appended, after at least one more statement."""
        if not events:
            return ()
        progress.handling = True
        return await self.handler(connection, events) or ()

    async def append(self, connection: Connection, appends: Sequence[StreamAppend]) -> tuple[Appended, ...]:
        """Append what the events led to."""
        if not appends:
            return ()
        return await append_in_transaction(connection, appends, self.keyring)
