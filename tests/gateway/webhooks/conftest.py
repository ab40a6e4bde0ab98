"""Webhooks on a fresh database, with a receiver."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.gateway.webhooks.world import HookWorld, hook_world


@pytest.fixture
async def hooks(service_database: str) -> AsyncIterator[HookWorld]:
    """Sessions have the service's rights; nothing is sent until a test says so."""
    async with hook_world(service_database) as made:
        yield made
