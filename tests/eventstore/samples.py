"""Events to append, and checks that many tests make."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence

from eventstore import SHARDS, NewEvent, RecordedEvent, ShardPage, shard_of
from eventstore.ids import new_event_id

KEY_A = bytes(range(32))
KEY_B = bytes(range(32, 64))


def event(content: bytes | str = b"{}", *, kind: str = "Opened", private: bytes | None = None) -> NewEvent:
    """A new event with an id of its own."""
    data = content.encode() if isinstance(content, str) else content
    return NewEvent(new_event_id(), kind, data, private)


def events(count: int, *, kind: str = "Opened") -> list[NewEvent]:
    """New events, each with a content of its own."""
    return [event(f'{{"n":{n}}}', kind=kind) for n in range(1, count + 1)]


def streams_of_shard(shard: int, prefix: str = "round-") -> Iterator[str]:
    """Names of streams that belong to one shard."""
    return (name for n in itertools.count() if shard_of(name := f"{prefix}{n}.1") == shard)


def stream_of_shard(shard: int, prefix: str = "round-") -> str:
    """The name of a stream that belongs to a shard."""
    return next(streams_of_shard(shard, prefix))


def assert_chained(log: Sequence[RecordedEvent]) -> None:
    """The events of one stream, from its beginning: gapless, and each hash as the contract says."""
    assert [one.stream_position for one in log] == list(range(1, len(log) + 1))
    hashed = hashlib.sha256(log[0].stream.encode()).digest()
    for one in log:
        assert one.shard == int.from_bytes(hashlib.sha256(one.stream.encode()).digest()[:8], "big") % SHARDS
        assert one.prev_hash == hashed
        assert one.content_hash == hashlib.sha256(one.content).digest()
        hashed = hashlib.sha256(hashed + one.stream_position.to_bytes(8, "big") + one.content_hash).digest()
        assert one.hash == hashed


async def pages_through(pages: AsyncIterator[ShardPage], totals: dict[int, int]) -> list[ShardPage]:
    """Pages until each of these shards has been seen through to its total."""
    seen: list[ShardPage] = []
    missing = {shard for shard, total in totals.items() if total}
    while missing:
        page = await anext(pages)
        seen.append(page)
        if page.through >= totals[page.shard]:
            missing.discard(page.shard)
    return seen
