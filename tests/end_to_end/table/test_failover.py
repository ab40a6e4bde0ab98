"""The owner of a table dies, hands over, or stands still for a while: another one goes on within seconds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import grpc.aio
import pytest
import pytest_asyncio

from eventstore.postgres import PostgresEventStore
from rules_core.round import events as e
from servicekit.grpc import failure_of
from stack.ports import free_ports
from tests.end_to_end.table.play import Table, Terms, ante, bet_item, fresh
from tests.end_to_end.table.processes import PLATFORM, Calls, Casino, calls_to, program
from tests.end_to_end.table.test_rounds import MONEY, agreed, everyone_has, players
from tests.wallet.edges.processes import WalletProcess, in_thread
from upcard.table.v1 import table_pb2 as pb

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE_S = 2.0
TAKEN_OVER_S = LEASE_S + 6.0
"""Within the lease's time, and what a busy machine needs to load and look."""
WAIT_S = 30.0
PASSING = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED})


@dataclass
class Second:
    """Another instance of the table service, and calls to it."""

    process: WalletProcess
    calls: Calls


@contextlib.contextmanager
def another(casino: Casino) -> Iterator[tuple[WalletProcess, str]]:
    """Start another instance; its address."""
    (port,) = free_ports(1)
    settings = {
        **casino.table_settings,
        "UPCARD_INSTANCE": f"table-{fresh()[:6]}",
        "UPCARD_GRPC__PORT": str(port),
    }
    with program(settings, "upcard_table") as process:
        yield process, f"127.0.0.1:{port}"


@pytest_asyncio.fixture(loop_scope="module")
async def second(casino: Casino) -> AsyncIterator[Second]:
    """A second instance beside the casino's."""
    async with contextlib.AsyncExitStack() as exits:
        instance = another(casino)
        process, address = await in_thread(instance.__enter__)
        exits.callback(instance.__exit__, None, None, None)
        wallet = f"127.0.0.1:{casino.wallet_settings['UPCARD_GRPC__PORT']}"
        yield Second(process, await exits.enter_async_context(calls_to(address, wallet)))


async def bet_until_taken(table: Table, names: tuple[str, ...]) -> tuple[float, pb.PlaceBetsItem]:
    """Send one bet again and again until it is accepted; how long that took, in seconds."""
    item = bet_item(ante(2, 100), who=names[0])
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                (outcome,) = await table.bet(PLATFORM, [item])
            except grpc.aio.AioRpcError as error:
                if failure_of(error).code not in PASSING:
                    raise
                await asyncio.sleep(0.05)
                continue
            assert outcome.HasField("accepted"), outcome
            return loop.time() - began_s, item


async def owned_by_first(casino: Casino, log: PostgresEventStore, **terms: Any) -> Table:
    """A table with an open round, owned by the casino's first instance."""
    table = Table(casino.calls, log, Terms("live-shared@1", betting_ms=6_000, window_ms=300, **terms))
    await table.open()
    await table.open_round()
    return table


async def finish(table: Table) -> None:
    """Deal until the round is over."""
    while not table.over():
        await table.deal(lambda _: None)


def extensions(table: Table) -> list[e.WindowExtended]:
    """How the betting was extended for a fail-over."""
    return [one for one in table.events if isinstance(one, e.WindowExtended) and one.reason == "fail_over"]


async def test_an_instance_that_is_stopped_and_wakes_up_harms_nothing(
    casino: Casino, log: PostgresEventStore, second: Second
) -> None:
    """SIGSTOP for longer than a lease lasts: the other one owns the table; the first wakes up and follows."""
    names = await players(casino, 2)
    table = await owned_by_first(casino, log)
    await table.bet(PLATFORM, [bet_item(ante(2, 100), who=names[1])])
    os.kill(casino.table.process.pid, signal.SIGSTOP)
    try:
        table.calls = second.calls
        took_s, item = await bet_until_taken(table, names)
        assert took_s < TAKEN_OVER_S
    finally:
        os.kill(casino.table.process.pid, signal.SIGCONT)
    table.calls = casino.calls  # who woke up passes calls on, or says that it cannot
    await bet_until_taken(table, (names[1],))
    await finish(table)
    assert extensions(table)
    assert [one.bet_id for one in table.events if isinstance(one, e.BetPlaced)].count(item.bet_id) == 1
    await everyone_has(casino, table, names, MONEY)
    await agreed(table, log)


async def test_an_owner_that_stops_hands_its_tables_over_at_once(
    casino: Casino, log: PostgresEventStore, second: Second
) -> None:
    """SIGTERM of the second instance, which owns a table by then: the first one has it soon."""
    names = await players(casino, 2)
    table = Table(second.calls, log, Terms("live-shared@1", betting_ms=6_000, window_ms=300))
    await table.open()
    await table.open_round()
    await table.bet(PLATFORM, [bet_item(ante(2, 100), who=names[1])])
    second.process.process.send_signal(signal.SIGTERM)
    table.calls = casino.calls
    took_s, _ = await bet_until_taken(table, names)
    assert took_s < TAKEN_OVER_S
    await finish(table)
    await everyone_has(casino, table, names, MONEY)
    await agreed(table, log)
    code = await asyncio.to_thread(second.process.process.wait, WAIT_S)
    assert code == 0, second.process.said


async def test_an_owner_that_is_killed_is_replaced_in_the_middle_of_a_window(
    casino: Casino, log: PostgresEventStore, second: Second
) -> None:
    """Kill -9 with bets in flight: what was accepted stands, what was not is free, the window is extended."""
    names = await players(casino, 12)
    (slow,) = await players(casino, 1)
    table = Table(second.calls, log, Terms("live-shared@1", betting_ms=6_000, window_ms=300))
    await table.open()
    await table.open_round()
    first = [bet_item(ante(2, 100), who=name) for name in names]
    await table.bet(PLATFORM, first[:6])
    racing = asyncio.gather(*(table.bet(PLATFORM, [item]) for item in first[6:]), return_exceptions=True)
    os.kill(second.process.process.pid, signal.SIGKILL)
    await racing
    table.calls = casino.calls
    took_s, _ = await bet_until_taken(table, (slow,))
    assert took_s < TAKEN_OVER_S
    # The same commands again: each has its one outcome, and it is what the stream says.
    outcomes = await table.bet(PLATFORM, first)
    await table.look()
    placed = {one.bet_id for one in table.events if isinstance(one, e.BetPlaced)}
    assert {item.bet_id for item, one in zip(first, outcomes, strict=True) if one.HasField("accepted")} == {
        item.bet_id for item in first
    } & placed
    assert {item.bet_id for item in first[:6]} <= placed
    await finish(table)
    assert extensions(table)
    await everyone_has(casino, table, (*names, slow), MONEY)
    await agreed(table, log)
