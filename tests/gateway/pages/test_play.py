from __future__ import annotations

import datetime as dt
import json
import re
from importlib.resources import files
from typing import Any

import httpx
import pytest

from rules_core.cards import CARD_TEXTS
from rules_core.hands import HAND_NAMES
from tests.gateway.lobby.tables import table
from tests.gateway.play.behind import OpensAccounts, TableLog, served
from tests.gateway.sessions.behind import launched
from tests.gateway.world import BASE_URL, World, fake_services, open_world
from upcard_gateway.app.lobby import Visitor
from upcard_gateway.app.lobby_keeping import NotKnown
from upcard_gateway.app.lobby_tables import TableNow
from upcard_gateway.domain.operators import WalletKind
from upcard_gateway.entrypoints.http.limits import RateLimit
from upcard_gateway.entrypoints.pages.frame import CONTENT_SECURITY_POLICY
from upcard_platform.play import ChatLine

HOME = files("upcard_gateway") / "pages"
SAID = re.compile(r"""\b(?:say|sayOr)\(\s*"([a-z0-9_.]+)\"""")
MADE = re.compile(r"""\b(?:say|sayOr)\(\s*`([a-z_]+)\.""")
CHOSEN = re.compile(r"""\?\s*"([a-z_]+\.[a-z_]+)"\s*:\s*"([a-z_]+\.[a-z_]+)\"""")


class FewTables:
    """A lobby of these tables; none: it does not answer."""

    def __init__(self, *tables: TableNow) -> None:
        self.tables = tables

    async def settings_of(self, visitor: Visitor, name: str) -> TableNow | None:
        if not self.tables:
            raise NotKnown
        return next((one for one in self.tables if one.table == name and visitor.sees(one)), None)


def browser(world: World) -> httpx.AsyncClient:
    """Whoever opens a page."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(world.app), base_url=BASE_URL, timeout=60.0)


def words() -> dict[str, str]:
    """The page's texts by their keys."""
    flat: dict[str, str] = {}

    def walk(prefix: str, found: dict[str, object]) -> None:
        for key, value in found.items():
            if isinstance(value, dict):
                walk(f"{prefix}{key}.", value)
            else:
                flat[f"{prefix}{key}"] = str(value)

    walk("", json.loads((HOME / "english" / "play.json").read_text("utf-8")))
    return flat


def scripts() -> dict[str, str]:
    """The page's scripts by their names."""
    folder = (HOME / "static").iterdir()
    return {one.name: one.read_text("utf-8") for one in folder if re.fullmatch(r"play.*\.js", one.name)}


async def test_the_page_is_for_everyone_and_holds_nothing_of_anyone(world: World) -> None:
    async with browser(world) as client:
        answer = await client.get("/play", params={"table": "t1"})
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert "no-store" in answer.headers["cache-control"]
        assert 'data-table="t1"' in answer.text
        for script in re.findall(r'src="(/static/[^"]+)"', answer.text):
            assert (await client.get(script)).status_code == 200
        assert (await client.get("/play", params={"table": '"><script>'})).status_code == 400


async def test_the_field_of_the_chat_takes_as_much_as_a_line_may_have(world: World) -> None:
    async with browser(world) as client:
        text = (await client.get("/play")).text
    field = re.search(r'<input id="say-text" maxlength="([0-9]+)"', text)
    assert field is not None
    assert int(field[1]) == ChatLine.model_json_schema()["properties"]["text"]["maxLength"]


@pytest.mark.parametrize(("wallet", "tips"), [("transfer", True), ("seamless", False)])
async def test_a_player_is_told_whether_tips_can_be_given(
    service_database: str, wallet: WalletKind, *, tips: bool
) -> None:
    behind = fake_services(wallet=OpensAccounts())
    async with open_world(service_database, services=behind) as world, served(world, TableLog()) as gateway:
        session = await launched(await world.casino("op1", wallet=wallet))
        talk = await gateway.opened(launch_token=session["launch_token"])
        assert (await talk.hears("welcome"))["tips"] is tips


async def test_one_may_look_on_for_a_quarter_of_an_hour(world: World) -> None:
    async with served(world, TableLog()) as gateway:
        viewer = await gateway.opened(view=True)
        welcome = await viewer.hears("welcome")
    assert moment(welcome, "viewing_until") - moment(welcome, "at") == dt.timedelta(seconds=900)
    assert not welcome.get("tips")


def moment(told: dict[str, Any], name: str) -> dt.datetime:
    """A moment of a message."""
    return dt.datetime.fromisoformat(told[name])


async def test_the_rules_of_a_table_are_told_in_the_currency_that_is_asked_for(world: World) -> None:
    world.app.state.lobby = FewTables(table())
    async with browser(world) as client:
        whole = await client.get("/play/tables/t1/rules")
        assert whole.status_code == 200
        assert "EUR" in whole.text
        assert "JPY" in whole.text
        euros = await client.get("/play/tables/t1/rules", params={"currency": "EUR"})
        assert "JPY" not in euros.text
        assert euros.json()["sections"]
        assert (await client.get("/play/tables/t9/rules")).status_code == 404


async def test_a_lobby_that_does_not_answer_is_told_as_that(world: World) -> None:
    world.app.state.lobby = FewTables()
    async with browser(world) as client:
        answer = await client.get("/play/tables/t1/rules")
    assert answer.status_code == 503
    assert answer.json()["code"] == "unavailable"


async def test_an_address_that_asks_for_too_many_pages_has_to_wait(world: World) -> None:
    world.app.state.play_rates = RateLimit(lambda: 0.0)
    async with browser(world) as client:
        statuses = [(await client.get("/play")).status_code for _ in range(130)]
    assert statuses[0] == 200
    assert 429 in statuses


@pytest.mark.parametrize("name", sorted(scripts()))
def test_every_text_that_a_script_says_is_there(name: str) -> None:
    known = words()
    script = scripts()[name]
    said = set(SAID.findall(script)) | {key for pair in CHOSEN.findall(script) for key in pair}
    assert said <= known.keys()
    for group in MADE.findall(script):
        assert any(key.startswith(f"{group}.") for key in known), group


def test_every_hand_and_card_has_a_name() -> None:
    known = words()
    assert {f"hand.{name}" for name in HAND_NAMES} <= known.keys()
    assert {f"rank.{card[0]}" for card in CARD_TEXTS} <= known.keys()
    assert {f"suit.{card[1]}" for card in CARD_TEXTS} <= known.keys()
