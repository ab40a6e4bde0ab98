"""Snapshots save reading, and never decide anything."""

from __future__ import annotations

import dataclasses

import asyncpg
import pytest

from eventstore import EventStore, Expect, RecordedEvent
from eventstore.memory import MemoryEventStore
from eventstore.postgres import Pool
from eventstore.snapshots import (
    MAX_STATE_BYTES,
    Fold,
    Ignored,
    LoadedState,
    MemorySnapshots,
    PostgresSnapshots,
    Snapshot,
    Snapshots,
    load_state,
    save_state,
)
from eventstore.streams import first_prev_hash
from tests.eventstore.samples import event, events

STREAM = "table-t1"
KEPT = Snapshot(STREAM, "table", 1, 5, b"h" * 32, b"state")


def evolve(state: list[int], recorded: RecordedEvent) -> None:
    state.append(recorded.stream_position)


def decode(state: bytes) -> list[int]:
    return [int(one) for one in state.decode().split(",") if one]


FOLD: Fold[list[int]] = Fold(
    "table", 1, list, evolve, lambda state: ",".join(map(str, state)).encode(), decode
)
COUNT: Fold[int] = Fold("count", 1, lambda: 0, lambda state, _: state + 1, lambda n: b"%d" % n, int)


async def test_one_is_kept_a_stream_kind_and_version(snapshots: Snapshots) -> None:
    others = [
        dataclasses.replace(KEPT, stream="table-t2"),
        dataclasses.replace(KEPT, kind="other"),
        dataclasses.replace(KEPT, version=2),
    ]
    for one in (KEPT, *others):
        await snapshots.save(one)
    for one in (KEPT, *others):
        assert await snapshots.load(one.stream, one.kind, one.version) == one
    assert await snapshots.load(STREAM, "table", 3) is None


async def test_a_newer_one_takes_its_place_and_an_older_one_does_not(snapshots: Snapshots) -> None:
    await snapshots.save(KEPT)
    newer = dataclasses.replace(KEPT, position=9, state=b"newer")
    await snapshots.save(newer)
    await snapshots.save(KEPT)
    assert await snapshots.load(STREAM, "table", 1) == newer


async def test_discarding_forgets_that_one_only(snapshots: Snapshots) -> None:
    await snapshots.save(KEPT)
    await snapshots.discard(dataclasses.replace(KEPT, position=4))
    await snapshots.discard(dataclasses.replace(KEPT, hash=b"i" * 32))
    assert await snapshots.load(STREAM, "table", 1) == KEPT
    await snapshots.discard(KEPT)
    assert await snapshots.load(STREAM, "table", 1) is None


@pytest.mark.parametrize(
    "change",
    [
        {"stream": ""},
        {"kind": "x" * 101},
        {"kind": "a\0"},
        {"version": 0},
        {"position": 0},
        {"hash": b"short"},
        {"state": bytes(MAX_STATE_BYTES + 1)},
    ],
)
def test_what_cannot_be_a_snapshot(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"is |has |stands "):
        dataclasses.replace(KEPT, **change)  # type: ignore[arg-type]  # one wrong value at a time


async def test_a_stream_without_events(store: EventStore, snapshots: Snapshots) -> None:
    loaded = await load_state(store, snapshots, STREAM, FOLD)
    assert loaded == LoadedState(STREAM, [], 0, first_prev_hash(STREAM), 0)
    await save_state(snapshots, FOLD, loaded)
    assert await snapshots.load(STREAM, "table", 1) is None


@pytest.mark.parametrize("count", [1, 4, 5, 6, 10, 11])
async def test_without_a_snapshot_everything_is_read(
    store: EventStore, snapshots: Snapshots, count: int
) -> None:
    await store.append(STREAM, events(count), expected=0)
    loaded = await load_state(store, snapshots, STREAM, FOLD, page=5)
    head = await store.stream_head(STREAM)
    assert loaded == LoadedState(STREAM, list(range(1, count + 1)), count, head.hash, count)


@pytest.mark.parametrize("more", [0, 1, 5, 7])
async def test_with_one_only_what_follows_is_read(store: EventStore, snapshots: Snapshots, more: int) -> None:
    await store.append(STREAM, events(6), expected=0)
    await save_state(snapshots, FOLD, await load_state(store, snapshots, STREAM, FOLD))
    if more:
        await store.append(STREAM, events(more), expected=6)
    loaded = await load_state(store, snapshots, STREAM, FOLD, page=5)
    assert loaded.state == list(range(1, 7 + more))
    assert (loaded.position, loaded.events_read) == (6 + more, more)
    assert loaded.hash == (await store.stream_head(STREAM)).hash


