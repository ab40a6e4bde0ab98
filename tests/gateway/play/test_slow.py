"""Who takes too little is dropped with a reason; who says too much is not listened to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from servicekit.metrics import registry
from tests.gateway.play.behind import TABLE, Gateway, TableLog, Talk, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world
from upcard_gateway.entrypoints.play import wire
from upcard_gateway.entrypoints.play.connection import Connection
from upcard_gateway.entrypoints.play.frames import frame
from upcard_platform.play import MESSAGE_BYTES_MAX, SUBPROTOCOL

_PIECE = frame(json.dumps({"type": "table", "events": ["x" * 60_000]}).encode())


def _ended(reason: str) -> float:
    """How many connections were ended for it, of this process."""
    count = registry().get_sample_value("upcard_gateway_play_ended_total", {"reason": reason})
    return count or 0.0


def _over(connection: Connection) -> bool:
    return connection.wire.over


@contextlib.asynccontextmanager
async def _slow(gateway: Gateway) -> AsyncIterator[ClientConnection]:
    """Somebody who looks on over a connection that takes little at a time."""
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
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
    ) as opened:
        talk = Talk(opened)
        await talk.say("hello", view=True, table=TABLE)
        await talk.hears("window")
        yield opened


async def test_who_does_not_read_is_dropped_and_told_so_and_nobody_else(
    service_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "CUT_S", 60.0)
    before = _ended("too_slow")
    async with (
        open_world(service_database, play_write_buffer_bytes=262_144) as world,
        served(world, TableLog(together=50)) as gateway,
    ):
        quick = await gateway.opened(view=True, table=TABLE)
        await quick.hears("window")
        (fine,) = gateway.play.socket.live
        async with _slow(gateway) as slow:
            doors = gateway.play.parts.doors
            (slowest,) = gateway.play.socket.live - {fine}
            while slowest.wire.waiting <= 131_072:
                slowest.wire.write(_PIECE)
            told = 0
            while doors.viewers == 2:
                await gateway.log.happens(50)
                told += 50
                await quick.events(50)
                assert told < 500_000
            await gateway.log.happens(1)
            await quick.events(1)
            assert _ended("too_slow") == before + 1
            last = ""
            with contextlib.suppress(ConnectionClosed):
                async with asyncio.timeout(60):
                    while True:
                        last = str(await slow.recv())
            assert slow.close_code == 1008
            ended = json.loads(last)
            assert (ended["type"], ended["reason"], ended["resumable"]) == ("ended", "too_slow", True)


async def test_too_much_for_all_together_drops_the_slowest(service_database: str) -> None:
    most = 1_048_576
    before = _ended("too_slow")
    async with (
        open_world(service_database, play_write_buffer_bytes=16 * most, play_write_total_bytes=most) as world,
        served(world, TableLog()) as gateway,
    ):
        quick = await gateway.opened(view=True, table=TABLE)
        await quick.hears("window")
        (fine,) = gateway.play.socket.live
        async with _slow(gateway) as slow:
            (slowest,) = gateway.play.socket.live - {fine}
            while slowest.wire.waiting <= most // 2:
                slowest.wire.write(_PIECE)
            gateway.play.bound_waiting()
            assert not _over(slowest)
            while slowest.wire.waiting <= most:
                slowest.wire.write(_PIECE)
            gateway.play.bound_waiting()
            assert _over(slowest)
            assert _ended("too_slow") == before + 1
            assert not _over(fine)
            with contextlib.suppress(ConnectionClosed):
                async with asyncio.timeout(60):
                    while True:
                        await slow.recv()
            assert slow.close_code == 1006
            while slowest in gateway.play.socket.live:  # noqa: ASYNC110 - the gateway notices by itself
                await asyncio.sleep(0.01)
        assert (await quick.asked("ping"))["type"] == "pong"
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
