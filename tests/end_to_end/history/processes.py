"""A history as a process of its own, and the services that it follows as far as it sees them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from eventstore import Expect, NewEvent
from rules_core.command_line.dice import Dice
from rules_core.command_line.random_round import START_US, RandomTable
from rules_core.log.content import parse_content, round_stream
from rules_core.rulesets.shipped import shipped
from servicekit.grpc import open_channel
from stack import Stack
from stack.names import fresh_name
from tests.eventstore.test_append_only import as_role
from tests.history.desk.world import KEY, ROUND_S, SIGNER, hash_of
from tests.history.world import PASSWORD
from tests.messaging.waiting import until
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import ROOT, WalletProcess, in_thread
from tests.wallet.edges.processes import environment as base_environment
from upcard.history.v1.history_pb2_grpc import HistoryServiceStub
from upcard_history.entrypoints.grpc.access import HISTORY

SERVING_S = 60.0
SOURCES = ("table", "wallet", "bonus")
BEHIND = """
SELECT (SELECT count(*) FROM eventstore.events) AS events,
       (SELECT sum(position) FROM eventstore.shard_heads)
           - (SELECT min(applied) FROM (SELECT sum(position) AS applied FROM eventstore.positions
                                         WHERE source = 'own' GROUP BY follower) AS f) AS behind,
       (SELECT count(*) FROM history.replay_queue) AS waiting
"""


def environment(
    stack: Stack, dsn: str, addresses: Mapping[str, str], *, namespace: str, **more: str
) -> dict[str, str]:
    """Settings of a history for this stack."""
    base = base_environment(stack, dsn, namespace=namespace)
    public = base64.b64encode(KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    given = {name: value for name, value in base.items() if name != "UPCARD_UPKEEP_INTERVAL_S"}
    return {
        **given,
        **{f"UPCARD_{source.upper()}_ADDRESS": address for source, address in addresses.items()},
        "UPCARD_TRUSTED_KEYS": f"gateway-1:player+dealer+staff+platform:{public}",
        "UPCARD_REPLAY_INTERVAL_S": "0.1",
        "UPCARD_LEASE_S": "2",
        **more,
    }


@contextlib.contextmanager
def running(
    settings: Mapping[str, str], *, kill_at: Path | None = None, ready: bool = True
) -> Iterator[WalletProcess]:
    """A history, ready if it is waited for; killed at the end, or at the point that `kill_at` names."""
    program = "upcard_history" if kill_at is None else "tests.end_to_end.history.program"
    more = {} if kill_at is None else {"KILL_AT": str(kill_at)}
    with tempfile.TemporaryDirectory() as folder:
        process = WalletProcess({**settings, **more}, Path(folder), program=program)
        try:
            if ready:
                process.until_ready()
            yield process
        finally:
            process.process.kill()
            process.process.wait()


@contextlib.asynccontextmanager
async def calls(process: WalletProcess) -> AsyncIterator[HistoryServiceStub]:
    """A stub; `acting_as` says in whose name it calls."""
    async with open_channel(
        process.address, audience="history", services=[HISTORY], signer=SIGNER
    ) as channel:
        await channel.wait_serving(SERVING_S)
        yield HistoryServiceStub(channel)


@dataclass
class Town:
    """Table, wallet and bonus, as far as a history sees them; and the history's database."""

    stack: Stack
    neighbours: dict[str, Neighbour]
    dsn: str
    """For the role that owns the database."""
    settings: dict[str, str]
    kept: int = 0
    """Events that were said so far."""
    rounds: dict[str, RandomTable] = field(default_factory=dict)

    async def play(
        self, ruleset: str, *, table: str, number: int = 1, players: Sequence[str] = ("p1",)
    ) -> None:
        """The table service plays a random round, whole."""
        made = RandomTable(shipped(ruleset), Dice(hash_of(table, number)), tuple(players), number)
        made.table, made.stream = table, round_stream(table, number)
        made._clock_us = START_US + (number - 1) * ROUND_S * 1_000_000
        made.play()
        contents = [(data, parse_content(data)) for data in made.contents]
        new = [NewEvent(uuid.UUID(one.event_id), one.type, data) for data, one in contents]
        await self.neighbours["table"]._store.append(made.stream, new, expected=Expect.NONE)
        self.rounds[f"{table}.{number}"] = made
        self.kept += len(new)

    async def account(self, player: str, *amounts: int) -> None:
        """The wallet opens an account and takes deposits."""
        account = f"{player}-EUR"
        opened = {
            "account": account,
            "player": player,
            "operator": "op1",
            "currency": "EUR",
            "purse": "internal",
        }
        wallet = self.neighbours["wallet"]
        await wallet.tells(f"account-{account}", "AccountOpened", opened)
        for amount in amounts:
            paid = {"transaction": str(uuid.uuid4()), "amount": amount}
            await wallet.tells(f"account-{account}", "Deposited", paid)
        self.kept += 1 + len(amounts)

    async def settled(self) -> None:
        """Wait until everything that was said is here, in all views, and replayed."""
        connection = await asyncpg.connect(self.dsn)
        try:

            async def there() -> bool:
                row = await connection.fetchrow(BEHIND)
                assert row is not None
                return (row["events"], row["behind"], row["waiting"]) == (self.kept, 0, 0)

            await until(there, what=f"{self.kept} events in all views", timeout_s=90.0)
        finally:
            await connection.close()

    async def value(self, query: str, *arguments: Any) -> Any:
        """One value of the history's database."""
        connection = await asyncpg.connect(self.dsn)
        try:
            return await connection.fetchval(query, *arguments)
        finally:
            await connection.close()

    async def command(self, *arguments: str) -> tuple[int, str, str]:
        """`python -m upcard_history …`, as the owner of the database: status, output, errors."""

        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "upcard_history", *arguments],
                cwd=ROOT,
                env={**self.settings, "UPCARD_DSN": self.dsn},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )

        done = await in_thread(run)
        return done.returncode, done.stdout, done.stderr


