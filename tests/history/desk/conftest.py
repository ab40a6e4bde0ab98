"""A history on a fresh database, and its calls over gRPC in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import PostgresEventStore, open_pool
from tests.history.desk.world import World, served


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """A history whose sessions have the service's rights, with its calls."""
    async with (
        await open_pool(service_database, application_name="history", max_size=8) as pool,
        PostgresEventStore(pool) as store,
        served(pool, store) as made,
    ):
        yield made
