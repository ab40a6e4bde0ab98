"""Links to rounds: for ever, for one round and player, and made by nobody else."""

from __future__ import annotations

import base64
import os
import re

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.rounds.behind import erased
from tests.gateway.sessions.behind import refused, told
from tests.gateway.world import World, settings_of
from tests.history.desk.world import World as Mirror
from upcard_gateway.app.links import Linked, RoundLinks

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
LINK = Linked("p1", "t1.1")

opaque = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)


@given(opaque, opaque, st.integers(1, 10**15))
def test_a_link_shows_what_it_was_made_for(player: str, table: str, number: int) -> None:
    linked = Linked(player, f"{table}.{number}")
    links = RoundLinks({"k1": OLD}, "k1")
    token = links.token(linked)
    assert links.read(token) == linked
    assert token == links.token(linked), "the same each time"
    assert len(token) <= 400
    assert re.fullmatch(r"[A-Za-z0-9._-]+", token)


@settings(max_examples=300)
@given(st.data())
def test_a_link_that_was_changed_shows_nothing(data: st.DataObject) -> None:
    links = RoundLinks({"k1": OLD, "k2": NEW}, "k1")
    token = links.token(LINK)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.text(st.characters(max_codepoint=300), max_size=3))
    changed = token[:place] + other + token[place + 1 :]
    if changed != token:
        assert links.read(changed) is None


@given(st.text(max_size=500))
def test_any_text_is_read(token: str) -> None:
    assert RoundLinks({"k1": OLD}, "k1").read(token) is None


def test_old_links_work_while_their_key_is_kept() -> None:
    old = RoundLinks({"k1": OLD}, "k1").token(LINK)
    both = RoundLinks({"k1": OLD, "k2": NEW}, "k2")
    assert both.read(old) == LINK
    assert both.token(LINK) != old
    assert RoundLinks({"k2": NEW}, "k2").read(old) is None
    assert RoundLinks({"k1": NEW}, "k1").read(old) is None, "another key of the same name"


@pytest.mark.parametrize(
    "linked", [Linked("p/1", "t1.1"), Linked("", "t1.1"), Linked("p1", "t1.0"), Linked("p1", "t1")]
)
def test_only_players_and_rounds_have_links(linked: Linked) -> None:
    with pytest.raises(ValueError, match="no player and round"):
        RoundLinks({"k1": OLD}, "k1").token(linked)


def test_settings_name_one_of_the_keys() -> None:
    keys = {"k1": base64.b64encode(os.urandom(32)).decode()}
    assert settings_of("postgresql://x/y", link_keys={}, link_key="").link_signing_keys() == {}
    for given_keys, name in ((keys, "k2"), (keys, ""), ({}, "k1")):
        with pytest.raises(ValueError, match="UPCARD_LINK_KEYS"):
            settings_of("postgresql://x/y", link_keys=given_keys, link_key=name)
    with pytest.raises(ValueError, match="32 bytes"):
        settings_of("postgresql://x/y", link_keys={"k1": "AAAA"}, link_key="k1")


async def test_a_player_opens_the_round_without_signing_in(
    world: World, casino: httpx.AsyncClient, mirror: Mirror
) -> None:
    await mirror.play()
    await mirror.apply()
    link = told(await casino.get("/v1/players/anna/rounds/t1.1/link"))
    detail = told(await casino.get("/v1/players/anna/rounds/t1.1"))
    assert link["history_url"] == detail["history_url"]
    address = link["history_url"].removeprefix(world.edge.settings.public_url)
    anybody = await world.client()
    page = await anybody.get(address)
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "no-store" in page.headers["cache-control"]
    for said in ("anna", "p1", "p2", "op1"):
        assert not re.search(rf"\b{said}\b", page.text), "the page names nobody"
    for box in detail["boxes"]:
        assert f"<h2>Box {box['box']}</h2>" in page.text
        for sentence in box["words"]:
            assert sentence.replace("'", "&#x27;") in page.text
    assert f"{detail['staked'] / 100:.2f} EUR" in page.text
    await erased(world, "p1")
    assert (await anybody.get(address)).text == page.text, "it never ends"
    assert refused(await casino.get("/v1/players/anna/rounds/t1.1/link")) == (404, "player_unknown")


async def test_a_link_of_a_cancelled_and_of_an_open_round(
    world: World, casino: httpx.AsyncClient, mirror: Mirror
) -> None:
    found: dict[str, str] = {}
    for number in range(1, 40):
        made = await mirror.play(number=number, seed=number)
        if any(b'"RoundCancelled"' in one for one in made.contents):
            break
    await mirror.play(table="t2", seed=4, events=14)
    await mirror.apply()
    for one in told(await casino.get("/v1/players/anna/rounds", params={"limit": 200}))["items"]:
        found.setdefault(one["state"], one["history_url"])
    anybody = await world.client()
    expected = {"cancelled": "was cancelled", "open": "has not ended yet", "settled": "In all"}
    assert len(found) > 1
    for state, url in found.items():
        page = await anybody.get(url.removeprefix(world.edge.settings.public_url))
        assert page.status_code == 200
        assert expected[state] in page.text


async def test_a_link_that_is_opened_very_often_has_to_wait(
    world: World, casino: httpx.AsyncClient, mirror: Mirror
) -> None:
    await mirror.play()
    await mirror.apply()
    link = told(await casino.get("/v1/players/anna/rounds/t1.1/link"))
    address = link["history_url"].removeprefix(world.edge.settings.public_url)
    anybody = await world.client()
    answers = [await anybody.get(address) for _ in range(25)]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:20] == [200] * 20
    assert 429 in statuses[20:]
    assert answers[-1].headers["content-type"] == "text/html; charset=utf-8"
