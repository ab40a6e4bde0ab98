"""What bench_wallet.py lets compete: the wallet's use cases, pgledger, and bare statements on such rows."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eventstore.postgres import Connection, Pool, append_in_transaction
from rules_core.round.events import CurrencyTotal, PlayerSettled, RoundEvent, RoundSettled
from rules_core.settlement.model import BoxResult, DealerResult, Line
from upcard_wallet.adapters.internal_purse import InternalPurse
from upcard_wallet.adapters.postgres import PostgresLedger
from upcard_wallet.app.deposit import Deposit, deposit
from upcard_wallet.app.follow_rounds import RoundFact, follow_rounds
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.open_account import OpenAccount, open_account
from upcard_wallet.app.place_holds import WantedHold, WantedHolds, place_holds
from upcard_wallet.app.ports import Unwatched
from upcard_wallet.app.purse import Purse, PurseKind
from upcard_wallet.app.recording import Recorder
from upcard_wallet.app.wallet import Origin, Wallet

STAKE: Final = 10
_RICH: Final = 2**40
_ORIGIN: Final = Origin("platform", "bench")
_DEALER: Final = DealerResult("nothing", (), "nothing", qualified=False, purchased=False)


@dataclass(frozen=True)
class Measured:
    """What was done a second, and how much of a core this process took for it."""

    per_s: float
    generator_cores: float


async def timed(number: int, work: Callable[[], Awaitable[object]]) -> Measured:
    """Run the work once."""
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    wall = time.perf_counter() - wall
    return Measured(number / wall, (time.process_time() - cpu) / wall)


class Table:
    """Collects turns and prints them."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._turns: dict[str, list[Measured]] = {}

    async def turn(self, name: str, number: int, work: Callable[[], Awaitable[object]]) -> None:
        """One turn of a contestant."""
        self._turns.setdefault(name, []).append(await timed(number, work))

    def per_s(self, name: str) -> float:
        """A contestant's result."""
        return statistics.median(one.per_s for one in self._turns[name])

    def show(self, rivals: Sequence[str], wanted: float) -> None:
        """All results, and the ratio of each of ours to each rival's."""
        print(f"\n{self._title}")
        for name, turns in self._turns.items():
            cores = statistics.median(one.generator_cores for one in turns)
            line = f"  {name:<36} {self.per_s(name):>9,.0f} /s   load generator {cores:.2f} cores"
            for rival in rivals if name not in rivals else ():
                ratio = self.per_s(name) / self.per_s(rival)
                line += f"   {ratio:.2f} x {rival}"
                if name.startswith("wallet"):
                    line += f" (wanted >= {wanted:g}: {'yes' if ratio >= wanted else 'NO'})"
            print(line, flush=True)


class Ours:
    """The wallet's use cases as the service runs them, without gRPC and Kafka around them."""

    def __init__(self, pool: Pool, accounts: int) -> None:
        self._pool = pool
        purses: dict[PurseKind, Purse] = {}
        self._wallet = Wallet(PostgresLedger(), purses, Recorder(), Unwatched())
        purses["internal"] = InternalPurse(pool, Records(self._wallet), lambda _: None)
        self._players = [f"p{accounts}-{number}" for number in range(accounts)]
        self._table = f"t{accounts}"
        self._rounds = 0
        self._bets = 0

    async def prepare(self) -> None:
        """Open the accounts, all of one operator, and make them rich."""
        for player in self._players:
            account = f"{player}-EUR"
            async with self._pool.acquire() as connection, connection.transaction():
                wanted = OpenAccount(account, player, "op1", "EUR", "internal")
                opened = await open_account(self._wallet, connection, wanted, _ORIGIN)
                await append_in_transaction(connection, opened.appends)
            async with self._pool.acquire() as connection, connection.transaction():
                paid = await deposit(self._wallet, connection, Deposit(account, _RICH, account), _ORIGIN)
                await append_in_transaction(connection, paid.appends)

    def new_round(self) -> str:
        """A round that nobody has."""
        self._rounds += 1
        return f"{self._table}.{self._rounds}"

    def commands(self, round_name: str, number: int) -> list[WantedHolds]:
        """Commands of the players in their turn, each with one ante."""
        made = []
        for _ in range(number):
            self._bets += 1
            player = self._players[self._bets % len(self._players)]
            ante = (WantedHold(1, "ante", STAKE),)
            bet_id, actor = f"b{self._bets}", f"player:{player}"
            made.append(WantedHolds(round_name, player, "EUR", bet_id, ante, actor, "bench"))
        return made

    async def holds(self, callers: int, batches: int, size: int) -> None:
        """Batches of commands by callers at once; each command is held or the benchmark ends."""
        round_name = self.new_round()

        async def call() -> None:
            for _ in range(batches):
                deadline = asyncio.get_running_loop().time() + 60
                commands = self.commands(round_name, size)
                placed = await place_holds(self._wallet, self._pool, commands, deadline)
                if any(one.outcome.state != "held" for one in placed):
                    raise RuntimeError("a command is not held")

        await asyncio.gather(*(call() for _ in range(callers)))

    async def staked_rounds(self, rounds: int) -> list[str]:
        """Rounds in which every player has staked: what `settle` takes."""
        names = [self.new_round() for _ in range(rounds)]
        for name in names:
            deadline = asyncio.get_running_loop().time() + 60
            await place_holds(self._wallet, self._pool, self.commands(name, len(self._players)), deadline)
        return names

    async def settle(self, rounds: Sequence[str], rounds_at_once: int) -> None:
        """Give rounds their ends, as the consumer of the table's log does: some of them a transaction."""
        for first in range(0, len(rounds), rounds_at_once):
            facts = [fact for name in rounds[first : first + rounds_at_once] for fact in self._end_of(name)]
            async with self._pool.acquire() as connection, connection.transaction():
                appends = await follow_rounds(self._wallet, connection, facts)
                await append_in_transaction(connection, appends)

    def _end_of(self, round_name: str) -> list[RoundFact]:
        results = [_settled(player, won=number % 2 == 0) for number, player in enumerate(self._players)]
        staked, returned = sum(one.staked for one in results), sum(one.returned for one in results)
        total = CurrencyTotal("EUR", len(results), staked, returned)
        events: list[RoundEvent] = [*results, RoundSettled(_DEALER, (total,))]
        new_id = self._wallet.recorder.new_id
        return [RoundFact(round_name, new_id(), "bench", event) for event in events]


