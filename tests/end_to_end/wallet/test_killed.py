"""The wallet is killed where a partner or a table has a part in it; afterwards everything happens once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import grpc
import grpc.aio
import pytest

from servicekit.grpc import acting_as
from stack import Stack
from tests.eventstore.test_append_only import as_role
from tests.messaging.waiting import until
from tests.wallet.conftest import PASSWORD
from tests.wallet.edges.client import TIMEOUT_S, Client, fresh, new_round
from tests.wallet.edges.processes import PLATFORM, WalletProcess, calls, environment, in_thread, running
from tests.wallet.edges.test_killed import END_TO_END
from tests.wallet.partner import SECRET, PartnerServer
from upcard.table.v1 import table_pb2
from upcard.wallet.v1 import wallet_pb2 as pb

TIPS = "wallet.tip.held"
OLD_HOLDS = "wallet.old_holds.answered"


def test_every_point_is_killed_at_here_or_there() -> None:
    assert {TIPS, OLD_HOLDS} == set(END_TO_END)


async def test_a_tip_that_was_held_when_the_wallet_died_is_given_once(
    stack: Stack, database: str, service_role: str, tmp_path: Path
) -> None:
    kill_at = tmp_path / "point"
    kill_at.write_text(TIPS)
    async with PartnerServer() as partner:
        partner.give("guest", 100)
        settings = environment(
            stack,
            as_role(database, service_role, PASSWORD),
            UPCARD_PARTNERS=json.dumps({"op1": partner.address}),
            UPCARD_PARTNER_SECRETS=json.dumps({"op1": SECRET.decode()}),
        )
        request = pb.PostTipRequest(request_id=fresh(), account="guest-EUR", amount=7, dealer="d1")
        async with a_wallet(settings, kill_at) as (wallet, client):
            client.player = "guest"
            await client.open(purse=pb.PURSE_SEAMLESS)
            with pytest.raises(grpc.aio.AioRpcError):
                await client.stub.PostTip(request, timeout=TIMEOUT_S)
            assert await in_thread(partial(wallet.process.wait, TIMEOUT_S)) == -9
        kill_at.write_text("")
        assert partner.balances["guest", "EUR"] == 93
        async with a_wallet(settings, kill_at) as (_, client):
            first = await client.stub.PostTip(request, timeout=TIMEOUT_S)
            assert first.moved.balance.held == 0
            assert await client.stub.PostTip(request, timeout=TIMEOUT_S) == first
            await partner.called("win")
        assert partner.balances["guest", "EUR"] == 93
        assert partner.complaints == []


async def test_an_old_hold_is_asked_about_again_when_the_wallet_died_with_the_answer(
    stack: Stack, database: str, service_role: str, tmp_path: Path
) -> None:
    kill_at = tmp_path / "point"
    kill_at.write_text("")
    async with a_table_that_declines() as (address, asked):
        settings = environment(
            stack, as_role(database, service_role, PASSWORD), table=address, UPCARD_HOLDS_AGE_ASK_S="0.5"
        )
        async with a_wallet(settings, kill_at) as (wallet, client):
            await client.funded(100)
            kill_at.write_text(OLD_HOLDS)
            await client.place(client.bet(new_round(), 30, bet_id="b1"))
            assert await in_thread(partial(wallet.process.wait, TIMEOUT_S)) == -9
            player = client.player
        assert [request.bet_id for request in asked] == ["b1"]
        owner = await asyncpg.connect(database)
        assert await owner.fetchval("SELECT state FROM wallet.holds") == "held"
        await owner.execute("UPDATE wallet.hold_questions SET due_at = now()")  # its claim has run out
        await owner.close()
        kill_at.write_text("")
        async with a_wallet(settings, kill_at) as (_, client):
            client.player = player

            async def free() -> bool:
                return await client.has() == (100, 0)

            await until(free)
        assert [request.bet_id for request in asked] == ["b1", "b1"]


@contextlib.asynccontextmanager
async def a_wallet(settings: Mapping[str, str], kill_at: Path) -> AsyncIterator[tuple[WalletProcess, Client]]:
    """A wallet that is killed at the point that a file names, and the platform's calls to it."""
    async with contextlib.AsyncExitStack() as exits:
        exits.enter_context(acting_as(PLATFORM))
        process = running(settings, kill_at=kill_at)
        wallet = await in_thread(process.__enter__)
        exits.callback(process.__exit__, None, None, None)
        yield wallet, Client(await exits.enter_async_context(calls(wallet)))


@contextlib.asynccontextmanager
async def a_table_that_declines() -> AsyncIterator[tuple[str, list[table_pb2.ResolveHoldRequest]]]:
    """A table that has no stake for whatever it is asked about: its address, and what it was asked."""
    asked: list[table_pb2.ResolveHoldRequest] = []

    async def resolve(
        request: table_pb2.ResolveHoldRequest,
        context: grpc.aio.ServicerContext[Any, Any],  # noqa: ARG001 - every call is given it
    ) -> table_pb2.ResolveHoldResponse:
        asked.append(request)
        return table_pb2.ResolveHoldResponse(
            resolved=table_pb2.HoldResolved(answer=table_pb2.HOLD_ANSWER_DECLINED)
        )

    handler = grpc.unary_unary_rpc_method_handler(
        resolve, table_pb2.ResolveHoldRequest.FromString, table_pb2.ResolveHoldResponse.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("upcard.table.v1.TableService", {"ResolveHold": handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}", asked
    finally:
        await server.stop(None)
