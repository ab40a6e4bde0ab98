"""One connection a player, over all gateways: the newest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.gateway.play.behind import TABLE, Gateway, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world


@pytest.fixture
async def other(gateway: Gateway, service_database: str) -> AsyncIterator[Gateway]:
    """Another gateway over the same database and table."""
    async with (
        open_world(
            service_database, services=gateway.world.edge.services, clock=gateway.world.clock
        ) as world,
        served(world, gateway.log, gateway.chat) as opened,
    ):
        yield opened


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_second_connection_takes_over(
    gateway: Gateway, other: Gateway, launch: Launch, *, elsewhere: bool
) -> None:
    found = await launch()
    first = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    token = (await first.hears("welcome"))["session_token"]
    await first.hears("chat")
    second = await (other if elsewhere else gateway).opened(session_token=token, table=TABLE)
    told = await first.hears("ended")
    assert (told["reason"], told["resumable"]) == ("taken_over", False)
    await second.hears("chat")
    await gateway.log.happens(1, own=found["player_ref"])
    assert await second.events(1, "own") == [(1, 1)]


async def test_a_later_launch_ends_the_former_session(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    first = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await first.hears("chat")
    later = await launch()
    told = await first.hears("ended")
    assert told["reason"] == "session_replaced"
    second = await gateway.opened(launch_token=later["launch_token"])
    assert (await second.hears("welcome"))["session"] == later["session"]


@pytest.mark.parametrize("ends", ["session_replaced", "taken_over"])
async def test_what_was_said_before_the_end_and_not_begun_is_not_done_after_it(
    gateway: Gateway, launch: Launch, ends: str
) -> None:
    found = await launch()
    first = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    token = (await first.hears("welcome"))["session_token"]
    await first.hears("chat")
    gateway.commands.hold = asyncio.Event()
    for number in range(3):
        await first.say("undo", id=f"u{number}")
    await (await first.socket.ping())
    if ends == "taken_over":
        await (await gateway.opened(session_token=token)).hears("welcome")
    else:
        await launch()
    assert (await first.hears("ended"))["reason"] == ends
    gateway.commands.hold.set()
    live = gateway.play.socket.live
    while any(one.wire.over for one in live):  # noqa: ASYNC110 - the gateway notices by itself
        await asyncio.sleep(0.01)
    assert [key.rpartition("/")[2] for key in gateway.commands.done] == ["u0"]


async def test_a_connection_that_goes_leaves_no_row_and_takes_none_of_the_next(
    gateway: Gateway, launch: Launch
) -> None:
    found = await launch()
    first = await gateway.opened(launch_token=found["launch_token"])
    token = (await first.hears("welcome"))["session_token"]
    second = await gateway.opened(session_token=token)
    await first.hears("ended")
    await second.asked("ping")
    count = "SELECT count(*) FROM gateway.play_connections"
    assert await gateway.world.pool.fetchval(count) == 1
    await second.socket.close()
    while await gateway.world.pool.fetchval(count):
        continue


async def test_rows_of_gateways_that_died_go_with_their_sessions(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    await gateway.world.pool.execute(
        "INSERT INTO gateway.play_connections (player, session, connection, instance)"
        " VALUES ($1, $2, 'c1', 'dead')",
        found["player_ref"],
        found["session"],
    )
    registry = gateway.play.parts.registry
    await registry._rows.prune(gateway.world.clock())
    assert await gateway.world.pool.fetchval("SELECT count(*) FROM gateway.play_connections") == 1
    await launch()
    gateway.world.clock.move(10)
    await registry._rows.prune(gateway.world.clock())
    assert await gateway.world.pool.fetchval("SELECT count(*) FROM gateway.play_connections") == 0
