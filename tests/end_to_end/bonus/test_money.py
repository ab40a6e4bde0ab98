"""A table's round, the bonus service and a wallet: shares and free bets reach the players' money."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import pytest

from eventstore.migrations import prepare_event_log
from messaging.migrations import prepare_messaging
from rules_core.round import events as e
from servicekit.grpc import acting_as
from stack import Stack
from stack.names import fresh_name
from tests.bonus.conftest import PASSWORD
from tests.bonus.edges.client import Client
from tests.bonus.office.world import DEALER, opened, placed, settled
from tests.end_to_end.bonus.processes import serving
from tests.eventstore.test_append_only import as_role
from tests.messaging.waiting import until
from tests.wallet.edges.client import Client as WalletClient
from tests.wallet.edges.neighbours import Neighbour
from tests.wallet.edges.processes import PLATFORM, calls, in_thread
from tests.wallet.edges.processes import environment as wallet_environment
from tests.wallet.edges.processes import running as running_wallet
from upcard.wallet.v1 import wallet_pb2
from upcard_wallet.migrations import prepare_wallet

POOL = "SELECT balance FROM wallet.books JOIN wallet.balances USING (book) WHERE kind = 'jackpot'"
TIMEOUT_S = 20.0


@dataclass
class Casino:
    """The three of them, and what a player has."""

    table: Neighbour
    bonus: Client
    wallet: WalletClient
    dsn: str
    """Of the wallet's database."""

    async def pool(self) -> int:
        """What the wallet has in the pool."""
        connection = await asyncpg.connect(self.dsn)
        try:
            return int(await connection.fetchval(POOL) or 0)
        finally:
            await connection.close()

    async def has(self) -> tuple[int, int]:
        """The player's cash and free bets."""
        request = wallet_pb2.GetBalanceRequest(account=self.wallet.account)
        found = (await self.wallet.stub.GetBalance(request, timeout=TIMEOUT_S)).found.balance
        return found.cash, found.promo


@pytest.fixture
async def casino(
    stack: Stack, settings: dict[str, str], table: Neighbour, namespace: str, service_role: str
) -> AsyncIterator[Casino]:
    """All of them run, and events go over Kafka."""
    owner = await stack.databases.create(fresh_name("wallet"))
    connection = await asyncpg.connect(owner)
    try:
        await prepare_event_log(connection, service_role=service_role)
        await prepare_messaging(connection, service_role=service_role)
        await prepare_wallet(connection, service_role=service_role)
    finally:
        await connection.close()
    async with contextlib.AsyncExitStack() as exits:
        bonus, client = await exits.enter_async_context(serving(settings))
        given = wallet_environment(
            stack,
            as_role(owner, service_role, PASSWORD),
            table=table.address,
            namespace=namespace,
            UPCARD_BONUS_ADDRESS=bonus.address,
        )
        process = running_wallet(given)
        wallet = await in_thread(process.__enter__)
        exits.push_async_callback(in_thread, lambda: process.__exit__(None, None, None))
        await exits.enter_async_context(table.publishing())
        stub = await exits.enter_async_context(calls(wallet))
        exits.enter_context(acting_as(PLATFORM))
        yield Casino(table, client, WalletClient(stub), owner)


async def test_shares_and_free_bets_reach_the_players_money(casino: Casino) -> None:
    player = casino.wallet.player
    await casino.wallet.funded(1_000)
    await casino.bonus.open("j1", tables=["t1"])
    name = "t1.1"
    (held,) = await casino.wallet.place(_bet(casino.wallet, name))
    assert held.outcome == wallet_pb2.HOLD_OUTCOME_HELD
    result = settled(player, 100, 10)
    await casino.table.says(
        name,
        opened(name),
        placed(player, (1, "bonus_player", 100)),
        result,
        e.RoundSettled(DEALER, (e.CurrencyTotal("EUR", 1, 100, 100),)),
    )

    async def paid() -> bool:
        return await casino.has() == (1_101, 0)

    await until(paid, what="a tenth of 1,010", timeout_s=60)

    async def filled_up() -> bool:
        return await casino.pool() == 1_000

    await until(filled_up, what="the pool filled up", timeout_s=60)
    await casino.bonus.grant("f1", player=player)

    async def granted() -> bool:
        return await casino.has() == (1_101, 500)

    await until(granted, what="a free bet of 500", timeout_s=60)


def _bet(client: WalletClient, name: str) -> wallet_pb2.HoldCommand:
    return wallet_pb2.HoldCommand(
        round=name,
        player=client.player,
        currency="EUR",
        bet_id="b1",
        wagers=[wallet_pb2.HoldWager(box=1, wager="bonus_player", amount=100)],
    )
