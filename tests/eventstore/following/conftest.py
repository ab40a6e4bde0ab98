"""A table of effects, and the log of another service to follow."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from eventstore.memory import MemoryEventStore
from eventstore.postgres import Pool
from tests.eventstore.following.effects import MAKE


@pytest.fixture
async def effects(pool: Pool) -> AsyncIterator[Pool]:
    """The pool of a database with an empty table of effects, which goes with the test."""
    async with pool.acquire() as connection:
        await connection.execute(MAKE)
    yield pool
    async with pool.acquire() as connection:
        await connection.execute("DROP TABLE public.effects")


@pytest.fixture
def other() -> MemoryEventStore:
    """The log of another service."""
    return MemoryEventStore()
