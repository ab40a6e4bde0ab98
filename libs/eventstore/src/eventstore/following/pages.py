"""What is handed to a follower: parts of shards, and where it stands in them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from eventstore.events import RecordedEvent, ShardPage
from eventstore.following.errors import ForkSeen, Gap

OWN: Final = "own"
"""The source that is this database's own log."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a shard: every wanted event after position `after`, up to and including position `through`.

    Events are in their order, each once. What lies in between and is not among them was not wanted. `epoch`
    is the source's epoch in which they were published, `head` the shard's last position at the time; both
    only if they are known.
    """

    shard: int
    after: int
    through: int
    events: tuple[RecordedEvent, ...]
    epoch: int | None = None
    head: int | None = None

    @classmethod
    def of_shard(cls, page: ShardPage, *, after: int) -> Self:
        """A page that a reader or a subscription gave, which was asked for what comes after `after`."""
        return cls(page.shard, after, page.through, page.events, head=page.head)

    @classmethod
    def unfiltered(
        cls, events: Sequence[RecordedEvent], *, epoch: int | None = None, head: int | None = None
    ) -> Self:
        """Consecutive events of one shard, at least one, of which none was left out.

        They may come out of order and more than once, as from a topic into which some were published again.
        Raises Gap when one is missing between them, ForkSeen when two of them differ at one position.
        """
        by_position: dict[int, RecordedEvent] = {}
        for event in events:
            other = by_position.setdefault(event.shard_position, event)
            if other.hash != event.hash:
                raise ForkSeen(event.shard, event.shard_position, other.hash, event.hash)
        ordered = tuple([by_position[position] for position in sorted(by_position)])
        first, last = ordered[0], ordered[-1]
        if last.shard_position - first.shard_position != len(ordered) - 1:
            for expected, event in enumerate(ordered, start=first.shard_position):
                if event.shard_position != expected:
                    raise Gap(event.shard, expected, event.shard_position)
        return cls(first.shard, first.shard_position - 1, last.shard_position, ordered, epoch, head)

    def cut(self, events: int) -> tuple[Self, Self]:
        """The part up to and including the event of this number (1, 2, …), and the rest."""
        border = self.events[events - 1].shard_position
        return (
            replace(self, through=border, events=self.events[:events]),
            replace(self, after=border, events=self.events[events:]),
        )

    def joined(self, later: Self) -> Self:
        """This page and the one that follows it, as one."""
        if later.shard != self.shard or later.after != self.through:
            raise ValueError(f"shard {later.shard} after {later.after} does not follow {self.through}")
        return replace(self, through=later.through, events=self.events + later.events, head=later.head)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a follower stands in a shard: everything up to and including `position` has had its effect.

    `hash` is that of the event there: None at 0, and where that event was not wanted. `epoch` is the source's
    epoch in which this was last checked, None when it never was. `parked` streams of the shard are parked.
    """

    shard: int
    position: int = 0
    hash: bytes | None = None
    epoch: int | None = None
    parked: int = 0
    stopped: str | None = None
    """Why this shard must not go on, `failed` or `forked`; None when it may."""
    updated_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What one call of `Applier.apply` came to, in numbers of events but for `parked`."""

    applied: int = 0
    """Handed to the handler, and committed."""
    duplicates: int = 0
    """Had their effect before, and were left out."""
    held: int = 0
    """Put aside because their stream is parked."""
    stale: int = 0
    """Left out because they are of an epoch that is over."""
    parked: tuple[str, ...] = ()
    """Streams that were parked in this call."""
