"""The wallet beside pgledger on one PostgreSQL, all commits durable: holds and settlements a second.

    python -m benchmarks.bench_wallet [--quick] [--tiny] [--pgledger FOLDER]

`--pgledger` (or UPCARD_PGLEDGER) names a folder with a copy of the repository pgr0ss/pgledger; without one,
bare statements on the same kind of rows take its place, which is a harder mark. With 50 and with 10 accounts,
all of one house. Contestants take turns; each is judged by the median of its turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import asyncpg

from eventstore.migrations import prepare_event_log
from eventstore.postgres import open_pool
from stack import Lane, Stack
from stack.names import fresh_name
from upcard_wallet.migrations import prepare_wallet

# Run as a file, like its siblings, it finds its modules all the same.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.wallet_contestants import Bare, Ours, Pgledger, Rival, Table

WORKERS: Final = 20
"""Connections of the rival, as many as its own check of performance has workers."""
ACCOUNTS: Final = (50, 10)
WANTED: Final = 5.0


@dataclass(frozen=True)
class Sizes:
    """How much is done in one turn."""

    turns: int
    transfers_each: int
    callers: int
    batches: int
    batch: int
    single_callers: int
    singles: int
    settled_players: int
    settled_at_once: int


FULL = Sizes(5, 200, 4, 10, 500, 64, 20, 10_000, 500)
QUICK = Sizes(1, 20, 4, 2, 100, 20, 3, 500, 500)
TINY = Sizes(1, 1, 2, 1, 5, 2, 1, 50, 50)


async def contest(sizes: Sizes, ours: Ours, rival: Rival, accounts: int) -> None:
    """All turns with so many accounts."""
    table = Table(f"{accounts} accounts of one house")
    among, house = f"{rival.name}, among players", f"{rival.name}, with the house"
    rounds = max(1, sizes.settled_players // accounts)
    at_once = max(1, sizes.settled_at_once // accounts)
    for _ in range(sizes.turns):
        transfers = WORKERS * sizes.transfers_each
        await table.turn(among, transfers, partial(rival.transfers, sizes.transfers_each, house=False))
        await table.turn(house, transfers, partial(rival.transfers, sizes.transfers_each, house=True))
        holds = sizes.callers * sizes.batches * sizes.batch
        batched = partial(ours.holds, sizes.callers, sizes.batches, sizes.batch)
        await table.turn(f"wallet, holds in batches of {sizes.batch}", holds, batched)
        singles = partial(ours.holds, sizes.single_callers, sizes.singles, 1)
        number = sizes.single_callers * sizes.singles
        await table.turn(f"holds one by one, {sizes.single_callers} callers", number, singles)
        names = await ours.staked_rounds(rounds)
        await table.turn("wallet, settlements", rounds * accounts, partial(ours.settle, names, at_once))
    table.show([among, house], WANTED)


async def run(sizes: Sizes, pgledger: Path | None) -> None:
    """Everything, on a PostgreSQL of its own."""
    async with Stack(Lane.EMBEDDED) as stack:
        for accounts in ACCOUNTS:
            ledger = await stack.databases.create(fresh_name("bench_wallet"))
            other = await stack.databases.create(fresh_name("bench_rival"))
            connections = [await asyncpg.connect(other) for _ in range(WORKERS)]
            owner = await asyncpg.connect(ledger)
            try:
                await prepare_event_log(owner)
                await prepare_wallet(owner)
                if accounts == ACCOUNTS[0]:
                    print(await owner.fetchval("SELECT version()"))
                    for name in ("fsync", "synchronous_commit", "shared_buffers", "wal_sync_method"):
                        print(f"  {name} = {await owner.fetchval(f'SHOW {name}')}", end="")
                    print()
                kind: type[Rival] = Bare
                if pgledger is not None:
                    await Pgledger.load(connections[0], pgledger)
                    kind = Pgledger
                rival = kind(connections, accounts)
                await rival.prepare()
                async with await open_pool(ledger, application_name="bench", max_size=16) as pool:
                    ours = Ours(pool, accounts)
                    await ours.prepare()
                    await contest(sizes, ours, rival, accounts)
            finally:
                for connection in (*connections, owner):
                    await connection.close()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only prove that it runs")
    parser.add_argument("--tiny", action="store_true", help="the same, with a handful of each")
    parser.add_argument(
        "--pgledger",
        type=Path,
        default=os.environ.get("UPCARD_PGLEDGER") or None,
        help="a folder with a copy of pgr0ss/pgledger",
    )
    arguments = parser.parse_args()
    if arguments.pgledger is not None and not (arguments.pgledger / "pgledger.sql").is_file():
        parser.error(
            f"{arguments.pgledger} has no pgledger.sql: name a copy of the repository pgr0ss/pgledger"
        )
    sizes = TINY if arguments.tiny else QUICK if arguments.quick else FULL
    asyncio.run(run(sizes, arguments.pgledger))


if __name__ == "__main__":
    main()
