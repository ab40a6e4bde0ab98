"""Load on the table service: players with money, bets one by one and in batches, and a bare echo beside."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc.aio

from benchmarks.echo_server import METHOD
from servicekit.grpc import acting_as
from upcard.table.v1 import table_pb2
from upcard.wallet.v1 import wallet_pb2
from upcard_operate.demo.casino import PLATFORM, Casino, new_id, player
from upcard_operate.demo.tables import CHIPS, CURRENCY

CALL_S = 30.0
ANTE = 100
DEPOSIT = 10**12


@dataclass(frozen=True)
class Measured:
    """What a burst of calls cost; `share`: of a core, for this process."""

    per_s: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    share: float

    def line(self, name: str, unit: str = "calls") -> str:
        """As it is printed."""
        return (
            f"  {name:<34} {self.per_s:>9,.0f} {unit}/s   p50 {self.p50_ms:7.2f} ms"
            f"   p99 {self.p99_ms:7.2f} ms   load generator {self.share:.2f} cores"
        )


async def burst(
    callers: int, each: int, call: Callable[[int, int], Coroutine[Any, Any, None]], things: int = 1
) -> Measured:
    """So many callers at once, each calling so often; `things` are done by one call."""
    took: list[float] = []

    async def one(caller: int) -> None:
        for turn in range(each):
            began = time.perf_counter()
            await call(caller, turn)
            took.append(time.perf_counter() - began)

    cpu, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one(caller) for caller in range(callers)))
    wall = time.perf_counter() - began
    share = (time.process_time() - cpu) / wall
    cuts = statistics.quantiles(took, n=100) if len(took) > 1 else took * 99
    return Measured(callers * each * things / wall, cuts[49] * 1000, cuts[98] * 1000, max(took) * 1000, share)


@contextmanager
def echo_address() -> Iterator[str]:
    """An echo server as a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.echo_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        env=os.environ,
    )
    try:
        assert process.stdout is not None
        yield f"127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


async def echo(callers: int, each: int) -> Measured:
    """What a bare unary call costs here, with a payload as large as one bet's."""
    payload = bet_call("bench", 1, [bet("player-00001")]).SerializeToString()
    with echo_address() as address:
        async with grpc.aio.insecure_channel(address) as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD)

            async def once(_: int, __: int) -> None:
                await call(payload, timeout=CALL_S)

            await burst(callers, max(1, each // 10), once)  # warm
            return await burst(callers, each, once)


async def enter(casino: Casino, players: list[str]) -> None:
    """Open accounts and pay in."""
    gate = asyncio.Semaphore(64)

    async def one(name: str) -> None:
        account = wallet_pb2.Account(
            account=f"{name}-a",
            player=name,
            operator="bench",
            currency=CURRENCY,
            purse=wallet_pb2.PURSE_INTERNAL,
        )
        async with gate:
            with acting_as(PLATFORM):
                opening = wallet_pb2.OpenAccountRequest(request_id=new_id(), account=account)
                opened = await casino.wallet.OpenAccount(opening, timeout=CALL_S)
                assert not opened.HasField("refusal"), opened
                paying = wallet_pb2.DepositRequest(
                    request_id=new_id(), account=f"{name}-a", amount=DEPOSIT, currency=CURRENCY
                )
                paid = await casino.wallet.Deposit(paying, timeout=CALL_S)
                assert not paid.HasField("refusal"), paid

    await asyncio.gather(*map(one, players))


def config(name: str, *, betting_ms: int, other_ms: int = 2_000) -> table_pb2.TableConfig:
    """A shared table where nothing but money and time limits a bet."""
    limits = table_pb2.CurrencyLimits(
        currency=CURRENCY, chip=1, ante=table_pb2.AmountRange(min=1, max=10**9), chips=CHIPS
    )
    return table_pb2.TableConfig(
        name=name,
        ruleset="live-shared@1",
        limits=[limits],
        durations=table_pb2.Durations(
            betting_ms=betting_ms,
            options_ms=other_ms,
            final_options_ms=other_ms,
            purchase_ms=other_ms,
            extension_max_ms=20_000,
        ),
        confirm_cards_ms=2_000,
    )


def bet(name: str, box: int = 2) -> table_pb2.PlaceBetsItem:
    """One ante of one player."""
    wager = table_pb2.Wager(box=box, wager="ante", amount=ANTE, blind=box != 2)
    return table_pb2.PlaceBetsItem(player=name, currency=CURRENCY, bet_id=new_id(), placements=[wager])


def bet_call(table: str, number: int, items: list[table_pb2.PlaceBetsItem]) -> table_pb2.PlaceBetsRequest:
    """These bets in one call."""
    return table_pb2.PlaceBetsRequest(request_id=new_id(), table=table, round=number, items=items)


async def place_one(casino: Casino, table: str, number: int, name: str) -> None:
    """A player's own bet, in a call of its own."""
    with acting_as(player(name)):
        answer = await casino.table.PlaceBets(bet_call(table, number, [bet(name)]), timeout=CALL_S)
    assert answer.items[0].HasField("accepted"), answer


async def place_many(casino: Casino, table: str, number: int, names: list[str]) -> None:
    """Bets of many players in one call of their platform."""
    with acting_as(PLATFORM):
        request = bet_call(table, number, [bet(name) for name in names])
        answer = await casino.table.PlaceBets(request, timeout=CALL_S)
    assert all(item.HasField("accepted") for item in answer.items), answer
