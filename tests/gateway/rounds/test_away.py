"""Rounds while the history is away, and links that show nothing."""

from __future__ import annotations

import pytest

from tests.gateway.rounds.behind import known_as
from tests.gateway.sessions.behind import refused
from tests.gateway.world import World
from upcard_gateway.adapters.services import Services
from upcard_gateway.app.links import Linked
from upcard_gateway.entrypoints.http.round_answers import links_on


@pytest.fixture
def services() -> Services | None:
    """Nobody."""
    return None


async def test_that_it_is_away_is_said_and_that_nothing_moved(world: World) -> None:
    casino = await world.casino("op1")
    await known_as(world, "p1", "anna")
    answer = await casino.get("/v1/players/anna/rounds/t1.1")
    assert refused(answer) == (503, "unavailable")
    assert answer.json()["money"] == "none_moved"
    assert answer.headers["retry-after"]


async def test_a_page_says_so_too(world: World) -> None:
    links = links_on(world.edge)
    assert links is not None
    page = await (await world.client()).get(f"/r/{links.token(Linked('p1', 't1.1'))}")
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "p1" not in page.text


@pytest.mark.parametrize("token", ["x", "1.links-1.cDEvdDEuMQ.AAAA", "1." + "a" * 300, "%00", "ä"])
async def test_what_is_no_link_shows_nothing(world: World, token: str) -> None:
    page = await (await world.client()).get(f"/r/{token}")
    assert page.status_code == 404
    assert "shows no round" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
