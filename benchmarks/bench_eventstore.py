"""The event store beside `eventsourcing` and beside bare SQL, on one PostgreSQL, all commits durable.

    python -m benchmarks.bench_eventstore [--quick]

Contestants take turns; each is judged by the median of its turns. At the end the log grows to ten million
events (a million with `--quick`). What came of it stands in docs/performance-eventstore.md.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

import asyncpg

from eventstore import Expect, shard_of
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from stack import Lane, Stack
from stack.names import fresh_name

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.eventstore_contestants import (
    BET,
    CALLERS,
    CONTENT,
    ROUND,
    BetPlaced,
    Ours,
    Plain,
    Table,
    new_events,
)

try:
    from benchmarks.rival_eventsourcing import Eventsourcing
except ImportError:
    Eventsourcing = None  # type: ignore[assignment,misc]  # it is left out where it is not installed

try:
    import msgspec

    HAS_MSGSPEC = True
except ImportError:
    HAS_MSGSPEC = False

Rival: TypeAlias = "Eventsourcing | None"

BARE_FETCH = (
    "SELECT stream, stream_position, shard, shard_position, event_id, type, content, prev_hash, content_hash,"
    " hash, recorded_at FROM eventstore.events WHERE stream = $1 ORDER BY stream_position"
)


BARE_FETCH_OF_CONTENTS = "SELECT content FROM eventstore.events WHERE stream = $1 ORDER BY stream_position"


@dataclass(frozen=True)
class Sizes:
    """How much is done in one turn."""

    turns: int
    appends_per_caller: int
    batches: int
    read_events: int
    idle_appends: int
    growth: tuple[int, ...]


FULL = Sizes(
    turns=5,
    appends_per_caller=40,
    batches=20,
    read_events=100_000,
    idle_appends=200,
    growth=(100_000, 1_000_000, 10_000_000),
)
QUICK = Sizes(
    turns=1, appends_per_caller=3, batches=2, read_events=2_000, idle_appends=10, growth=(100_000, 1_000_000)
)


def decoder_in_c() -> Callable[[bytes], object]:
    """What makes a typed, frozen object of a content, in C: a struct of the fields of `BetPlaced`."""
    fields = [(field.name, field.type) for field in dataclasses.fields(BetPlaced)]
    types = get_type_hints(BetPlaced)
    payload = msgspec.defstruct("Bet", [(name, types[name]) for name, _ in fields], frozen=True, gc=False)
    envelope = msgspec.defstruct("Envelope", [("payload", payload)], frozen=True, gc=False)
    decoder = msgspec.json.Decoder(envelope)
    decode: Callable[[bytes], Any] = decoder.decode
    bet = decode(CONTENT).payload
    assert all(getattr(bet, name) == getattr(BET, name) for name, _ in fields)
    return decode


async def one_at_a_time(sizes: Sizes, ours: Ours, plain: Plain, rival: Rival) -> None:
    """64 callers, 64 streams, one event an append."""
    table = Table(f"Appends of one event by {CALLERS} callers to {CALLERS} streams")
    each = sizes.appends_per_caller
    few = max(1, each // 4)
    total = CALLERS * each
    for _ in range(sizes.turns):
        await table.turn("eventstore", total, lambda: ours.callers(CALLERS, each))
        await table.turn("INSERT, one connection", total, lambda: plain.one_connection(total))
        await table.turn("INSERT, 64 callers on 16 connections", total, lambda: plain.callers(CALLERS, each))
        if rival is not None:
            threads = partial(rival.callers, CALLERS, few, CONTENT)
            await table.turn("eventsourcing, 64 threads", CALLERS * few, threads)
    table.show(
        "eventstore",
        {
            "INSERT, one connection": 3,
            "INSERT, 64 callers on 16 connections": 1.5,
            "eventsourcing, 64 threads": 10,
        },
    )


async def in_batches(sizes: Sizes, ours: Ours, plain: Plain, rival: Rival) -> None:
    """One stream, 1,000 events an append."""
    table = Table("Appends of 1,000 events to one stream")
    total = 1_000 * sizes.batches
    for turn in range(sizes.turns):
        batches = [new_events(1_000) for _ in range(sizes.batches)]
        rows = [plain.rows(1_000) for _ in range(sizes.batches)]
        await table.turn("eventstore", total, partial(ours.batches, f"account-{turn}", batches))
        await table.turn("COPY", total, partial(plain.copy, rows))
        if rival is not None:
            await table.turn("eventsourcing", total, partial(rival.batches, sizes.batches, 1_000, CONTENT))
    table.show("eventstore", {"COPY": 0.6, "eventsourcing": 3})


async def reading(sizes: Sizes, ours: Ours, pool: Pool, rival: Rival) -> None:
    """One long stream: as it is stored, and as the domain's own objects."""
    count = sizes.read_events
    stored = Table(f"Reading a stream of {count:,} events, as stored")
    contents = Table("Its contents alone")
    typed = Table("The same into the domain's objects (JSON decoded, a frozen object each)")
    await ours.batches("account-long", [new_events(1_000) for _ in range(count // 1_000)])
    originator = ROUND if rival is None else await rival.fill(count, dataclasses.asdict(BET))
    async with pool.acquire() as connection:
        for _ in range(sizes.turns):
            await stored.turn("eventstore", count, partial(ours.read, "account-long"))
            bare = partial(connection.fetch, BARE_FETCH, "account-long")
            await stored.turn("bare fetch of the same columns", count, bare)
            await typed.turn("eventstore", count, partial(ours.read_bets, "account-long"))
            await contents.turn("eventstore", count, partial(ours.read_contents, "account-long"))
            bare = partial(connection.fetch, BARE_FETCH_OF_CONTENTS, "account-long")
            await contents.turn("bare fetch of that column", count, bare)
            if HAS_MSGSPEC:
                quick = partial(ours.read_bets, "account-long", decoder_in_c())
                await typed.turn("eventstore, decoded by msgspec", count, quick)
            if rival is not None:
                await stored.turn("eventsourcing, recorder", count, partial(rival.read_stored, originator))
                await typed.turn("eventsourcing, event store", count, partial(rival.read_domain, originator))
    stored.show("eventstore", {"bare fetch of the same columns": 0.5})
    contents.show("eventstore", {"bare fetch of that column": 0.5})
    typed.show("eventstore", {"eventsourcing, event store": 5})
    if HAS_MSGSPEC:
        typed.show("eventstore, decoded by msgspec", {"eventsourcing, event store": 5})


async def latency(sizes: Sizes, writer: PostgresEventStore, reader: PostgresEventStore) -> None:
    """From the append's call to the page in another store's subscriber's hands, nothing else going on."""
    stream = "round-latency.1"
    seen_s: list[float] = []
    answered_s: list[float] = []
    async with reader.subscribe({shard_of(stream): (await writer.shard_heads())[shard_of(stream)]}) as pages:
        for event in new_events(sizes.idle_appends):
            began = time.perf_counter()
            waiting = asyncio.ensure_future(anext(pages))
            await writer.append(stream, [event], expected=Expect.ANY)
            answered_s.append(time.perf_counter() - began)
            await waiting
            seen_s.append(time.perf_counter() - began)
    print("\nOne append, idle")
    for name, times in (("answered", answered_s), ("in a subscriber's hands", seen_s)):
        cuts = statistics.quantiles(times, n=100)
        print(f"  {name:<44} p50 {1e3 * cuts[49]:.2f} ms   p99 {1e3 * cuts[98]:.2f} ms")


async def growth(ours: Ours, targets: Sequence[int]) -> None:
    """Whether it gets slower: the last tenth of each step is measured, and a stream from its beginning."""
    print(
        "\nGrowth: events/s appended in thousands to 100 streams, and 10,000 of them read, as the log grows"
    )
    total = 0
    for target in targets:
        batches = [new_events(1_000) for _ in range(target // 10_000)]
        while total < target - 1_000 * len(batches):
            await ours.batches(f"account-g{total // 1_000 % 100}", [new_events(1_000)])
            total += 1_000
        began = time.perf_counter()
        for batch in batches:
            await ours.batches(f"account-g{total // 1_000 % 100}", [batch])
            total += 1_000
        appended = 1_000 * len(batches) / (time.perf_counter() - began)
        read: list[float] = []
        for number in range(5):
            began = time.perf_counter()
            count = await ours.read(f"account-g{number}", 10_000)
            read.append(count / (time.perf_counter() - began))
        print(
            f"  {total:>10,} events: append {appended:>9,.0f}   read {statistics.median(read):>9,.0f}",
            flush=True,
        )


async def run(sizes: Sizes) -> None:
    """Everything, on a PostgreSQL of its own."""
    async with Stack(Lane.EMBEDDED) as stack:
        dsn = await stack.databases.create(fresh_name("bench"))
        owner = await asyncpg.connect(dsn)
        await prepare_event_log(owner)
        print(await owner.fetchval("SELECT version()"))
        for name in ("fsync", "synchronous_commit", "shared_buffers", "wal_sync_method", "max_wal_size"):
            print(f"  {name} = {await owner.fetchval(f'SHOW {name}')}", end="")
        print()
        connections = [await asyncpg.connect(dsn) for _ in range(16)]
        rival: Rival = None
        if Eventsourcing is None:
            print("eventsourcing is not installed: it is left out")
        else:
            rival = Eventsourcing(await stack.databases.create(fresh_name("rival")), CALLERS)
        async with (
            await open_pool(dsn, application_name="bench") as pool,
            PostgresEventStore(pool) as store,
            PostgresEventStore(pool) as reader,
        ):
            ours, plain = Ours(store), Plain(list(connections))
            await plain.prepare()
            await one_at_a_time(sizes, ours, plain, rival)
            await in_batches(sizes, ours, plain, rival)
            await reading(sizes, ours, pool, rival)
            await latency(sizes, store, reader)
            await growth(ours, sizes.growth)
        if rival is not None:
            rival.close()
        for connection in [*connections, owner]:
            await connection.close()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only prove that it runs")
    arguments = parser.parse_args()
    asyncio.run(run(QUICK if arguments.quick else FULL))


if __name__ == "__main__":
    main()
