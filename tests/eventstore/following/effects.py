"""Handlers whose effect is a row an event, and what tests ask about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from eventstore import EVERYTHING, EventFilter, RecordedEvent, StreamAppend
from eventstore.following import Applier, Observer, Page, Policy, Silent
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Connection, Pool

FOLLOWER = "view"
SOURCE = "table"

# No key on purpose: what was done twice is to be seen, not refused.
MAKE = """
DROP TABLE IF EXISTS public.effects;
CREATE TABLE public.effects (
    id bigint GENERATED ALWAYS AS IDENTITY, stream text, stream_position bigint, shard int,
    shard_position bigint
)
"""
QUICK = Policy(attempts=3, first_pause_s=0.001, longest_pause_s=0.01)


async def record(connection: Connection, events: Sequence[RecordedEvent]) -> None:
    """The effect of events: a row each."""
    await connection.execute(
        "INSERT INTO public.effects (stream, stream_position, shard, shard_position)"
        " SELECT * FROM unnest($1::text[], $2::bigint[], $3::int[], $4::bigint[])",
        [one.stream for one in events],
        [one.stream_position for one in events],
        [one.shard for one in events],
        [one.shard_position for one in events],
    )


async def effects_of(pool: Pool) -> list[tuple[str, int]]:
    """What has had its effect, in its order."""
    rows = await pool.fetch("SELECT stream, stream_position FROM public.effects ORDER BY id")
    return [(row["stream"], row["stream_position"]) for row in rows]


class Refused(Exception):
    """What a handler raises at a poisonous event."""


@dataclass
class Poisoned:
    """A handler that records events, and fails at some of them."""

    poison: Collection[tuple[str, int]]
    calls: list[int] = field(default_factory=list)

    async def __call__(
        self, connection: Connection, events: Sequence[RecordedEvent]
    ) -> Sequence[StreamAppend] | None:
        self.calls.append(len(events))
        await record(connection, events)
        for one in events:
            if (one.stream, one.stream_position) in self.poison:
                raise Refused(f"{one.stream} at {one.stream_position}")
        return None


@dataclass
class Seen(Silent):
    """An observer that remembers what it was told, and of whom."""

    notes: list[tuple[str, ...]] = field(default_factory=list)
    of: set[tuple[str, str]] = field(default_factory=set)

    def retried(self, follower: str, source: str, why: str) -> None:
        self._note(follower, source, "retried", why)

    def parked(self, follower: str, source: str, stream: str) -> None:
        self._note(follower, source, "parked", stream)

    def unparked(self, follower: str, source: str, stream: str) -> None:
        self._note(follower, source, "unparked", stream)

    def stopped(self, follower: str, source: str, shard: int, kind: str) -> None:
        self._note(follower, source, "stopped", str(shard), kind)

    def skipped(self, follower: str, source: str, why: str, events: int) -> None:
        self._note(follower, source, "skipped", why, str(events))

    def _note(self, follower: str, source: str, *what: str) -> None:
        self.of.add((follower, source))
        self.notes.append(what)


def applier(
    pool: Pool,
    handler: object = record,
    *,
    policy: Policy = QUICK,
    observer: Observer | None = None,
) -> Applier:
    """A follower of the other service's log."""
    return Applier(pool, FOLLOWER, SOURCE, handler, policy=policy, observer=observer)  # type: ignore[arg-type]  # tests hand in partial handlers too


async def page_of(
    log: MemoryEventStore, shard: int, after: int = 0, *, limit: int = 500, wanted: EventFilter = EVERYTHING
) -> Page:
    """The next part of a shard of the other service's log."""
    return Page.of_shard(await log.read_shard(shard, after=after, limit=limit, wanted=wanted), after=after)


async def pages_of(log: MemoryEventStore, after: dict[int, int] | None = None) -> list[Page]:
    """The next part of every shard that has events after a position."""
    known = after or {}
    heads = await log.shard_heads()
    return [
        await page_of(log, shard, known.get(shard, 0))
        for shard, head in enumerate(heads)
        if head > known.get(shard, 0)
    ]
