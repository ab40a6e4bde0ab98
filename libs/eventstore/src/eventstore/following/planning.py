"""What of a page is new: pure, decided against the position that the transaction holds locked."""

from dataclasses import dataclass

from eventstore.events import RecordedEvent
from eventstore.following.errors import EpochChanged, ForkSeen, Gap
from eventstore.following.pages import Page
from eventstore.following.recent import BYTES, extended, remembered


@dataclass(frozen=True, slots=True)
class Known:
    """A row of positions, as it was locked."""

    shard: int
    position: int
    hash: bytes | None
    recent: bytes
    epoch: int | None
    parked: int
    stopped: str | None


@dataclass(frozen=True, slots=True)
class Planned:
    """What a page leads to: new events, and the row of positions afterwards."""

    shard: int
    events: tuple[RecordedEvent, ...]
    through: int
    hash: bytes | None
    recent: bytes
    epoch: int | None
    duplicates: int = 0
    stale: int = 0
    moves: bool = True
    """Whether anything changes at all."""


def plan(page: Page, known: Known, *, remembers: bool) -> Planned:
    """The new part of a page. Raises Gap, ForkSeen, EpochChanged.

    `remembers` tells whether hashes are kept for comparing: of another service's log, not of our own, which
    can only be restored together with the positions.
    """
    if page.epoch is not None and known.epoch is not None:
        if page.epoch < known.epoch:
            # Published before the source was restored: perhaps of a history that is no more.
            return _nothing(known, stale=len(page.events))
        if page.epoch > known.epoch and known.position > 0:
            raise EpochChanged(page.shard, known.epoch, page.epoch)
    new = page.events
    if page.events and page.events[0].shard_position <= known.position:
        old = tuple([event for event in page.events if event.shard_position <= known.position])
        new = page.events[len(old) :]
        for event in old:
            _compare(event, known)
    if page.after > known.position:
        raise Gap(page.shard, known.position + 1, page.after + 1)
    duplicates = len(page.events) - len(new)
    if page.through <= known.position:
        return _nothing(known, duplicates=duplicates)
    seen = bool(new) and new[-1].shard_position == page.through
    return Planned(
        page.shard,
        new,
        page.through,
        new[-1].hash if seen else None,
        extended(known.recent, known.position, new, page.through) if remembers else b"",
        known.epoch if page.epoch is None else page.epoch,
        duplicates,
    )


def _nothing(known: Known, *, duplicates: int = 0, stale: int = 0) -> Planned:
    return Planned(
        known.shard,
        (),
        known.position,
        known.hash,
        known.recent,
        known.epoch,
        duplicates,
        stale,
        moves=False,
    )


def _compare(event: RecordedEvent, known: Known) -> None:
    if event.shard_position == known.position and known.hash is not None:
        if event.hash != known.hash:
            raise ForkSeen(event.shard, event.shard_position, known.hash, event.hash)
        return
    begun = remembered(known.recent, known.position, event.shard_position)
    if begun is not None and event.hash[:BYTES] != begun:
        raise ForkSeen(event.shard, event.shard_position, begun, event.hash)
