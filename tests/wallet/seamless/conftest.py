"""A wallet with one or two partners on a fresh database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.postgres import Pool, PostgresEventStore, open_pool
from tests.wallet.seamless.world import SeamlessWorld, seamless_world


@pytest.fixture
async def pool(service_database: str) -> AsyncIterator[Pool]:
    """Sessions with the service's rights."""
    async with await open_pool(service_database, application_name="wallet", max_size=12) as pool:
        yield pool


@pytest.fixture
async def store(pool: Pool) -> AsyncIterator[PostgresEventStore]:
    async with PostgresEventStore(pool) as store:
        yield store


@pytest.fixture
async def world(pool: Pool, store: PostgresEventStore) -> AsyncIterator[SeamlessWorld]:
    """Partners of `op1` and `op2`; the queue is not worked until a test says so."""
    async with seamless_world(pool, store, "op1", "op2") as world:
        yield world