@dataclass
class House(Town):
    """A town, and a history that runs in it."""

    process: WalletProcess = field(kw_only=True)
    stub: HistoryServiceStub = field(kw_only=True)


@contextlib.asynccontextmanager
async def open_town(stack: Stack, template: str, role: str, **more: str) -> AsyncIterator[Town]:
    """The neighbours, and an empty database."""
    namespace = fresh_name("town").replace("_", "-")
    own, *others = [await stack.databases.create(fresh_name("town"), template) for _ in range(4)]
    async with contextlib.AsyncExitStack() as exits:
        neighbours = {
            source: await exits.enter_async_context(Neighbour(source, stack, dsn, namespace))
            for source, dsn in zip(SOURCES, others, strict=True)
        }
        addresses = {source: neighbour.address for source, neighbour in neighbours.items()}
        settings = environment(stack, as_role(own, role, PASSWORD), addresses, namespace=namespace, **more)
        yield Town(stack, neighbours, own, settings)


@contextlib.asynccontextmanager
async def open_house(stack: Stack, template: str, role: str) -> AsyncIterator[House]:
    """A history that runs, and its neighbours' relays."""
    async with open_town(stack, template, role) as town, contextlib.AsyncExitStack() as exits:
        for neighbour in town.neighbours.values():
            await exits.enter_async_context(neighbour.publishing())
        manager = running(town.settings)
        process = await in_thread(manager.__enter__)
        exits.callback(manager.__exit__, None, None, None)
        stub = await exits.enter_async_context(calls(process))
        yield House(town.stack, town.neighbours, town.dsn, town.settings, process=process, stub=stub)


async def ended(process: WalletProcess) -> int:
    """Wait until it has ended; its exit status."""
    async with asyncio.timeout(SERVING_S):
        code: int = await in_thread(process.process.wait)
        return code
