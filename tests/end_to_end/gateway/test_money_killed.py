"""Gateway and wallet are killed while a platform moves money: each payment is made and answered once."""

from __future__ import annotations

import asyncio

import pytest

from tests.end_to_end.gateway.processes import CURRENCY, TRANSFER, WAIT_S, Edge, fresh
from upcard_platform.client import NoAnswer, Platform, Refused
from upcard_platform.models.wallets import Deposit, Moved, Withdrawal

PLAYER = "p-killed"
PAYMENTS = 60
AT_ONCE = 6

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def paid(platform: Platform, order: Deposit | Withdrawal, answered: asyncio.Semaphore) -> Moved:
    """Ask for a payment until it is answered, always with the same request."""
    async with asyncio.timeout(3 * WAIT_S):
        while True:
            try:
                if isinstance(order, Deposit):
                    moved = await platform.wallets.deposit(PLAYER, order)
                else:
                    moved = await platform.wallets.withdraw(PLAYER, order)
            except NoAnswer:
                continue
            except Refused as refused:
                if refused.problem.retry != "same_request":
                    raise
                await asyncio.sleep(refused.problem.retry_after_s or 0)
                continue
            answered.release()
            return moved


async def test_every_payment_is_made_once(edge: Edge) -> None:
    platform = edge.platforms[TRANSFER]
    await edge.launched(TRANSFER, PLAYER)
    first = Deposit(request_id=fresh(), currency=CURRENCY, amount=1_000_000)
    await platform.wallets.deposit(PLAYER, first)
    orders: list[Deposit | Withdrawal] = []
    for number in range(PAYMENTS):
        order = Deposit if number % 2 else Withdrawal
        orders.append(order(request_id=fresh(), currency=CURRENCY, amount=2**number % 9_973 + 1))
    answered, places = asyncio.Semaphore(0), asyncio.Semaphore(AT_ONCE)

    async def one(order: Deposit | Withdrawal) -> Moved:
        async with places:
            return await paid(platform, order, answered)

    tasks = [asyncio.create_task(one(order)) for order in orders]
    for name in ("gateway", "wallet", "gateway"):
        # Some are answered, others are under way: each process dies in the middle of it.
        for _ in range(PAYMENTS // 6):
            await answered.acquire()
        process = edge.fleet.processes[name]
        process.kill()
        process.start()
        await asyncio.to_thread(process.until_ready, WAIT_S)
    answers = await asyncio.gather(*tasks)
    assert len({answer.transaction for answer in answers}) == PAYMENTS
    change = sum(order.amount if isinstance(order, Deposit) else -order.amount for order in orders)
    (balance,) = (await platform.wallets.balances(PLAYER)).items
    assert balance.cash == 1_000_000 + change
    # Asked once more they move nothing, and are answered as at first: the balance of then included.
    again = [await paid(platform, order, answered) for order in orders]
    assert again == answers
    (balance,) = (await platform.wallets.balances(PLAYER)).items
    assert balance.cash == 1_000_000 + change
