"""A gateway whose passwords are quick to hash, for tests alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateway.world import World, open_world

QUICK: dict[str, Any] = {
    "staff_password_memory_kib": 8_192,
    "staff_password_passes": 1,
    "staff_refusal_s": 0,
}


@pytest.fixture
async def world(service_database: str) -> AsyncIterator[World]:
    """A gateway's app over a fresh database."""
    async with open_world(service_database, **QUICK) as opened:
        yield opened
