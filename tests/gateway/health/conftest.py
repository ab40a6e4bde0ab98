"""A gateway whose services are fakes."""

from __future__ import annotations

import pytest

from tests.gateway.health.behind import Behind
from upcard_gateway.adapters.services import Services


@pytest.fixture
def behind() -> Behind:
    """What the services say."""
    return Behind()


@pytest.fixture
def services(behind: Behind) -> Services:
    """What the gateway of `world` has behind it."""
    return behind.services()
