"""The wallet is killed while it is asked for money, at every point of that: the bet's money is held once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from rules_core.round.events import DeclinedStake
from servicekit.grpc import acting_as
from stack import Stack
from stack.names import fresh_name
from stack.ports import free_ports
from tests.end_to_end.table.conftest import PASSWORD
from tests.eventstore.test_append_only import as_role
from tests.wallet.edges.client import Client, new_round
from tests.wallet.edges.processes import PLATFORM, calls, channel_to, environment, in_thread, running
from upcard.wallet.v1.wallet_pb2_grpc import WalletServiceStub
from upcard_table.adapters.wallet.funds import WalletFunds
from upcard_table.app.ports import HoldsAnswer, WantedHolds
from upcard_wallet.adapters import faults as ledger_faults

POINTS = (*sorted(ledger_faults.POINTS), "wallet.holds.placed")
DEADLINE_S = 60.0


@contextlib.asynccontextmanager
async def asking(address: str) -> AsyncIterator[WalletFunds]:
    """The table's side, which stays while wallets come and go."""
    ending = asyncio.Event()
    async with channel_to(address) as channel:
        funds = WalletFunds(WalletServiceStub(channel))
        work = asyncio.create_task(funds.run(ending))
        try:
            yield funds
        finally:
            ending.set()
            await work


@pytest.fixture
async def wallet_dsn(stack: Stack, wallet_template: str, service_role: str) -> str:
    """A database of this test."""
    owner = await stack.databases.create(fresh_name("killed"), wallet_template)
    return as_role(owner, service_role, PASSWORD)


async def test_a_wallet_that_dies_while_it_is_asked_holds_the_money_once(
    stack: Stack, wallet_dsn: str, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    settings = environment(stack, wallet_dsn, UPCARD_GRPC__PORT=str(port))
    kill_at = tmp_path / "point"
    before: list[tuple[Client, asyncio.Future[HoldsAnswer]]] = []
    async with asking(f"127.0.0.1:{port}") as funds:
        for point in (*POINTS, None):
            kill_at.write_text("")
            async with contextlib.AsyncExitStack() as exits:
                exits.enter_context(acting_as(PLATFORM))
                process = running(settings, kill_at=kill_at)
                wallet = await in_thread(process.__enter__)
                exits.callback(process.__exit__, None, None, None)
                stub = await exits.enter_async_context(calls(wallet))
                for client, answer in before:
                    async with asyncio.timeout(DEADLINE_S):
                        assert await answer == HoldsAnswer("held")
                    client.stub = stub
                    assert await client.has() == (70, 30)
                if point is None:
                    return
                client = Client(stub)
                await client.funded(100)
                kill_at.write_text(point)
                stakes = (DeclinedStake(1, "ante", 30),)
                wanted = WantedHolds(new_round(), client.player, "EUR", "b1", stakes, "corr-1")
                answer = funds.ask(wanted, asyncio.get_running_loop().time() + DEADLINE_S)
                assert await in_thread(partial(wallet.process.wait, DEADLINE_S)) == -9, point
                # At the last point the answer was on its way: it counts if it came.
                assert point == POINTS[-1] or not answer.done(), point
                before = [(client, answer)]
