"""A rollback in parts, at a partner for whom one of them hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from aiohttp import web

from tests.wallet.seamless.scripted import keys
from upcard_seamless.dialects import load_dialect
from upcard_wallet.adapters.seamless.http_partner import HttpPartner
from upcard_wallet.adapters.seamless.partner import Call, Transaction, Unclear

PARTS = 12
DEADLINE_S = 30.0
ROLLBACK = Call(
    UUID(int=1),
    "rollback",
    "op1",
    "acc1",
    "p1",
    "EUR",
    "t1.7",
    tuple(Transaction(UUID(int=100 + place), 5) for place in range(PARTS)),
)


class Hanging:
    """A wallet that answers every part but the first one."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.all_heard = asyncio.Event()
        self.let_go = asyncio.Event()

    async def cancel(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.heard.append(body["reference_transaction_id"])
        if len(self.heard) == PARTS:
            self.all_heard.set()
        if body["reference_transaction_id"] == str(UUID(int=100)):
            await self.let_go.wait()
        return web.json_response(
            {
                "request_id": body["request_id"],
                "code": "OK",
                "amount": body["amount"],
                "currency": body["currency"],
                "user": body["user"],
            }
        )


@pytest.fixture
async def hanging() -> AsyncIterator[tuple[Hanging, str]]:
    wallet = Hanging()
    app = web.Application()
    app.router.add_post("/transaction/cancel", wallet.cancel)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield wallet, f"http://127.0.0.1:{port}"
    wallet.let_go.set()
    await runner.cleanup()


async def test_the_others_are_told_in_the_same_try(hanging: tuple[Hanging, str]) -> None:
    wallet, address = hanging
    secret, _ = keys("single")
    async with HttpPartner(address, secret, dialect=load_dialect("single")) as partner:
        asking = asyncio.create_task(partner.ask(ROLLBACK, timeout_s=5.0))
        async with asyncio.timeout(DEADLINE_S):
            await wallet.all_heard.wait()
            verdict = await asking
    assert isinstance(verdict, Unclear)
    assert verdict.answer == "time_out"
    assert sorted(wallet.heard) == sorted(str(UUID(int=100 + place)) for place in range(PARTS))
