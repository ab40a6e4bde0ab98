"""A history as a process, with its neighbours in this one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from stack import Stack
from tests.end_to_end.history.processes import House, open_house
from tests.history.conftest import database_template, service_role

__all__ = ["database_template", "service_role"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(stack: Stack, database_template: str, service_role: str) -> AsyncIterator[House]:
    """Shared by the tests of a module: each has tables and players of its own."""
    async with open_house(stack, database_template, service_role) as opened:
        yield opened
        assert opened.process.stop() == 0, opened.process.said
