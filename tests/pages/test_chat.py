"""The shift managers' page of chats in Chromium: seen live, and acted on by keyboard."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator

import pytest
import uvicorn
from playwright.async_api import expect

from tests.gateway.conftest import database_template, service_database, service_role
from tests.gateway.game.chatting import person, say, table_chat
from tests.gateway.pages.signed_in import signed_in
from tests.gateway.world import World, open_world
from tests.pages.chromium import Browsing
from upcard_gateway.adapters.postgres.chat import PostgresChat

pytestmark = pytest.mark.pages

__all__ = ["database_template", "service_database", "service_role"]


@contextlib.asynccontextmanager
async def listening(world: World) -> AsyncIterator[str]:
    """The gateway of a world at an address."""
    server = uvicorn.Server(
        uvicorn.Config(world.app, host="127.0.0.1", port=0, lifespan="off", log_level="error")
    )
    serving = asyncio.ensure_future(server.serve())
    async with asyncio.timeout(60):
        while not server.started:  # noqa: ASYNC110 - uvicorn has nothing that could be awaited
            await asyncio.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await asyncio.wait_for(serving, 60)


async def test_a_shift_manager_sees_a_chat_live_and_acts(browser: Browsing, service_database: str) -> None:
    async with open_world(service_database) as world, listening(world) as url:
        chat, store = table_chat(world), PostgresChat(world.pool)
        for number, name in enumerate(("anna", "bela", "carl")):
            await person(world, name)
            await say(chat, name, f"Good evening from seat {number + 1}!", message="m1", table="ruby")
        await say(chat, "anna", "what a hand", message="m2", table="ruby")
        await say(chat, "bela", "you are all cheats", message="m2", table="ruby")
        await say(chat, "carl", "nice table here", message="m2", table="opal")
        now = world.clock()
        await store.mute("carl", now + dt.timedelta(hours=1), "s1", "shouting at the dealer", now)
        await store.block("cheater", "s1")
        async with signed_in(world, "shift_manager") as staff:
            page = await browser.page()
            await page.context.add_cookies([{"name": "upcard-staff", "value": staff.token, "url": url}])
            await page.goto(f"{url}/staff/chat")
            await expect(page.get_by_role("link", name="ruby")).to_be_visible()
            await browser.both(page, "chat-tables")
            await page.get_by_role("link", name="ruby").click()
            await expect(page.get_by_text("you are all cheats")).to_be_visible()
            await browser.both(page, "chat-table")
            await say(chat, "anna", "I am here, live", message="m3", table="ruby")
            await expect(page.get_by_text("I am here, live")).to_be_visible()
            await page.get_by_role("row", name="you are all cheats").get_by_role("link").click()
            await expect(page.get_by_role("heading", name="Nick bela")).to_be_visible()
            await browser.both(page, "chat-line")
            await page.get_by_label("Reason").fill("insulting everybody")
            await page.get_by_role("button", name="Delete this line").click()
            await expect(
                page.get_by_role("row", name="you are all cheats").get_by_text("deleted")
            ).to_be_visible()
            await page.get_by_label("Reason").fill("insulting everybody")
            await page.get_by_role("button", name="1 hour").click()
            await expect(page.locator(".badge.warn", has_text="muted until").first).to_be_visible()
            await browser.both(page, "chat-done")
            # The live stream ends before the server does.
            await page.goto("about:blank")
        assert await say(chat, "bela", "hello again", message="m9", table="ruby") == "chat_muted"
