"""What players call a dealer: the first word of the member's name, kept fresh; the settings come first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from eventstore.postgres import append_in_transaction
from tests.gateway.lobby.conftest import Behind
from tests.gateway.lobby.test_tables import told
from tests.gateway.play.behind import TABLE, TableLog, served
from tests.gateway.staff.conftest import QUICK
from tests.gateway.staff.people import invited, staffing
from tests.gateway.world import World, open_world
from tests.messaging.waiting import until
from upcard_gateway.app.game_seen import Beginning, Happened
from upcard_gateway.app.lobby_dealers import DealerNames, first_word
from upcard_gateway.app.staff_admin import Done
from upcard_gateway.entrypoints.dealer_names import DealersRead


class DealtBy(TableLog):
    """A table where this dealer is signed in."""

    dealer = ""

    def _beginning(self, log: Sequence[Happened]) -> Beginning:
        found = super()._beginning(log)
        return replace(found, table={**found.table, "dealer": self.dealer})


@pytest.fixture
async def world(service_database: str, behind: Behind) -> AsyncIterator[World]:
    more: dict[str, Any] = {**QUICK, "dealer_names": {"d-old": "Ana"}}
    async with open_world(service_database, services=behind.services, **more) as opened:
        yield opened


async def snapshot_of(world: World, dealer: str) -> dict[str, Any]:
    """The table as a viewer is told it while this dealer is signed in."""
    log = DealtBy()
    log.dealer = dealer
    async with served(world, log) as gateway:
        viewer = await gateway.opened(view=True, table=TABLE)
        told_first = await viewer.hears("snapshot")
        await viewer.socket.close()
    found: dict[str, Any] = told_first["table"]
    return found


async def test_players_see_the_first_word_of_a_dealers_name(world: World, behind: Behind) -> None:
    dealer = await invited(world, "dealer", name="Mira van der Berg")
    await DealersRead(world.edge).read()
    assert (await snapshot_of(world, dealer.staff))["dealer_name"] == "Mira"
    await behind.open_table("t1", dealer=dealer.staff)
    await behind.listed("t1")
    answer = await told(await world.casino(), "/v1/tables")
    assert answer.json()["items"][0]["dealer"] == {"id": dealer.staff, "name": "Mira"}
    assert "Berg" not in answer.text


async def test_names_of_others_and_of_those_who_left_are_not_shown(world: World) -> None:
    dealer = await invited(world, "dealer", name="Mira van der Berg")
    support = await invited(world, "support", name="Kim Lee")
    await DealersRead(world.edge).read()
    assert dict(world.edge.dealer_names) == {"d-old": "Ana", dealer.staff: "Mira"}
    assert support.staff not in world.edge.dealer_names
    admin = staffing(world).admin
    async with world.pool.acquire() as connection, connection.transaction():
        done = await admin.disable(connection, dealer.staff, "a test", by="s1")
        assert isinstance(done, Done), done
        await append_in_transaction(connection, staffing(world).log.appends("staff:s1", done.noted))
    await DealersRead(world.edge).read()
    assert dict(world.edge.dealer_names) == {"d-old": "Ana"}
    assert (await snapshot_of(world, dealer.staff))["dealer_name"] is None


async def test_names_are_read_again_and_again(world: World) -> None:
    ending = asyncio.Event()
    reading = asyncio.create_task(DealersRead(world.edge, every_s=0.01).run(ending))
    dealer = await invited(world, "dealer", name="Mira")
    names = world.edge.dealer_names
    await until(lambda: names.get(dealer.staff) == "Mira", what="the new dealer's name")
    ending.set()
    await asyncio.wait_for(reading, 60)


async def test_names_stay_while_they_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    dealer = await invited(world, "dealer", name="Mira")
    reading = DealersRead(world.edge, every_s=0.01)
    await reading.read()
    failures = []

    async def away(_: object) -> dict[str, str]:
        failures.append(1)
        raise asyncpg.PostgresConnectionError("away")

    monkeypatch.setattr("upcard_gateway.entrypoints.dealer_names.names_of_dealers", away)
    ending = asyncio.Event()
    task = asyncio.create_task(reading.run(ending))
    await until(lambda: len(failures) > 1, what="a second try")
    assert world.edge.dealer_names[dealer.staff] == "Mira"
    ending.set()
    await asyncio.wait_for(task, 60)


def test_the_settings_come_before_what_staff_are_called() -> None:
    names = DealerNames({"d1": "Ana"})
    names.learn({"d1": "Mira van der Berg", "d2": "  Lou  Reed ", "d3": " "})
    assert dict(names) == {"d1": "Ana", "d2": "Lou"}
    names.learn({})
    assert dict(names) == {"d1": "Ana"}
    assert len(first_word("x" * 80)) == 64
