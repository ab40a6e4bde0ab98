"""The use cases on a fresh database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import PostgresEventStore, open_pool
from tests.bonus.office.world import World


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """Use cases whose sessions have the service's rights."""
    async with (
        await open_pool(service_database, application_name="bonus", max_size=12) as pool,
        PostgresEventStore(pool) as store,
    ):
        yield World(pool, store)
