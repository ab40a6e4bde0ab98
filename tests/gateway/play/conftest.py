"""A gateway with players' connections over a table's log, and players who were launched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.gateway.play.behind import Gateway, OpensAccounts, TableLog, served
from tests.gateway.sessions.behind import launched
from tests.gateway.world import World, fake_services
from upcard_gateway.adapters.services import Services

Launch = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def services() -> Services:
    """A wallet that opens accounts, and nobody else."""
    return fake_services(wallet=OpensAccounts())


@pytest.fixture
async def casino(world: World) -> httpx.AsyncClient:
    """A client of an operator."""
    return await world.casino("op1")


@pytest.fixture
def launch(casino: httpx.AsyncClient) -> Launch:
    """Launches a player."""

    async def launched_player(**more: Any) -> dict[str, Any]:
        return await launched(casino, **more)

    return launched_player


@pytest.fixture
async def gateway(world: World) -> AsyncIterator[Gateway]:
    """It serves."""
    async with served(world, TableLog()) as opened:
        yield opened
