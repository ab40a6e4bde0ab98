"""A gateway over a real history, and a table service and a wallet that say what they are told."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from stack import Stack
from stack.threads import run_apart
from tests.gateway.floor.behind import SaidTable, SaidWallet
from tests.gateway.rounds.behind import history_template, real_history
from tests.gateway.world import fake_services
from tests.history.desk.world import World as Mirror
from upcard_gateway.adapters.services import Services


@pytest.fixture(scope="session")
def behind_history(stack: Stack) -> str:
    """A database with the history's tables."""
    return run_apart(lambda: history_template(stack))


@pytest.fixture
async def mirror(stack: Stack, behind_history: str) -> AsyncIterator[Mirror]:
    """The history, and who feeds it."""
    async with real_history(stack, behind_history) as opened:
        yield opened


@pytest.fixture
def tables() -> SaidTable:
    """The table service."""
    return SaidTable()


@pytest.fixture
def money() -> SaidWallet:
    """The wallet."""
    return SaidWallet()


@pytest.fixture
def services(tables: SaidTable, money: SaidWallet, mirror: Mirror) -> Services:
    """What the gateway of `world` stands before."""
    return fake_services(table=tables, wallet=money, history=mirror.stub)
