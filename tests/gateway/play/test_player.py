"""The client in Python: it connects again by itself, and what was open is said again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.gateway.play.behind import TABLE, WAIT_S, Gateway, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import open_world
from upcard_platform.play import Placement
from upcard_platform.player import PlayEnded, Player


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


async def test_a_lost_connection_is_made_again_and_nothing_is_missed(
    gateway: Gateway, other: Gateway, launch: Launch
) -> None:
    found = await launch()
    async with Player(gateway.url, launch_token=found["launch_token"], table=TABLE) as player:
        await player.until(lambda now: now.bets is not None, WAIT_S)
        await gateway.log.happens(2)
        await player.until(lambda now: len(now.events) == 2, WAIT_S)
        assert player._socket is not None
        player._address = other.url.replace("http", "ws") + "/play/ws"
        await player._socket.close()
        await gateway.log.happens(3)
        await gateway.log.happens(2, own=found["player_ref"])
        await player.until(lambda now: len(now.events) == 5 and len(now.own_events) == 2, WAIT_S)
        assert [one.position for one in player.events] == [1, 2, 3, 4, 5]
        assert player.connections == 2
        assert player.chat_lines == []


async def test_what_was_open_is_said_again_under_the_same_id(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    async with Player(gateway.url, launch_token=found["launch_token"], table=TABLE) as player:
        await player.until(lambda now: now.bets is not None, WAIT_S)
        gateway.commands.hold = asyncio.Event()
        betting = asyncio.create_task(player.bet(Placement(box=1, wager="ante", amount=100)))
        await player.until(lambda now: bool(now._open), WAIT_S)
        assert player._socket is not None
        await player._socket.close()
        gateway.commands.hold.set()
        answer = await asyncio.wait_for(betting, WAIT_S)
        assert answer.accepted
        assert len(gateway.commands.done) == 1


async def test_the_end_is_told(gateway: Gateway, launch: Launch) -> None:
    with pytest.raises(PlayEnded, match="launch_token_invalid"):
        async with Player(gateway.url, launch_token="x" * 40):
            pass
    found = await launch()
    async with Player(gateway.url, launch_token=found["launch_token"]) as player:
        assert (await player.join("t9")).reason == "table_unknown"
        assert (await player.lobby()).accepted
        await player.end()
        with pytest.raises(PlayEnded, match="session_player"):
            await player.until(lambda _: False, WAIT_S)


async def test_no_token_is_shown(gateway: Gateway, launch: Launch) -> None:
    found = await launch()
    async with Player(gateway.url, launch_token=found["launch_token"]) as player:
        assert player.session_token is not None
        assert player.session_token not in repr(player.welcome)
        assert found["launch_token"] not in repr(player._hello())
