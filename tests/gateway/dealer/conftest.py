"""A gateway over a scripted table service."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.gateway.dealer.desks import STAFF, FakeTables
from tests.gateway.pages.signed_in import SignedIn, signed_in
from tests.gateway.world import World, fake_services
from upcard_gateway.adapters.services import Services


@pytest.fixture
def tables() -> FakeTables:
    """The table service, which knows no table yet."""
    return FakeTables()


@pytest.fixture
def services(tables: FakeTables) -> Services:
    """What stands behind the gateway of `world`."""
    return fake_services(table=tables)


@pytest.fixture
async def dealer(world: World, tables: FakeTables) -> AsyncIterator[SignedIn]:
    """A dealer who is signed in here, and at every table of the scripts that has STAFF as its dealer."""
    async with signed_in(world, "dealer", name="Dana") as signed:
        tables.members[STAFF] = signed.member.staff
        yield signed
