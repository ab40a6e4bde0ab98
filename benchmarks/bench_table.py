"""The services together: bets beside a bare echo, a crowded round to the balances, many tables at once.

    python -m benchmarks.bench_table [--quick] [--lane embedded|native]

Everything is durable and runs as processes on this machine: PostgreSQL, the broker, the four services; this
process is the load generator, and its share of a core is printed. What came of it is in docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import asyncpg

from stack import Lane, Stack
from upcard_operate.demo.casino import Casino, entered
from upcard_operate.demo.house import House, View
from upcard_operate.demo.tables import DemoTable
from upcard_operate.local.fleet import Fleet

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.table_load import burst, config, echo, enter, place_many, place_one

CALLERS = 64
ITEMS = 200
BATCH_CALLERS = 8
LIVE = "live-shared@1"
# The event that closes a window against the time that was announced for it.
LATE = """
SELECT max(extract(epoch FROM (p.payload->>'closed_at')::timestamptz - w.closes_at) * 1000)::float8
  FROM (SELECT stream, stream_position, convert_from(content, 'UTF8')::jsonb->'payload' AS payload
          FROM eventstore.events WHERE type = 'BettingClosed') AS p
  JOIN LATERAL (SELECT (convert_from(content, 'UTF8')::jsonb->'payload'->>'closes_at')::timestamptz
                       AS closes_at
                  FROM eventstore.events AS e
                 WHERE e.stream = p.stream AND e.type IN ('RoundOpened', 'WindowExtended')
                   AND e.stream_position < p.stream_position
                 ORDER BY e.stream_position DESC LIMIT 1) AS w ON true
