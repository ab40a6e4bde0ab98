"""Comparing where a follower stands with where its source is."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from eventstore.following.applier import Applier
from eventstore.following.errors import ForkSeen
from eventstore.following.pages import Position


@dataclass(frozen=True, slots=True)
class SourceHead:
    """Where a shard of the source ends, the hash of its last event (None: none, or not known), its epoch."""

    position: int
    hash: bytes | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class HeadsChecked:
    """What a comparison found. `behind` are the shards with events still to come, and how many."""

    behind: dict[int, int]
    forks: tuple[ForkSeen, ...]
    """Shards whose history is another one: noted in the database, and stopped from now on."""
    new_epochs: tuple[int, ...]
    """Shards whose new epoch was checked and accepted."""
    stopped: tuple[int, ...]
    """Shards that were stopped already, and were not looked at."""


AskHeads = Callable[[], Awaitable[Mapping[int, SourceHead]]]
"""The heads of the source, from its primary: a replica that lags would look like a lost history."""

AskHash = Callable[[int, int], Awaitable[bytes | None]]
"""The hash of the source's event at a shard's position; None when it has none. Raises if it cannot tell."""


async def check_heads(
    applier: Applier,
    shards: Collection[int],
    heads: AskHeads,
    hash_at: AskHash,
    *,
    every_hash: bool = False,
) -> HeadsChecked:
    """Compare these shards with the source, every few seconds and before a new epoch is followed.

    A position beyond the source's head, or another hash at our position, is a fork. The hash is asked for
    where the epoch has changed, and of all shards with `every_hash` (once a minute, say): that also finds a
    source that lost events and has grown past our position since. An epoch is accepted once the hash there is
    ours. Raises what `heads` and `hash_at` raise, and DatabaseAway.
    """
    # Ours first: read after the heads, they might be beyond them for having moved on since.
    positions = await applier.positions(shards)
    source = await heads()
    behind: dict[int, int] = {}
    forks: list[ForkSeen] = []
    new_epochs: list[int] = []
    for shard, position in sorted(positions.items()):
        if position.stopped is not None or shard not in source:
            continue
        head = source[shard]
        is_new = head.epoch is not None and head.epoch != position.epoch
        fork = await _fork(position, head, hash_at, ask=is_new or every_hash)
        if fork is not None:
            await applier.note_fork(fork)
            forks.append(fork)
            continue
        if head.epoch is not None and is_new and await applier.accept_epoch(position, head.epoch):
            new_epochs.append(shard)
        if head.position > position.position:
            behind[shard] = head.position - position.position
    stopped = [shard for shard, position in positions.items() if position.stopped is not None]
    return HeadsChecked(behind, tuple(forks), tuple(new_epochs), tuple(sorted(stopped)))


async def _fork(position: Position, head: SourceHead, hash_at: AskHash, *, ask: bool) -> ForkSeen | None:
    shard, at, known = position.shard, position.position, position.hash
    if head.position < at:
        return ForkSeen(shard, at, known, None)
    if at == 0 or known is None:
        return None  # nothing to compare: nothing was applied, or the position was set by hand
    if head.position == at and head.hash is not None:
        return None if head.hash == known else ForkSeen(shard, at, known, head.hash)
    if not ask:
        return None
    found = await hash_at(shard, at)
    return None if found == known else ForkSeen(shard, at, known, found)
