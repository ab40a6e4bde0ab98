"""A wallet on a fresh database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import PostgresEventStore, open_pool
from tests.wallet.ledger.world import World


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """A wallet whose sessions have the service's rights."""
    async with (
        await open_pool(service_database, application_name="wallet", max_size=12) as pool,
        PostgresEventStore(pool) as store,
    ):
        yield World(pool, store)