"""
SETTLED = "SELECT count(*) FROM wallet.settlements WHERE round = $1"
# Rows that a settled round leaves, and where they lie.
ROWS = (
    ("table", "eventstore.events", "type IN ('PlayerSettled', 'RoundSettled')"),
    ("wallet", "eventstore.events", "type = 'WagersSettled'"),
    ("wallet", "wallet.settlements", "true"),
    ("wallet", "wallet.transactions", "kind = 'settlement'"),
    (
        "wallet",
        "wallet.postings",
        "transaction IN (SELECT transaction FROM wallet.transactions WHERE kind = 'settlement')",
    ),
)


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    calls: int
    players: int
    crowd: int
    tables: int
    tables_s: float


FULL = Sizes(calls=150, players=2_000, crowd=10_000, tables=100, tables_s=90.0)
QUICK = Sizes(calls=4, players=200, crowd=200, tables=3, tables_s=20.0)


async def bets(casino: Casino, sizes: Sizes) -> None:
    """Bets accepted a second, batched and one by one, beside a bare echo."""
    players = [f"bench-{number:05}" for number in range(sizes.players)]
    await enter(casino, players)
    table = DemoTable("bench-bets", LIVE, None)
    house = House(casino, table, Random(1), config("bets", betting_ms=600_000))
    await house.open()
    number = await house.open_round()
    bare = await echo(CALLERS, sizes.calls * 10)
    print(bare.line("bare grpc.aio echo, 64 callers"))

    async def single(caller: int, turn: int) -> None:
        await place_one(casino, table.table, number, players[(caller + CALLERS * turn) % len(players)])

    await burst(CALLERS, 1, single)  # warm
    one = await burst(CALLERS, sizes.calls, single)
    print(one.line("one bet a call, 64 callers", "bets"))

    async def many(caller: int, turn: int) -> None:
        start = (caller * ITEMS + turn * BATCH_CALLERS * ITEMS) % len(players)
        await place_many(casino, table.table, number, (players + players)[start : start + ITEMS])

    batched = await burst(BATCH_CALLERS, max(1, sizes.calls // 10), many, ITEMS)
    print(batched.line(f"{ITEMS} bets a call, {BATCH_CALLERS} callers", "bets"))
    _ratio("batched / echo", batched.per_s / bare.per_s, 3.0)
    _ratio("one by one / echo", one.per_s / bare.per_s, 0.5)
    _ratio("p99 one by one / p99 echo", one.p99_ms / bare.p99_ms, 10.0, at_most=True)


async def crowded_round(casino: Casino, fleet: Fleet, sizes: Sizes) -> None:
    """From the last scan of a shared round to all balances visible, beside a raw COPY of the same rows."""
    players = [f"crowd-{number:05}" for number in range(sizes.crowd)]
    await enter(casino, players)
    table = DemoTable("bench-crowd", LIVE, None)
    house = House(
        casino, table, Random(2), config("crowd", betting_ms=60_000 if sizes is FULL else 8_000, other_ms=500)
    )
    await house.open()
    number = await house.open_round()

    async def many(_: int, turn: int) -> None:
        await place_many(casino, table.table, number, players[turn * ITEMS : (turn + 1) * ITEMS])

    await burst(1, -(-len(players) // ITEMS), many, ITEMS)
    last_scan = 0.0
    name = f"{table.table}.{number}"

    async def on_window(view: View) -> None:
        del view

    lay = house.__class__._lay  # noqa: SLF001 - the moment of the last scan is what is measured

    async def timed(self: House, number: int, desk: View, cards: Iterator[str]) -> bool:
        nonlocal last_scan
        laid = await lay(self, number, desk, cards)
        if laid:
            last_scan = time.perf_counter()
        return laid

    house.__class__._lay = timed  # type: ignore[method-assign]  # noqa: SLF001 - likewise
    try:
        await house.deal(number, on_window)
    finally:
        house.__class__._lay = lay  # type: ignore[method-assign]  # noqa: SLF001 - likewise
    connection = await asyncpg.connect(fleet.admin_dsn("wallet"))
    try:
        async with asyncio.timeout(300.0):
            while await connection.fetchval(SETTLED, name) < len(players):  # noqa: ASYNC110 - a measurement
                await asyncio.sleep(0.02)
    finally:
        await connection.close()
    took = time.perf_counter() - last_scan
    copied, rows = await _copied(fleet)
    print(f"  shared round of {len(players):,} players, last scan to all balances: {took:.2f} s")
    print(f"  raw COPY of the same {rows:,} rows: {copied:.2f} s")
    _ratio("took / (2 x COPY + 1 s)", took / (2 * copied + 1.0), 1.0, at_most=True)


async def _copied(fleet: Fleet) -> tuple[float, int]:
    """How long the same rows take through COPY, into tables of the same columns without index or trigger."""
    took, count = 0.0, 0
    for service, source, condition in ROWS:
        connection = await asyncpg.connect(fleet.admin_dsn(service))
        try:
            await connection.execute(f"CREATE TABLE bench_copy AS SELECT * FROM {source} WHERE false")  # noqa: S608 - names written above
            rows = await connection.fetch(f"SELECT * FROM {source} WHERE {condition}")  # noqa: S608 - names written above
            records = [tuple(row) for row in rows]
            began = time.perf_counter()
            await connection.copy_records_to_table("bench_copy", records=records)
            took += time.perf_counter() - began
            count += len(records)
            await connection.execute("DROP TABLE bench_copy")
        finally:
            await connection.close()
    return took, count


async def many_tables(casino: Casino, fleet: Fleet, sizes: Sizes) -> None:
    """Tables played at once: rounds an hour, the slowest bet, the latest window."""
    ends = time.monotonic() + sizes.tables_s
    rounds, slowest = 0, 0.0

    async def play(place: int) -> None:
        nonlocal rounds, slowest
        table = DemoTable(f"bench-t{place}", LIVE, None)
        house = House(casino, table, Random(place), config(table.table, betting_ms=10_000, other_ms=3_000))
        players = [f"many-{place}-{seat}" for seat in range(5)]
        await enter(casino, players)
        await house.open()
        while time.monotonic() < ends:
            number = await house.open_round()
            for name in players:
                began = time.perf_counter()
                await place_one(casino, table.table, number, name)
                slowest = max(slowest, time.perf_counter() - began)
                await asyncio.sleep(1.0)

            async def on_window(view: View) -> None:
                del view

            await house.deal(number, on_window)
            rounds += 1

    began = time.monotonic()
    await asyncio.gather(*(play(place) for place in range(sizes.tables)))
    took = time.monotonic() - began
    connection = await asyncpg.connect(fleet.admin_dsn("table"))
    try:
        late_ms: float = await connection.fetchval(LATE)
    finally:
        await connection.close()
    an_hour = rounds / took * 3600
    print(f"  {sizes.tables} tables at once: {rounds} rounds in {took:.0f} s, {an_hour:,.0f} rounds an hour")
    _ratio("slowest bet, s", slowest, 1.0, at_most=True)
    _ratio("latest close of betting, ms", late_ms, 250.0, at_most=True)


def _ratio(name: str, value: float, wanted: float, *, at_most: bool = False) -> None:
    right = value <= wanted if at_most else value >= wanted
    sign = "<=" if at_most else ">="
    print(f"  {name} = {value:.2f} (wanted {sign} {wanted:g}: {'yes' if right else 'NO'})")


def _memory(fleet: Fleet) -> None:
    for service, process in fleet.processes.items():
        status = Path(f"/proc/{process.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            print(f"  {service:<8} peak memory {int(peak.split()[1]) // 1024} MiB")


async def measure(fleet: Fleet, sizes: Sizes) -> None:
    """All of it."""
    async with entered(fleet) as casino:
        await bets(casino, sizes)
        await crowded_round(casino, fleet, sizes)
        await many_tables(casino, fleet, sizes)
    _memory(fleet)


def main() -> None:
    """Start everything, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only prove that it runs")
    parser.add_argument("--lane", choices=[lane.value for lane in Lane], default="embedded")
    given = parser.parse_args()
    more = {service: {"UPCARD_GRPC__MAX_CALLS": "4096"} for service in ("table", "wallet")}
    with (
        tempfile.TemporaryDirectory(prefix="upcard-bench-") as folder,
        Stack(Lane(given.lane)) as stack,
        Fleet(stack, Path(folder), more=more) as fleet,
    ):
        asyncio.run(measure(fleet, QUICK if given.quick else FULL))


if __name__ == "__main__":
    main()
