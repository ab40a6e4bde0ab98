"""A gateway over a real history and a real wallet."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from stack import Stack
from stack.threads import run_apart
from tests.gateway.rounds.behind import (
    history_template,
    known_as,
    partnered_wallet,
    real_history,
)
from tests.gateway.sessions.behind import wallet_template
from tests.gateway.world import World, fake_services
from tests.history.desk.world import World as Mirror
from tests.wallet.edges.client import Client
from tests.wallet.seamless.world import SeamlessWorld
from upcard_gateway.adapters.services import Services


@pytest.fixture(scope="session")
def behind_history(stack: Stack) -> str:
    """A database with the history's tables."""
    return run_apart(lambda: history_template(stack))


@pytest.fixture(scope="session")
def behind_wallet(stack: Stack) -> str:
    """A database with the wallet's tables."""
    return run_apart(lambda: wallet_template(stack))


@pytest.fixture
async def mirror(stack: Stack, behind_history: str) -> AsyncIterator[Mirror]:
    """The history, and who feeds it."""
    async with real_history(stack, behind_history) as opened:
        yield opened


@pytest.fixture
async def wallet(stack: Stack, behind_wallet: str) -> AsyncIterator[tuple[SeamlessWorld, Client]]:
    """The wallet, and its calls."""
    async with partnered_wallet(stack, behind_wallet) as opened:
        yield opened


@pytest.fixture
def ledger(wallet: tuple[SeamlessWorld, Client]) -> SeamlessWorld:
    """What moves money in the wallet."""
    return wallet[0]


@pytest.fixture
def services(wallet: tuple[SeamlessWorld, Client], mirror: Mirror) -> Services:
    """What the gateway of `world` stands before."""
    return fake_services(wallet=wallet[1].stub, history=mirror.stub)


@pytest.fixture
async def casino(world: World) -> httpx.AsyncClient:
    """A client of an operator whose players anna and bert are p1 and p2."""
    client = await world.casino("op1")
    await known_as(world, "p1", "anna")
    await known_as(world, "p2", "bert")
    return client
