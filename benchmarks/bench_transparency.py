"""The tree over a log: what it costs appends, how quickly it is audited, how long a proof takes.

    python -m benchmarks.bench_transparency [--quick]

Each figure stands beside a baseline of the same run. What came of it stands in docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eventstore import Expect
from eventstore.migrations import prepare_event_log
from eventstore.postgres import Pool, PostgresEventStore, open_pool
from rules_core.merkle import Frontier, check_multiproof
from stack import Lane, Stack
from stack.names import fresh_name
from transparency.auditing import Audit, audit, one_line
from transparency.chaining import take_in
from transparency.migrations import prepare_transparency
from transparency.notes import SignerKey
from transparency.proving import prove
from transparency.signing import sign_committed
from transparency.tiles import additions

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.eventstore_contestants import new_events

ORIGIN = "upcard.bench/log"
STREAMS = 2_000
BATCH = 100


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    events: int
    leaves: int
    proofs: int


FULL = Sizes(events=400_000, leaves=10_000_000, proofs=500)
QUICK = Sizes(events=20_000, leaves=100_000, proofs=50)


async def fill(store: PostgresEventStore, first: int, events: int) -> float:
    """Append so many events, in batches, by eight callers; how long it took, in seconds."""
    began = time.perf_counter()
    batches = iter(range(first, first + events // BATCH))

    async def caller() -> None:
        for batch in batches:
            await store.append(f"round-t{batch % STREAMS}.1", new_events(BATCH), expected=Expect.ANY)

    await asyncio.gather(*(caller() for _ in range(8)))
    return time.perf_counter() - began


async def chain_all(pool: Pool, key: SignerKey) -> float:
    """Take everything in; how long it took."""
    began = time.perf_counter()
    async with pool.acquire() as connection:
        while (await take_in(connection)).behind:
            pass
        await sign_committed(connection, ORIGIN, [key])
    return time.perf_counter() - began


async def appends_beside_chainer(pool: Pool, store: PostgresEventStore, key: SignerKey, events: int) -> None:
    """Appends alone and beside a chainer that takes them in every second, by turns."""
    alone, beside = [], []
    for turn in range(3):
        alone.append(await fill(store, 4 * turn * events, events))
        await chain_all(pool, key)

        async def chain_every_second() -> None:
            while True:
                await chain_all(pool, key)
                await asyncio.sleep(1.0)

        task = asyncio.create_task(chain_every_second())
        beside.append(await fill(store, (4 * turn + 2) * events, events))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await chain_all(pool, key)
    cost = 100 * (statistics.median(beside) / statistics.median(alone) - 1)
    print(f"  appends alone            {events / statistics.median(alone):>10,.0f} events/s")
    print(
        f"  beside the chainer       {events / statistics.median(beside):>10,.0f} events/s"
        f"   {cost:+.0f} % time (wanted <= 10: {'yes' if cost <= 10 else 'NO'})"
    )


async def bare_walk(pool: Pool) -> tuple[int, float]:
    """The least that an audit can do: fetch all contents and hash them."""
    began, events = time.perf_counter(), 0
    async with pool.acquire() as connection, connection.transaction():
        async for row in connection.cursor("SELECT content FROM eventstore.events", prefetch=2_000):
            hashlib.sha256(row["content"]).digest()
            events += 1
    return events, time.perf_counter() - began


async def audits(pool: Pool, key: SignerKey) -> None:
    """The audit beside a bare walk."""
    events, bare = await bare_walk(pool)
    began = time.perf_counter()
    findings = await audit(pool, Audit(ORIGIN, (key.verifier,)))
    took = time.perf_counter() - began
    assert findings.clean, one_line(findings)
    assert findings.events == events
    rate = events / took
    print(f"  bare walk over contents  {events / bare:>10,.0f} events/s")
    print(
        f"  audit                    {rate:>10,.0f} events/s   {bare / took:.2f} x the bare walk"
        f" (wanted >= 200,000: {'yes' if rate >= 200_000 else 'NO'})"
    )


async def proofs(pool: Pool, key: SignerKey, sizes: Sizes) -> None:
    """Proofs of single events in a tree of many leaves, most of which are nobody's event."""
    async with pool.acquire() as connection, connection.transaction():
        row = await connection.fetchrow("SELECT size, frontier FROM transparency.tree")
        assert row is not None
        raw = row["frontier"]
        tree = Frontier(row["size"], tuple(raw[at : at + 32] for at in range(0, len(raw), 32)))
        while tree.size < sizes.leaves:
            step = min(100_000, sizes.leaves - tree.size)
            tree, made = tree.grown(
                hashlib.sha256(number.to_bytes(8, "big")).digest()
                for number in range(tree.size, tree.size + step)
            )
            tiles = list(additions(made).items())
            await connection.execute(
                "INSERT INTO transparency.tiles AS t (level, index, hashes)"
                " SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])"
                " ON CONFLICT (level, index) DO UPDATE SET hashes = t.hashes || excluded.hashes",
                [tile.level for tile, _ in tiles],
                [tile.index for tile, _ in tiles],
                [hashes for _, hashes in tiles],
            )
        await connection.execute("DELETE FROM transparency.signatures")
        await connection.execute(
            "UPDATE transparency.tree SET size = $1, frontier = $2", tree.size, b"".join(tree.hashes)
        )
        await connection.execute(
            "INSERT INTO transparency.checkpoints (size, root) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            tree.size,
            tree.root,
        )
    took, bare = [], []
    async with pool.acquire() as connection:
        while await sign_committed(connection, ORIGIN, [key]):
            pass
        await connection.execute("DELETE FROM transparency.signatures WHERE size < $1", sizes.leaves)
        some = await connection.fetch(
            "SELECT shard, shard_position, hash FROM eventstore.events ORDER BY event_id LIMIT $1",
            sizes.proofs,
        )
        for event in some:
            began = time.perf_counter()
            await connection.fetchval("SELECT 1")
            bare.append(time.perf_counter() - began)
            began = time.perf_counter()
            proved = await prove(connection, ORIGIN, [(event["shard"], event["shard_position"])])
            took.append(time.perf_counter() - began)
            leaf = hashlib.sha256(b"\x00" + event["hash"]).digest()
            assert check_multiproof({proved.indices[0]: leaf}, proved.size, proved.hashes, tree.root)
    took.sort()
    half, nearly = took[len(took) // 2] * 1_000, took[len(took) * 99 // 100] * 1_000
    print(
        f"  proof in {sizes.leaves:,} leaves   p50 {half:.2f} ms   p99 {nearly:.2f} ms"
        f"   {half / 1_000 / statistics.median(bare):.1f} x an empty question"
        f" (wanted <= 5 ms: {'yes' if half <= 5 else 'NO'})"
    )


async def main(sizes: Sizes) -> None:
    """Measure, one after the other."""
    key = SignerKey(ORIGIN, Ed25519PrivateKey.generate())
    async with Stack(Lane.EMBEDDED) as stack:
        dsn = await stack.databases.create(fresh_name("bench"))
        connection = await asyncpg.connect(dsn)
        try:
            await prepare_event_log(connection)
            await prepare_transparency(connection)
        finally:
            await connection.close()
        async with await open_pool(dsn, application_name="bench") as pool, PostgresEventStore(pool) as store:
            print(f"The tree over a log of {sizes.events:,} events")
            await appends_beside_chainer(pool, store, key, sizes.events // 6)
            await audits(pool, key)
            await proofs(pool, key, sizes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    asyncio.run(main(QUICK if parser.parse_args().quick else FULL))
