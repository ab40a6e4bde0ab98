"""Answering once, whatever happens to the sessions of the database. The server is in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import grpc
import pytest

from eventstore import faults
from eventstore.postgres import Pool, SessionLimits, open_pool
from stack import Stack
from tests.wallet.edges.client import Client, fresh, refused
from tests.wallet.edges.serving import served
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters.internal_purse import InternalPurse
from upcard_wallet.adapters.postgres import PostgresLedger
from upcard_wallet.app.hold_records import Records
from upcard_wallet.app.ports import Unwatched
from upcard_wallet.app.purse import Purse, PurseKind
from upcard_wallet.app.recording import Recorder
from upcard_wallet.app.wallet import Wallet


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    limits = SessionLimits(lock_timeout_ms=200)
    async with await open_pool(service_database, application_name="wallet", limits=limits) as opened:
        yield opened


@pytest.fixture
async def client(pool: Pool) -> AsyncIterator[Client]:
    purses: dict[PurseKind, Purse] = {}
    wallet = Wallet(PostgresLedger(), purses, Recorder(), Unwatched())
    purses["internal"] = InternalPurse(pool, Records(wallet), lambda _: None)
    async with served(wallet, pool) as client:
        yield client


async def test_sessions_that_end_between_calls(client: Client, stack: Stack, database: str) -> None:
    await client.open()
    for _ in range(10):
        await _cut(stack, database)
        assert (await client.deposit(10)).HasField("moved")
    assert await client.has() == (100, 0)


@pytest.mark.parametrize("point", ["wallet.call.before_commit", "wallet.call.committed"])
async def test_a_session_that_ends_within_a_call(client: Client, point: str) -> None:
    """Whether it was committed or not: the call is tried again by itself, and done once."""
    await client.open()
    times = 0

    def cut(reached: str) -> None:
        nonlocal times
        if reached == point and times < 2:
            times += 1
            raise ConnectionResetError

    with faults.arm(cut):
        answer = await client.deposit(10)
    assert answer.moved.balance.cash == 10
    assert times >= 1
    assert await client.has() == (10, 0)


async def test_a_second_call_waits_for_the_first_ones_answer(client: Client, pool: Pool) -> None:
    """While somebody else is at the same request for too long, nobody does it a second time."""
    await client.open()
    request_id = fresh()
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(
            "INSERT INTO eventstore.answers (caller, method, request_id, body_digest)"
            " VALUES ('platform', 'Deposit', $1, $2)",
            request_id,
            bytes(32),
        )
        request = pb.DepositRequest(request_id=request_id, account=client.account, amount=10, currency="EUR")
        answer = await refused(client.stub.Deposit(request, timeout=1.0))
        assert answer in {
            (grpc.StatusCode.UNAVAILABLE, "request_under_way"),
            (grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded"),
        }
        await transaction.rollback()
    assert await client.has() == (0, 0)
    await client.deposit(10, request_id=request_id)
    assert await client.has() == (10, 0)


async def test_the_same_batch_of_holds_at_once(client: Client) -> None:
    await client.funded(100)
    bet, request_id = client.bet("t1.1", 10), fresh()
    answers = await asyncio.gather(*(client.place(bet, request_id=request_id) for _ in range(10)))
    assert {one[0].outcome for one in answers} == {pb.HOLD_OUTCOME_HELD}
    assert await client.has() == (90, 10)


async def _cut(stack: Stack, database: str) -> None:
    admin = await asyncpg.connect(stack.databases.admin_dsn)
    try:
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
            database.rpartition("/")[2].partition("?")[0],
        )
    finally:
        await admin.close()