def _settled(player: str, *, won: bool) -> PlayerSettled:
    returned = 2 * STAKE if won else 0
    line = Line("ante", STAKE, returned, "bench", None, None)
    net = returned - STAKE
    box = BoxResult(1, player, "win", "one_pair", (), 1, (line,), STAKE, returned, net)
    return PlayerSettled(player, "EUR", 1, (box,), STAKE, returned, net)


class Rival:
    """Transfers of one amount between two accounts: of random players, or of a player and the house."""

    name = ""
    transfer = ""

    def __init__(self, connections: Sequence[Connection], accounts: int) -> None:
        self._connections = connections
        self._number = accounts
        self._ids: list[object] = []
        self._dice = random.Random(accounts)

    async def prepare(self) -> None:
        """Make the accounts; the first one is the house."""
        raise NotImplementedError

    async def transfers(self, each: int, *, house: bool) -> None:
        """So many transfers over each connection, all at once."""

        async def call(connection: Connection) -> None:
            for _ in range(each):
                one, other = self._dice.sample(self._ids[1:], 2)
                await connection.execute(self.transfer, one, self._ids[0] if house else other, STAKE)

        await asyncio.gather(*map(call, self._connections))


class Pgledger(Rival):
    """pgledger as its own check of performance drives it: one transfer a call, 20 workers."""

    name = "pgledger"

    async def prepare(self) -> None:
        """Make the accounts."""
        kind = await self._connections[0].fetchval(
            "SELECT format_type(proargtypes[2], NULL) FROM pg_proc WHERE proname = 'pgledger_create_transfer'"
        )
        self.transfer = f"SELECT id FROM pgledger_create_transfer($1, $2, $3::bigint::{kind})"  # noqa: S608 - a type's name
        for _ in range(self._number + 1):
            made = "SELECT id FROM pgledger_create_account('account', 'EUR')"
            self._ids.append(await self._connections[0].fetchval(made))

    @staticmethod
    async def load(connection: Connection, folder: Path) -> None:
        """Load a copy of the repository: what it vendors, then its one file."""
        for text in await asyncio.to_thread(_texts, folder):
            await connection.execute(text)


def _texts(folder: Path) -> list[str]:
    paths = (*sorted(folder.glob("vendor/**/*.sql")), folder / "pgledger.sql")
    return [path.read_text(encoding="utf-8") for path in paths]


class Bare(Rival):
    """The least that a ledger with balances in rows does: two balances changed, a transfer, two entries."""

    name = "bare rows"
    transfer = """
        WITH moved AS (
            UPDATE bare.accounts AS a SET balance = a.balance + CASE a.id WHEN $1 THEN -$3::bigint ELSE $3 END
             WHERE a.id IN (SELECT id FROM bare.accounts WHERE id IN ($1, $2) ORDER BY id FOR NO KEY UPDATE)
            RETURNING a.id, a.balance
        ), made AS (
            INSERT INTO bare.transfers (giver, taker, amount) VALUES ($1, $2, $3) RETURNING id
        )
        INSERT INTO bare.entries (transfer, account, amount, balance)
        SELECT made.id, moved.id, CASE moved.id WHEN $1 THEN -$3::bigint ELSE $3 END, moved.balance
          FROM made, moved
        """

    async def prepare(self) -> None:
        """Make the tables and the accounts."""
        connection = self._connections[0]
        await connection.execute("""
            DROP SCHEMA IF EXISTS bare CASCADE;
            CREATE SCHEMA bare;
            CREATE TABLE bare.accounts (id bigint PRIMARY KEY, balance bigint NOT NULL);
            CREATE TABLE bare.transfers (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                made_at timestamptz NOT NULL DEFAULT now(),
                giver bigint NOT NULL, taker bigint NOT NULL, amount bigint NOT NULL
            );
            CREATE TABLE bare.entries (
                transfer bigint NOT NULL, account bigint NOT NULL,
                amount bigint NOT NULL, balance bigint NOT NULL
            );
            CREATE INDEX ON bare.entries (transfer);
            CREATE INDEX ON bare.entries (account);
            """)
        self._ids = list(range(self._number + 1))
        await connection.executemany(
            "INSERT INTO bare.accounts VALUES ($1, 0)", [(one,) for one in self._ids]
        )