async def test_a_state_that_is_returned_and_one_that_is_changed(
    store: EventStore, snapshots: Snapshots
) -> None:
    await store.append(STREAM, events(3), expected=0)
    loaded = await load_state(store, snapshots, STREAM, COUNT)
    assert loaded.state == 3
    await save_state(snapshots, COUNT, loaded)
    await store.append(STREAM, events(2), expected=3)
    assert (await load_state(store, snapshots, STREAM, COUNT)).state == 5


async def test_another_version_is_not_looked_at(store: EventStore, snapshots: Snapshots) -> None:
    await store.append(STREAM, events(3), expected=0)
    await snapshots.save(Snapshot(STREAM, "count", 1, 3, b"x" * 32, b"1000"))
    newer = dataclasses.replace(COUNT, version=2)
    assert (await load_state(store, snapshots, STREAM, newer)).state == 3
    assert await snapshots.load(STREAM, "count", 1) is not None


@pytest.mark.parametrize("position", [2, 3, 4])
async def test_a_snapshot_of_another_history_is_reported_and_left_aside(
    store: EventStore, snapshots: Snapshots, position: int
) -> None:
    """In the middle of the stream, at its end, and beyond it: a restore took events away."""
    await store.append(STREAM, events(3), expected=0)
    wrong = Snapshot(STREAM, "count", 1, position, b"x" * 32, b"1000")
    await snapshots.save(wrong)
    told: list[tuple[Snapshot, Ignored]] = []
    loaded = await load_state(
        store, snapshots, STREAM, COUNT, on_ignored=lambda one, why: told.append((one, why))
    )
    assert (loaded.state, loaded.position, loaded.events_read) == (3, 3, 3)
    assert told == [(wrong, Ignored.OTHER_HISTORY)]
    assert await snapshots.load(STREAM, "count", 1) is None
    await save_state(snapshots, COUNT, loaded)
    assert (await load_state(store, snapshots, STREAM, COUNT)).events_read == 0


async def test_a_snapshot_that_cannot_be_read_is_reported_and_left_aside(
    store: EventStore, snapshots: Snapshots
) -> None:
    await store.append(STREAM, events(3), expected=0)
    loaded = await load_state(store, snapshots, STREAM, COUNT)
    await save_state(snapshots, dataclasses.replace(COUNT, encode=lambda _: b"no number"), loaded)
    told: list[Ignored] = []
    loaded = await load_state(store, snapshots, STREAM, COUNT, on_ignored=lambda _, why: told.append(why))
    assert (loaded.state, told) == (3, [Ignored.UNREADABLE])


class Hurried:
    """A reader that sees the stream's end move between its two questions."""

    def __init__(self, store: MemoryEventStore) -> None:
        self._store = store
        self.hurried = False

    async def read_stream(self, stream: str, *, after: int, limit: int) -> tuple[RecordedEvent, ...]:
        found = await self._store.read_stream(stream, after=after, limit=limit)
        if not found and not self.hurried:
            self.hurried = True
            await self._store.append(stream, [event()], expected=Expect.ANY)
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


async def test_an_event_that_comes_in_between_is_read_too() -> None:
    store, snapshots = MemoryEventStore(), MemorySnapshots()
    await store.append(STREAM, events(3), expected=0)
    await save_state(snapshots, COUNT, await load_state(store, snapshots, STREAM, COUNT))
    hurried = Hurried(store)
    loaded = await load_state(hurried, snapshots, STREAM, COUNT)  # type: ignore[arg-type]  # a reader, with a trick
    assert hurried.hurried
    assert (loaded.state, loaded.position, loaded.events_read) == (4, 4, 1)


async def test_older_versions_are_discarded_a_few_at_a_time(pool: Pool) -> None:
    snapshots = PostgresSnapshots(pool)
    for n in range(5):
        await snapshots.save(dataclasses.replace(KEPT, stream=f"table-t{n}"))
    await snapshots.save(dataclasses.replace(KEPT, version=2))
    await snapshots.save(dataclasses.replace(KEPT, kind="other"))
    assert [await snapshots.discard_older_versions("table", 2, at_most=3) for _ in range(3)] == [3, 2, 0]
    assert await snapshots.load(STREAM, "table", 2) is not None
    assert await snapshots.load(STREAM, "other", 1) is not None


async def test_the_table_has_the_bounds_too(pool: Pool) -> None:
    await PostgresSnapshots(pool).save(KEPT)
    async with pool.acquire() as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="snapshots_state_size"):
            await connection.execute(
                "UPDATE eventstore.snapshots SET state = convert_to(repeat('x', $1 + 1), 'UTF8')",
                MAX_STATE_BYTES,
            )
