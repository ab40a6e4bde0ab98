"""The same random appends to the real store and to the twin: the same answers, the same log."""

from __future__ import annotations

import random

import pytest

from eventstore import (
    SHARDS,
    EventStore,
    EventStoreError,
    Expect,
    Keyring,
    NewEvent,
    StreamAppend,
    VersionConflict,
)
from eventstore.events import Expected
from eventstore.memory import MemoryEventStore
from eventstore.postgres import PostgresEventStore
from tests.eventstore.samples import event, stream_of_shard, streams_of_shard

STREAMS = [*(name for name, _ in zip(streams_of_shard(1), range(3), strict=False)), stream_of_shard(2)]
STEPS = 150


class Steps:
    """Appends that fit, that do not, that come again, and that use an id twice."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._sent: list[StreamAppend] = []

    def next(self, heads: dict[str, int]) -> list[StreamAppend]:
        """The next append: of one stream or of two."""
        chance = self._chance
        if self._sent and chance.random() < 0.2:
            again = [chance.choice(self._sent)]
        else:
            names = chance.sample(STREAMS, chance.choice([1, 1, 1, 2]))
            again = [StreamAppend(name, self._expected(heads[name]), self._events()) for name in names]
        self._sent += again
        return again

    def _expected(self, head: int) -> Expected:
        near: list[Expected] = [head, head, max(0, head - 1), head + 1]
        return self._chance.choice([*near, Expect.ANY, Expect.EXISTS, Expect.NONE])

    def _events(self) -> list[NewEvent]:
        chance = self._chance
        made = [event(f'{{"n":{chance.randint(1, 9)}}}') for _ in range(chance.randint(1, 4))]
        if self._sent and chance.random() < 0.15:
            used = chance.choice(chance.choice(self._sent).events)
            made[-1] = NewEvent(used.event_id, used.type, chance.choice([used.content, b"other"]))
        return made


async def outcome(store: EventStore, appends: list[StreamAppend]) -> object:
    """What came of it, in words that two stores can share."""
    try:
        return await store.append_all(appends)
    except VersionConflict as error:
        return (error.slug, error.stream, error.found)
    except EventStoreError as error:
        return (error.slug,)  # where several streams are at fault, which one is named is left open


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_both_answer_alike(postgres_store: PostgresEventStore, keyring: Keyring, seed: int) -> None:
    twin = MemoryEventStore(keyring=keyring)
    steps = Steps(random.Random(seed))
    slugs = set()
    for _ in range(STEPS):
        heads = {name: (await twin.stream_head(name)).position for name in STREAMS}
        appends = steps.next(heads)
        real, memory = await outcome(postgres_store, appends), await outcome(twin, appends)
        assert real == memory, appends
        slugs.add(real[0] if isinstance(real, tuple) and isinstance(real[0], str) else "stored")
    assert slugs == {"stored", "version_conflict", "event_id_reused"}
    assert await postgres_store.shard_heads() == await twin.shard_heads()
    for shard in range(SHARDS):
        real_page, twin_page = await postgres_store.read_shard(shard), await twin.read_shard(shard)
        assert [one[:-1] for one in real_page.events] == [one[:-1] for one in twin_page.events]
