"""Who takes too little is dropped with a reason; who says too much is not listened to."""

from __future__ import annotations

import asyncio
import socket

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.gateway.play.behind import TABLE, Gateway, TableLog, Talk, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world
from upcard_platform.play import MESSAGE_BYTES_MAX, SUBPROTOCOL


async def test_who_does_not_read_is_dropped_and_nobody_else(service_database: str) -> None:
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    async with (
        open_world(service_database, play_write_buffer_bytes=4_096) as world,
        served(world, TableLog(together=50)) as gateway,
    ):
        quick = await gateway.opened(view=True, table=TABLE)
        await quick.hears("window")
        host, port = gateway.url.removeprefix("http://").split(":")
        small.settimeout(0.0)
        await asyncio.get_running_loop().sock_connect(small, (host, int(port)))
        async with connect(
            f"ws://{host}:{port}/play/ws",
            sock=small,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            ping_interval=None,
            max_queue=1,
        ) as slow:
            talk = Talk(slow)
            await talk.say("hello", view=True, table=TABLE)
            await talk.hears("window")
            doors = gateway.play.parts.doors
            told = 0
            while doors.viewers == 2:
                await gateway.log.happens(50)
                told += 50
                await quick.events(50)
                assert told < 500_000
            await gateway.log.happens(1)
            await quick.events(1)


async def test_too_much_for_all_together_drops_the_slowest(gateway: Gateway) -> None:
    viewer = await gateway.opened(view=True, table=TABLE)
    await viewer.hears("window")
    gateway.play.bound_waiting()
    assert gateway.play.parts.doors.viewers == 1


async def test_too_many_messages_are_refused_and_then_the_connection_ends(
    service_database: str,
) -> None:
    async with (
        open_world(service_database, play_messages_per_s=0.01, play_messages_burst=3) as world,
        served(world, TableLog()) as gateway,
    ):
        viewer = await gateway.opened(view=True)
        await viewer.hears("welcome")
        answers = [await viewer.asked("ping") for _ in range(7)]
        kinds = [one.get("code", one.get("reason", one["type"])) for one in answers]
        assert kinds == ["pong"] * 3 + ["too_fast"] * 4
        assert answers[-1]["type"] == "ended"


async def test_a_message_that_is_too_large_closes_the_connection(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"])
    await talk.hears("balance")
    await talk.socket.send("x" * (MESSAGE_BYTES_MAX + 1))
    await talk.socket.wait_closed()
    assert talk.socket.close_code == 1009


async def test_a_gateway_that_stops_says_so(service_database: str) -> None:
    async with (
        open_world(service_database) as world,
        served(world, TableLog()) as gateway,
    ):
        viewer = await gateway.opened(view=True, table=TABLE)
        await viewer.hears("window")
        stopping = asyncio.create_task(_told(viewer))
    assert await stopping == ("server_stopping", True)


async def _told(viewer: Talk) -> tuple[str, bool]:
    told = await viewer.hears("ended")
    return told["reason"], told["resumable"]
