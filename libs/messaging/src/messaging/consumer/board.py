"""What a consumer knows of its shards, in memory. The database decides; this only saves questions."""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from eventstore.following import Position


@dataclass(slots=True)
class Shard:
    """One shard of this consumer."""

    number: int
    position: int | None = None
    """The last one applied as far as is known; None: not read from the database yet."""
    epoch: int | None = None
    """The source's epoch in which that was."""
    stopped: str | None = None
    """Why it stands still, if it does."""
    offset: int | None = None
    """The next record of its partition in Kafka; None: nothing has come yet."""
    committed: int | None = None
    """The offset that Kafka has been told."""
    fill_to: int | None = None
    """Filled over the feed up to here, and Kafka's records are left out; None: it is not."""
    fill_tries: int = 0
    """Failed or empty answers of the feed, one after the other."""
    fill_at: float = 0.0
    """When the feed may be asked again, by the event loop's clock."""
    deliveries: int = 0
    """How often Kafka brought something new."""
    head: int | None = None
    """Where the source ended when it was last asked."""
    deliveries_seen: int = 0
    """`deliveries` at the last comparison with the source."""
    silent: int = 0
    """Comparisons in a row that found it behind, with nothing from Kafka in between."""

    @property
    def takes_records(self) -> bool:
        """Whether Kafka's records of it are wanted now."""
        return self.position is not None and self.stopped is None and self.fill_to is None

    @property
    def lag(self) -> int | None:
        """Events still to come, when the heads were last asked for; None: not known."""
        return None if self.head is None or self.position is None else max(0, self.head - self.position)


class Board:
    """The shards that are this consumer's now."""

    def __init__(self) -> None:
        self._shards: dict[int, Shard] = {}
        self.changed = asyncio.Event()
        """Set when there is something to do that Kafka will not wake us for."""
        self.to_fill = asyncio.Event()
        """Set when a shard is to be filled."""

    def __iter__(self) -> Iterator[Shard]:
        return iter(list(self._shards.values()))

    def __len__(self) -> int:
        return len(self._shards)

    def get(self, number: int) -> Shard | None:
        """The shard, if it is ours."""
        return self._shards.get(number)

    def assign(self, numbers: Collection[int]) -> None:
        """These are ours from now on, and no others. What was known of them is forgotten."""
        self._shards = {number: Shard(number) for number in sorted(numbers)}
        self.changed.set()

    def drop(self, numbers: Collection[int]) -> None:
        """These are ours no longer."""
        for number in numbers:
            self._shards.pop(number, None)

    def unread(self) -> list[int]:
        """Shards whose position has not been read."""
        return [shard.number for shard in self if shard.position is None]

    def read(self, positions: dict[int, Position]) -> None:
        """Where shards stand by the database."""
        for number, known in positions.items():
            if (shard := self.get(number)) is not None:
                shard.position = known.position
                shard.epoch = known.epoch
                shard.stopped = known.stopped

    def fill(self, shard: Shard, to: int) -> None:
        """Take a shard's events from the feed, up to this position."""
        shard.fill_to = to if shard.fill_to is None else max(to, shard.fill_to)
        self.changed.set()
        self.to_fill.set()
