"""A gateway over a real wallet."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from stack import Stack
from stack.threads import run_apart
from tests.gateway.sessions.behind import SaidHistory, WalletWire, history, real_wallet, wallet_template
from tests.gateway.world import World, fake_services
from upcard_gateway.adapters.services import Services

__all__ = ["history"]


@pytest.fixture(scope="session")
def behind_template(stack: Stack) -> str:
    """A database with the wallet's tables."""
    return run_apart(lambda: wallet_template(stack))


@pytest.fixture
async def wallet(stack: Stack, behind_template: str) -> AsyncIterator[WalletWire]:
    """A real wallet, over a wire that can be cut."""
    async with real_wallet(stack, behind_template) as opened:
        yield opened


@pytest.fixture
def services(wallet: WalletWire, history: SaidHistory) -> Services:
    """What the gateway of `world` stands before."""
    return fake_services(wallet=wallet, history=history)


@pytest.fixture
async def casino(world: World) -> httpx.AsyncClient:
    """A client of an operator with transfer wallets."""
    return await world.casino("op1")
