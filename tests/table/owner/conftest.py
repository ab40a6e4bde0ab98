"""What the tests of an owner stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.table.owner.world import Owned, owned_table


@pytest.fixture
async def owned(service_database: str) -> AsyncIterator[Owned]:
    """A table that was never opened, and its owner."""
    async with owned_table(service_database) as world:
        await world.begin()
        yield world
