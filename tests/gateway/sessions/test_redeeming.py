from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from tests.gateway.sessions.behind import all_bytes, events_of, launched, refused, told
from tests.gateway.world import World
from upcard_gateway.app.sessions import SessionUnknown
from upcard_gateway.domain.operators import CurrencyLimits, Terms
from upcard_gateway.entrypoints.http.players import player_sessions_on

INVALID = (403, "launch_token_invalid")


@pytest.fixture
async def page(world: World) -> httpx.AsyncClient:
    """A player's page: it signs nothing."""
    return await world.client()


async def test_a_token_opens_the_session_once(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    found = await launched(casino, cashier_url="https://casino.example/pay", limits={"round_max": 900})
    world.clock.move(20)
    opened = told(await page.post("/v1/launch", json={"token": found["launch_token"]}))
    assert opened["session"] == found["session"]
    assert (opened["nickname"], opened["currency"], opened["language"]) == ("Anna", "EUR", "de")
    assert opened["cashier_url"] == "https://casino.example/pay"
    assert opened["limits"] == {"wager_max": None, "round_max": 900, "duration_s": None}
    assert refused(await page.post("/v1/launch", json={"token": found["launch_token"]})) == INVALID
    kinds = [(kind, actor) for kind, actor, _ in await events_of(world, found["session"])]
    assert kinds == [
        ("SessionOpened", "platform"),
        ("SessionRedeemed", f"player:{found['player_ref']}"),
    ]
    shown = told(await casino.get(f"/v1/sessions/{found['session']}"))
    assert (shown["state"], shown["redeemed_at"]) == ("live", "2026-01-31T12:00:20.000000Z")


async def test_many_pages_race_for_one_token(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    token = (await launched(casino))["launch_token"]
    answers = await asyncio.gather(*(page.post("/v1/launch", json={"token": token}) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] + 9 * [403]
    assert await world.pool.fetchval("SELECT sum(events) FROM gateway.sessions") == 2


async def test_a_token_that_is_too_old_opens_nothing(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    found = await launched(casino)
    world.clock.move(120)
    late = await page.post("/v1/launch", json={"token": found["launch_token"]})
    never = await page.post("/v1/launch", json={"token": "x" * 43})
    assert refused(late) == refused(never) == INVALID
    # Nothing tells whether there ever was such a token.
    assert late.json() | {"instance": None} == never.json() | {"instance": None}


async def test_a_token_of_a_replaced_session_opens_nothing(
    casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    first = await launched(casino)
    await launched(casino)
    assert refused(await page.post("/v1/launch", json={"token": first["launch_token"]})) == INVALID


async def test_an_address_that_redeems_too_much_has_to_wait(page: httpx.AsyncClient) -> None:
    codes = [(await page.post("/v1/launch", json={"token": "x"})).status_code for _ in range(130)]
    assert codes[:100] == 100 * [403]
    assert 429 in codes[100:]


async def test_the_database_has_no_token(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    found = await launched(casino)
    opened = told(await page.post("/v1/launch", json={"token": found["launch_token"]}))
    everything = await all_bytes(world.pool, without="")
    assert found["session"] in everything
    for secret in (found["launch_token"], opened["session_token"]):
        assert secret not in everything
        assert secret.encode().hex() not in everything


async def test_a_session_token_finds_the_live_session(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    desk = player_sessions_on(world.edge)
    found = await launched(casino)
    opened = told(await page.post("/v1/launch", json={"token": found["launch_token"]}))
    playing = await desk.of_token(opened["session_token"], world.clock())
    assert (playing.session.id, playing.player.partner_id) == (found["session"], "anna")
    await desk.end(found["session"], world.clock())
    for token in (opened["session_token"], "x", found["launch_token"]):
        with pytest.raises(SessionUnknown):
            await desk.of_token(token, world.clock())
    assert (await events_of(world, found["session"]))[-1][2]["reason"] == "player"


async def test_a_closed_casino_opens_nothing(
    world: World, casino: httpx.AsyncClient, page: httpx.AsyncClient
) -> None:
    found = await launched(casino)
    terms = Terms("Casino", (CurrencyLimits("EUR", None, None),))
    await world.change("op1", replace(terms, closed=True))
    assert refused(await page.post("/v1/launch", json={"token": found["launch_token"]})) == INVALID
    await world.change("op1", terms)
    shown = told(await casino.get(f"/v1/sessions/{found['session']}"))
    assert shown["state"] == "ended", "nothing of it is left open"
