"""Looking on without signing in: what everybody sees, for a while, and not too many."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.gateway.play.behind import TABLE, Gateway, TableLog, Talk, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world
from upcard_platform.play import SUBPROTOCOL


async def test_a_viewer_sees_what_everybody_sees_and_does_nothing(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    gateway.chat.says("for players alone")
    viewer = await gateway.opened(view=True, table=TABLE)
    welcome = await viewer.hears("welcome")
    assert (welcome["viewing"], welcome.get("session")) == (True, None)
    await viewer.hears("window")
    player = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    await player.hears("chat")
    await gateway.log.happens(1, own=found["player_ref"])
    await player.events(1, "own")
    await gateway.log.happens(2)
    assert await viewer.events(2) == [(1, 1), (1, 2)]
    assert (await viewer.asked("end"))["accepted"]
    assert {one["channel"] for one in viewer.heard} == {"table", "none"}


async def test_all_viewers_are_sent_the_same_bytes(gateway: Gateway) -> None:
    viewers = [await gateway.opened(view=True, table=TABLE) for _ in range(3)]
    for viewer in viewers:
        await viewer.hears("window")
    await gateway.log.happens(2)
    for viewer in viewers:
        await viewer.events(2)
    told = [[one for one in viewer.heard if one["type"] == "table"] for viewer in viewers]
    assert told[0] == told[1] == told[2]


async def test_a_hidden_table_is_unknown_to_a_viewer(gateway: Gateway) -> None:
    gateway.commands.hidden = frozenset({TABLE})
    viewer = await gateway.opened(view=True, table=TABLE)
    assert (await viewer.hears("error"))["code"] == "table_unknown"
    assert (await viewer.asked("join", table="t9"))["reason"] == "table_unknown"
    assert gateway.play.parts.tables._hubs == {}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"play_view_s": 1.0}, "viewing_over"),
        ({"play_address_viewers_max": 0}, "too_many_viewers"),
        ({"play_viewers_max": 0}, "too_many_viewers"),
        ({"play_connections_max": 1}, "overloaded"),
        ({"play_address_connections_max": 1}, "too_many_connections"),
        ({"play_views_per_h": 1}, "viewing_too_often"),
    ],
)
async def test_bounds_of_viewers(service_database: str, settings: dict[str, Any], reason: str) -> None:
    async with (
        open_world(service_database, **settings) as world,
        served(world, TableLog()) as gateway,
    ):
        first = await gateway.opened(view=True, table=TABLE)
        told = await first.hears("window", "ended")
        if told["type"] == "ended":
            assert told["reason"] == reason
            return
        if reason == "viewing_over":
            assert (await first.hears("ended"))["reason"] == reason
            return
        second = await gateway.opened(view=True)
        assert (await second.hears("ended", "welcome"))["reason"] == reason
        assert gateway.play.parts.doors.viewers == 1


async def test_whoever_goes_makes_room(service_database: str) -> None:
    async with (
        open_world(service_database, play_address_viewers_max=1) as world,
        served(world, TableLog()) as gateway,
    ):
        doors = gateway.play.parts.doors
        for _ in range(3):
            viewer = await gateway.opened(view=True, table=TABLE)
            await viewer.hears("window")
            await viewer.socket.close()
            while doors.viewers:
                await gateway.world.pool.fetchval("SELECT 1")
        assert (doors.connections, dict(doors._of_address), dict(doors._viewers_of_address)) == (0, {}, {})


async def test_all_addresses_of_a_network_are_one_viewer(service_database: str) -> None:
    async with (
        open_world(service_database, play_address_viewers_max=1, trusted_proxies=("127.0.0.0/8",)) as world,
        served(world, TableLog()) as gateway,
        contextlib.AsyncExitStack() as stack,
    ):
        told = []
        for address in ("2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"):
            opening = connect(
                gateway.url.replace("http", "ws") + "/play/ws",
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                additional_headers={"X-Forwarded-For": address},
            )
            viewer = Talk(await stack.enter_async_context(opening))
            await viewer.socket.send(json.dumps({"type": "hello", "view": True}))
            heard = await viewer.hears("ended", "welcome")
            told.append(heard.get("reason", heard["type"]))
        assert told == ["welcome", "too_many_viewers", "welcome"]
