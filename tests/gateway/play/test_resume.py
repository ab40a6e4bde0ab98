"""A connection that was lost goes on at any gateway: nothing is missed, nothing comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateway.play.behind import TABLE, Gateway, Talk, served
from tests.gateway.play.conftest import Launch
from tests.gateway.world import World, open_world


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


async def _seated(gateway: Gateway, launch: Launch) -> tuple[Talk, str, str]:
    """A player at the table: the connection, their session token, their id."""
    found = await launch()
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE)
    token = (await talk.hears("welcome"))["session_token"]
    await talk.hears("chat")
    return talk, token, found["player_ref"]


def _because(talk: Talk) -> list[str]:
    return [one["because"] for one in talk.heard if one["type"] == "snapshot"]


async def test_at_the_same_gateway_what_was_missed_comes_from_what_is_kept(
    gateway: Gateway, launch: Launch
) -> None:
    await gateway.log.happens(2)
    talk, token, player = await _seated(gateway, launch)
    await gateway.log.happens(3)
    await gateway.log.happens(2, own=player)
    assert await talk.events(3) == [(1, 3), (1, 4), (1, 5)]
    assert await talk.events(2, "own") == [(1, 1), (1, 2)]
    await talk.socket.close()
    await gateway.log.happens(3)
    await gateway.log.happens(1, own=player)
    gateway.chat.says("while nobody listened")
    again = await gateway.opened(session_token=token, table=TABLE, resume=talk.resume())
    assert await again.events(3) == [(1, 6), (1, 7), (1, 8)]
    assert (await again.hears("chat"))["lines"][-1]["text"] == "while nobody listened"
    await gateway.log.happens(1)
    assert await again.events(1) == [(1, 9)]
    own = [
        event["position"] for told in again.heard if told["type"] == "own" for event in told.get("events", ())
    ]
    assert own == [3]
    assert _because(again) == []


async def test_at_a_gateway_that_never_followed_the_table(
    gateway: Gateway, other: Gateway, launch: Launch
) -> None:
    await gateway.log.happens(2)
    talk, token, player = await _seated(gateway, launch)
    await gateway.log.happens(1)
    assert await talk.events(1) == [(1, 3)]
    await talk.socket.close()
    await gateway.log.happens(5)
    await gateway.log.happens(2, own=player)
    again = await other.opened(session_token=token, table=TABLE, resume=talk.resume())
    assert await again.events(5) == [(1, number) for number in range(4, 9)]
    assert await again.events(2, "own") == [(1, 1), (1, 2)]
    assert _because(again) == []


async def test_who_was_there_already_is_told_nothing_twice_when_the_hub_goes_back(
    gateway: Gateway, other: Gateway, launch: Launch
) -> None:
    await gateway.log.happens(2)
    talk, token, _ = await _seated(gateway, launch)
    await talk.socket.close()
    await gateway.log.happens(5)
    watcher = await other.opened(view=True, table=TABLE)
    await watcher.hears("snapshot")
    await gateway.log.happens(1)
    assert await watcher.events(1) == [(1, 8)]
    again = await other.opened(session_token=token, table=TABLE, resume=talk.resume())
    assert await again.events(6) == [(1, number) for number in range(3, 9)]
    await gateway.log.happens(2)
    assert await watcher.events(2) == [(1, 9), (1, 10)]
    assert await again.events(2) == [(1, 9), (1, 10)]
    late = await other.opened(view=True, table=TABLE)
    await late.hears("window")
    await gateway.log.happens(1)
    assert await late.events(1) == [(1, 11)]


async def test_resuming_in_the_middle_of_an_update_cuts_it(
    gateway: Gateway, other: Gateway, launch: Launch
) -> None:
    """The other gateway cuts what happens into messages in its own way."""
    talk, token, _ = await _seated(gateway, launch)
    await gateway.log.happens(4)
    assert await talk.events(4) == [(1, number) for number in range(1, 5)]
    second = next(one for one in talk.heard if one["type"] == "table")
    resume = {**talk.resume(), "table": second["seq"]}
    await talk.socket.close()
    gateway.log.together = 3
    watcher = await other.opened(view=True, table=TABLE)
    await watcher.hears("window")
    again = await other.opened(session_token=token, table=TABLE, resume=resume)
    assert await again.events(2) == [(1, 3), (1, 4)]


async def test_past_what_is_known_a_snapshot_says_so(
    gateway: Gateway, other: Gateway, launch: Launch
) -> None:
    talk, token, _ = await _seated(gateway, launch)
    await gateway.log.happens(2)
    await talk.events(2)
    await talk.socket.close()
    await gateway.log.happens(20)
    gateway.log.forgotten = 15
    again = await other.opened(session_token=token, table=TABLE, resume=talk.resume())
    await again.hears("snapshot")
    assert _because(again) == ["resume_expired"]
    await gateway.log.happens(1)
    assert await again.events(1) == [(1, 23)]


@pytest.mark.parametrize("seq", ["", "x", "1/1.5/", "9/9.9,9.9/zz", "1/1.1/" + "a" * 1_024, "0//p99999"])
async def test_a_place_that_is_none_of_ours_begins_anew(gateway: Gateway, launch: Launch, seq: str) -> None:
    await gateway.log.happens(2)
    found = await launch()
    resume: dict[str, Any] = {"table": seq or "-"}
    talk = await gateway.opened(launch_token=found["launch_token"], table=TABLE, resume=resume)
    told = await talk.hears("chat", "ended")
    assert told["type"] == "chat"
    await gateway.log.happens(1, round_number=10)
    assert (10, 1) in await talk.events(1)


@pytest.mark.parametrize("channel", ["table", "own"])
async def test_a_place_that_somebody_made_up_beside_a_token_of_ours_moves_nobody(
    gateway: Gateway, other: Gateway, launch: Launch, channel: str
) -> None:
    """Else a viewer's word would be where the other gateway goes on for all: they would hear nothing."""
    await gateway.log.happens(2)
    talk, token, player = await _seated(gateway, launch)
    await gateway.log.happens(1)
    await gateway.log.happens(1, own=player)
    await talk.events(1)
    await talk.events(1, "own")
    await talk.socket.close()
    await gateway.log.happens(3)
    await gateway.log.happens(2, own=player)
    watcher = await other.opened(view=True, table=TABLE)
    await watcher.hears("window")
    told = talk.resume()
    _, rounds, of_table, seal = told[channel].split("/")
    assert rounds
    made_up = f"0/9.999/{of_table}/{seal}"
    again = await other.opened(session_token=token, table=TABLE, resume={**told, channel: made_up})
    await again.hears("chat")
    expired = [one for one in again.heard if one.get("because") == "resume_expired"]
    assert [one["type"] for one in expired] == ["snapshot" if channel == "table" else "own"]
    await gateway.log.happens(2)
    assert await watcher.events(2) == [(1, 7), (1, 8)]
    await gateway.log.happens(1, own=player)
    assert (1, 4) in await again.events(1, "own")


async def test_the_tables_stream_breaks_and_nobody_notices(gateway: Gateway, launch: Launch) -> None:
    talk, _, player = await _seated(gateway, launch)
    await gateway.log.happens(2)
    await gateway.log.breaks()
    await gateway.log.happens(2)
    await gateway.log.happens(1, own=player)
    assert await talk.events(4) == [(1, number) for number in range(1, 5)]
    own = [one for one in talk.heard if one["type"] == "own" and one.get("events")]
    if not own:
        assert await talk.events(1, "own") == [(1, 1)]
    assert len(_because(talk)) == 1


async def test_a_table_that_nobody_watches_is_forgotten(gateway: Gateway, world: World) -> None:
    watcher = await gateway.opened(view=True, table=TABLE)
    await watcher.hears("snapshot")
    tables = gateway.play.parts.tables
    hub = await tables.hub(TABLE)
    await watcher.socket.close()
    while len(hub):  # noqa: ASYNC110 - the gateway notices by itself
        await asyncio.sleep(0.01)
    tables._kept_s = 0.0
    await tables.sweep()
    assert tables._hubs == {}
    assert world is gateway.world
