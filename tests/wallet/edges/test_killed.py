"""The wallet is killed at each named point of a call; the same call again has one effect."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import grpc
import grpc.aio
import pytest

from servicekit.grpc import acting_as
from stack import Stack
from tests.eventstore.test_append_only import as_role
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round
from tests.wallet.edges.processes import PLATFORM, calls, environment, in_thread, running
from upcard.wallet.v1 import wallet_pb2 as pb
from upcard_wallet.adapters import faults as ledger_faults
from upcard_wallet.entrypoints import faults

CALLS = ("wallet.call.before_commit", "wallet.call.committed")
HOLDS = ("holds.before_commit", "holds.committed", "wallet.holds.placed")
END_TO_END = ("wallet.tip.held", "wallet.old_holds.answered")
"""Killed at by tests/end_to_end/wallet/test_killed.py, which has a partner and a table."""

Again = Callable[[], Awaitable[None]]


def test_every_point_is_killed_at() -> None:
    assert {*CALLS, *HOLDS, *END_TO_END} == faults.POINTS | ledger_faults.POINTS


async def test_a_call_that_is_cut_off_has_one_effect(
    stack: Stack, database: str, service_role: str, tmp_path: Path
) -> None:
    """Each process repeats the call that killed the one before it, and is killed at the next point."""
    settings = environment(stack, as_role(database, service_role, PASSWORD))
    client: Client | None = None
    kill_at = tmp_path / "point"
    again: Again | None = None
    for point in (*CALLS, *HOLDS, None):
        kill_at.write_text("")
        async with contextlib.AsyncExitStack() as exits:
            exits.enter_context(acting_as(PLATFORM))
            process = running(settings, kill_at=kill_at)
            wallet = await in_thread(process.__enter__)
            exits.callback(process.__exit__, None, None, None)
            stub = await exits.enter_async_context(calls(wallet))
            if client is not None and again is not None:
                client.stub = stub
                await again()
                await again()
            if point is None:
                return
            client = Client(stub)
            await client.funded(100)
            again = _deposit(client) if point in CALLS else _place(client)
            kill_at.write_text(point)
            with pytest.raises(grpc.aio.AioRpcError):
                await again()
            assert await in_thread(partial(wallet.process.wait, TIMEOUT_S)) == -9, point


def _deposit(client: Client) -> Again:
    request_id = fresh()

    async def again() -> None:
        answer = await client.deposit(30, request_id=request_id)
        assert answer.moved.balance.cash == 130
        assert await client.has() == (130, 0)

    return again


def _place(client: Client) -> Again:
    request_id, name = fresh(), new_round()

    async def again() -> None:
        (placed,) = await client.place(client.bet(name, 30, bet_id="b1"), request_id=request_id)
        assert placed.outcome == pb.HOLD_OUTCOME_HELD
        assert await client.has() == (70, 30)

    return again
